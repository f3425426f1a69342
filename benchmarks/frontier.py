"""Random labels: what can be proven in a minute, by correct sets and by programs.

    python benchmarks/frontier.py [--seconds 60] [--jobs 1]

n=3: m in {20, 30, 50, 80}; n=5: m in {20, 30, 50}; one to three neurons, three seeds. ``auto`` is Exact() as it is;
Theorem 2 has the two-sided margin, without which its answers are false; indicators are gates with indicator
constraints instead of big-M, solved by SCIP. Time-outs count as the limit. A run that was stopped goes on where it
ended: finished cells are in results/frontier.jsonl.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np

from common import RESULTS, geometric_mean, make_problem, solve
from stepnet import warm_up
from stepnet.formulations.paper import Paper
from stepnet.methods.exact import Exact
from stepnet.model.gates import gates

STORE = RESULTS / "frontier.jsonl"
SIZES = [(3, 20), (3, 30), (3, 50), (3, 80), (5, 20), (5, 30), (5, 50)]
OURS, THEOREM = "auto", "Theorem 2"
METHODS = {
    OURS: Exact(),
    THEOREM: Exact(formulation=Paper(two_sided=True), solver="highs", search_share=0),
    "gates": Exact(formulation="gates"),
    "indicators": None,
}
MARGIN = 1e-4  # of rows and weights in [-1, 1]; that of the programs


def instance(n: int, m: int, width: int, seed: int):
    rng = np.random.default_rng(seed)
    return make_problem(rng.uniform(-1, 1, (m, n)), rng.integers(0, 2, m), (width,))


def one(method: str, n: int, m: int, width: int, seed: int, seconds: float) -> dict:
    warm_up()
    if method == OURS:  # compiled or loaded before the clock starts
        solve(instance(2, 12, width, 0), METHODS[OURS], seconds)
    problem = instance(n, m, width, seed)
    if method == "indicators":
        loss, bound, runtime = by_indicators(problem, seconds)
        way = "SCIP"
    else:
        certificate, result = solve(problem, METHODS[method], seconds)
        loss, bound, runtime = certificate.loss, certificate.bound, certificate.runtime
        way = result.ways[-1].split(":")[0] if result.ways else "search"
    solved = bool(bound >= loss)
    return {
        "method": method, "n": n, "m": m, "width": width, "seed": seed, "seconds": seconds, "loss": loss,
        "bound": bound, "solved": solved, "time": min(runtime, seconds) if solved else seconds, "way": way,
    }  # fmt: skip


def by_indicators(problem, seconds: float) -> tuple[float, float, float]:
    """Gates in turn, each with the best loss so far as its cut-off."""
    begin, best, bounds = time.perf_counter(), problem.dataset.total_weight, []
    width = problem.architecture.hidden[0]
    for gate in gates(width):
        left = seconds - (time.perf_counter() - begin)
        found, bound = one_gate(problem, gate, left, best) if left > 0.5 else (best, 0.0)
        best = min(best, found)
        bounds.append(bound)
    return best, min(best, *bounds), time.perf_counter() - begin


def one_gate(problem, gate, seconds: float, best: float) -> tuple[float, float]:
    import pyscipopt

    X, y = problem.dataset.X, problem.dataset.y
    program = pyscipopt.Model()
    program.hideOutput()
    program.setParam("limits/time", seconds)
    program.setObjlimit(best - 0.5)
    program.setObjIntegral()
    width, total = len(gate.weights), sum(gate.weights)
    w = [[program.addVar(lb=-1, ub=1) for _ in range(X.shape[1])] for _ in range(width)]
    t = [program.addVar(lb=-X.shape[1], ub=X.shape[1]) for _ in range(width)]
    errors = [program.addVar(vtype="B") for _ in y]
    for row, code, error in zip(X.tolist(), y.tolist(), errors, strict=True):
        right = [program.addVar(vtype="B") for _ in range(width)]
        for j in range(width):
            side = pyscipopt.quicksum(a * b for a, b in zip(w[j], row, strict=True)) - t[j]
            program.addConsIndicator((-side if code else side) <= -MARGIN, binvar=right[j])
        needed = gate.threshold if code else total - gate.threshold + 1
        votes = pyscipopt.quicksum(v * r for v, r in zip(gate.weights, right, strict=True))
        program.addCons(votes >= needed * (1 - error))
    program.setObjective(pyscipopt.quicksum(errors))
    program.optimize()
    if program.getStatus() == "infeasible":
        return best, best
    loss = round(program.getObjVal()) if program.getNSols() else best
    return min(loss, best), min(best, math.ceil(program.getDualbound() - 1e-6))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="run nothing; report what is there")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []
    rows = [row for row in rows if row["seconds"] == options.seconds]
    done = {(row["method"], row["n"], row["m"], row["width"], row["seed"]) for row in rows}
    cells = [
        (method, n, m, width, seed)
        for method, seed, (n, m), width in itertools.product(METHODS, range(3), SIZES, (1, 2, 3))
        if (method, n, m, width, seed) not in done
    ]
    if not options.report:
        with ProcessPoolExecutor(options.jobs) as workers, STORE.open("a") as store:
            for job in as_completed([workers.submit(one, *cell, options.seconds) for cell in cells]):
                rows.append(job.result())
                store.write(json.dumps(rows[-1]) + "\n")
                store.flush()
                print(rows[-1], file=sys.stderr, flush=True)
    report(rows, options.seconds)
    plot(rows, options.seconds)


def report(rows: list[dict], seconds: float) -> None:
    by_cell = {(row["method"], row["n"], row["m"], row["width"], row["seed"]): row for row in rows}
    lines = [f"{'n':>2} {'m':>3} {'neurons':>7}  {'optima':>9}" + "".join(f"  {name:>20}" for name in METHODS)]
    ratios, disagreements = [], 0
    for (n, m), width in itertools.product(SIZES, (1, 2, 3)):
        line = f"{n:2} {m:3} {width:7}"
        of_ours = [by_cell.get((OURS, n, m, width, seed)) for seed in range(3)]
        optima = " ".join(f"{row['loss']:g}" if row and row["solved"] else "?" for row in of_ours)
        line += f"  {optima:>9}"
        for name in METHODS:
            found = [by_cell.get((name, n, m, width, seed)) for seed in range(3)]
            there = [row for row in found if row]
            if there:
                solved = sum(row["solved"] for row in there)
                line += f"  {solved} of {len(there)}, {geometric_mean([row['time'] for row in there]):8.3f} s"
            else:
                line += f"  {'-':>20}"
            for mine, row in zip(of_ours, found, strict=True):
                if mine and row:
                    # Programs keep a margin: theirs may be larger, never smaller.
                    disagreements += row["loss"] < mine["bound"] or (row["solved"] and row["loss"] < mine["loss"])
                    if name == THEOREM:
                        ratios.append(row["time"] / mine["time"])
        lines.append(line)
    lines.append(f"limit {seconds:g} s; times are geometric means over three seeds, time-outs at the limit")
    for name in METHODS:
        own = [row for row in rows if row["method"] == name]
        lines.append(f"{name}: {sum(row['solved'] for row in own)} of {len(own)} proven")
    if ratios:
        lines.append(
            f"time of Theorem 2 / time of auto, geometric mean over {len(ratios)}: {geometric_mean(ratios):.0f}"
        )
    lines.append(f"a program better than a proven bound: {disagreements}")
    text = "\n".join(lines)
    print(text)
    (RESULTS / "frontier.txt").write_text(text + "\n")


def plot(rows: list[dict], seconds: float) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for name in METHODS:
        times = sorted(row["time"] for row in rows if row["method"] == name and row["solved"])
        if times:
            axes.step([*times, seconds], [*range(1, len(times) + 1), len(times)], where="post", label=name)
    axes.set(xscale="log", xlabel="seconds", ylabel="instances proven", ylim=(0, 3 * 3 * len(SIZES) + 1))
    axes.axhline(3 * 3 * len(SIZES), color="0.7", linewidth=1)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(RESULTS / "frontier.png", dpi=150)


if __name__ == "__main__":
    main()
