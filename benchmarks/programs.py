"""Faster than the paper: time to a proof against Theorem 2 with the same margin, solver and run.

    python benchmarks/programs.py [--seconds 60] [--jobs 1]

Random labels, n=3, m in {20, 30}, d_1 in {2, 3}, three seeds. Theorem 2 gets the same two-sided margin
and tolerances, so that both prove the same thing; the paper's one-sided program is timed beside them
and its false answers are counted. Time-outs count as the limit.
"""

from __future__ import annotations

import argparse
import csv
import itertools

import numpy as np
from joblib import Parallel, delayed

from common import RESULTS, geometric_mean, make_problem, solve
from stepnet import warm_up
from stepnet.formulations.paper import Paper
from stepnet.methods.exact import Exact

METHODS = {
    "gates": Exact(formulation="gates"),
    "Theorem 2, two-sided": Exact(formulation=Paper(two_sided=True), solver="highs", search_share=0),
    "Theorem 2, as printed": Exact(formulation=Paper(), solver="highs", search_share=0),
}


def one(m: int, d: int, seed: int, name: str, seconds: float) -> dict:
    warm_up()  # compiled or loaded before the clock starts
    rng = np.random.default_rng(seed)
    problem = make_problem(rng.uniform(-1, 1, (m, 3)), rng.integers(0, 2, m), (d,))
    certificate, result = solve(problem, METHODS[name], seconds)
    solved = certificate.status == "OPTIMAL"
    return {
        "m": m, "d_1": d, "seed": seed, "method": name, "loss": certificate.loss, "bound": certificate.bound,
        "solved": solved, "time": certificate.runtime if solved else seconds,
        "false_claims": sum(not claim.is_true for claim in result.claims),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    cells = list(itertools.product((20, 30), (2, 3), range(3), METHODS))
    rows = Parallel(n_jobs=options.jobs)(delayed(one)(*cell, options.seconds) for cell in cells)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "programs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    report(rows, options.seconds)
    plot(rows, options.seconds)


def report(rows: list[dict], seconds: float) -> None:
    by_cell = {(row["m"], row["d_1"], row["seed"], row["method"]): row for row in rows}
    ours, theirs, printed = METHODS
    print(f"{'m':>3} {'d_1':>4} {'seed':>5}" + "".join(f"  {name:>24}" for name in METHODS) + "   ratio")
    ratios, worse = [], 0
    for m, d, seed in itertools.product((20, 30), (2, 3), range(3)):
        line = f"{m:3} {d:4} {seed:5}"
        for name in METHODS:
            row = by_cell[m, d, seed, name]
            line += f"  {row['loss']:3g} >= {row['bound']:3g}, {row['time']:8.2f} s  "
        mine, other = by_cell[m, d, seed, ours], by_cell[m, d, seed, theirs]
        ratios.append(other["time"] / mine["time"])
        worse += mine["bound"] < other["bound"]
        print(f"{line} {ratios[-1]:7.1f}")
    false = sum(by_cell[m, d, s, printed]["false_claims"] for m, d, s in itertools.product((20, 30), (2, 3), range(3)))
    print(f"geometric mean of time({theirs}) / time({ours}): {geometric_mean(ratios):.1f}; limit {seconds:g} s")
    print(f"our bound worse: {worse} times; false answers of the program as printed: {false} of {len(ratios)}")


def plot(rows: list[dict], seconds: float) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for name in METHODS:
        times = sorted(row["time"] for row in rows if row["method"] == name and row["solved"])
        axes.step([0.003, *times, seconds], [0, *range(1, len(times) + 1), len(times)], where="post", label=name)
    axes.set(xscale="log", xlabel="seconds", ylabel="instances proven", title="n = 3, random labels, HiGHS")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(RESULTS / "programs.png", dpi=120)


if __name__ == "__main__":
    main()
