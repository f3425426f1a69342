"""How far proofs reach: splits of Breast Cancer, four and five neurons, more rows.

    python benchmarks/reach.py [--seconds 120] [--jobs 1]

Losses and bounds of method="prove" where the answer is not known beforehand, proven or not, as a table and a plot.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sklearn.model_selection import train_test_split

from common import RESULTS, make_problem, solve
from stepnet import warm_up
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.methods.prove import Prove

SPLITS = [("Breast Cancer", seed, 0, width) for width in (1, 2) for seed in range(5)]
SIZES = ((300, 1), (120, 2), (200, 2), (80, 3), (120, 3), (40, 4), (50, 4), (60, 4), (40, 5), (50, 5))
LARGER = [("n=3", m, 0, width) for m, width in SIZES]
WIDER = [("n=9", m, 0, width) for m, width in ((40, 2), (60, 2), (40, 3), (60, 3), (100, 1))]


def problem_of(kind: str, size: int, seed: int, width: int):
    if kind == "Breast Cancer":
        X, y = load_breast_cancer_wisconsin(return_X_y=True)
        X, _, y, _ = train_test_split(X, y, test_size=0.2, random_state=size)
        return make_problem(X, y, (width,))
    rng = np.random.default_rng(seed)
    n = int(kind.removeprefix("n="))
    return make_problem(rng.uniform(-1, 1, (size, n)), rng.integers(0, 2, size), (width,))


def one(kind: str, size: int, seed: int, width: int, seconds: float) -> tuple:
    warm_up()
    certificate, result = solve(problem_of(kind, size, seed, width), Prove(), seconds)
    name = f"{kind}, {'split' if kind == 'Breast Cancer' else 'm ='} {size}, {width} neurons"
    way = result.ways[-1].split(":")[0] if result.ways else "search"
    return name, certificate.loss, certificate.bound, certificate.status, certificate.runtime, way


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as workers:
        jobs = [workers.submit(one, *cell, options.seconds) for cell in SPLITS + LARGER + WIDER]
        rows = [job.result() for job in jobs]
    lines = [f"{'instance':34} {'loss':>5} {'bound':>5}  {'status':8} {'seconds':>8}  way"]
    lines += [f"{row[0]:34} {row[1]:5g} {row[2]:5g}  {row[3]:8} {row[4]:8.1f}  {row[5]}" for row in rows]
    lines.append(f"limit {options.seconds:g} s; {sum(row[3] == 'OPTIMAL' for row in rows)} of {len(rows)} proven")
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "reach.txt").write_text("\n".join(lines) + "\n")
    plot(rows, options.seconds)


def plot(rows: list[tuple], seconds: float) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 6.4), layout="constrained")
    axes = figure.subplots()
    places = np.arange(len(rows))[::-1]
    axes.hlines(places, [row[2] for row in rows], [row[1] for row in rows], color="tab:red", linewidth=2, label="open")
    for status, colour, label in (("OPTIMAL", "tab:green", "proven"), ("FEASIBLE", "tab:red", None)):
        chosen = [(row[1], place) for row, place in zip(rows, places, strict=True) if row[3] == status]
        if chosen:
            axes.plot(*zip(*chosen, strict=True), "o", color=colour, label=label)
    axes.set_yticks(places, [row[0] for row in rows], fontsize=8)
    axes.set(xlabel="misclassified rows: best network, and down to the proven bound", title=f"limit {seconds:g} s")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(RESULTS / "reach.png", dpi=150)


if __name__ == "__main__":
    main()
