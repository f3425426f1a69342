"""Robust training: the paper's instance, column-and-constraint generation alone, what it buys, and how fast it is.

    python benchmarks/robust.py [paper] [deep] [generation] [helps] [speed] [--joint SECONDS]

paper       random data, 100 features, 20 rows, 20 neurons, ten seeds, ℓ∞, and radii as hard in ℓ1 and ℓ2; 160 rows;
            beside it the paper's version with joint scenarios, which its authors stopped after 24 hours
deep        the same rows with two hidden layers of 20
generation  column-and-constraint generation with linear programs, free bounds and search switched off
helps       certified accuracy on test rows, robust against plain training of the same width; writes robust.png
speed       certified radii of 699 rows; time over rows and neurons; writes robust_speed.png
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from common import RESULTS
from stepnet import Ball, Exact, StepClassifier, attack, certified_radius
from stepnet.datasets import load_breast_cancer_wisconsin, make_paper_random

SEEDS = range(10)
ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}


def fitted(X, y, ball, hidden=(20,), seconds=10.0, method="prove"):
    begin = time.perf_counter()
    classifier = StepClassifier(hidden, uncertainty=ball, method=method, time_limit=seconds, random_state=0)
    certificate = classifier.fit(X, y).certificate_
    assert certificate.bound <= certificate.loss
    assert all(one.bound <= one.loss for one in classifier.result_.rounds)
    return classifier, time.perf_counter() - begin


def meeting_radius(X, y, norm):
    """The radius from which balls of different classes meet."""
    apart = [np.linalg.norm(a - b, ORDERS[norm]) for a in X[y == 0] for b in X[y == 1]]
    return min(apart) / 2


def line(name, cells) -> None:
    certificates = [classifier.certificate_ for classifier, _ in cells]
    seconds = [time_taken for _, time_taken in cells]
    n_optimal = sum(one.status == "OPTIMAL" for one in certificates)
    losses, bounds = [one.loss for one in certificates], [one.bound for one in certificates]
    print(
        f"{name:24} {n_optimal:3}/{len(cells):<3} {np.mean(losses):7.2f} {np.mean(bounds):7.2f} "
        f"{max(a - b for a, b in zip(losses, bounds, strict=True)):8.0f} {np.median(seconds):8.2f} {max(seconds):8.2f}",
        flush=True,
    )


def header(first) -> None:
    print(f"\n{first:24} {'OPTIMAL':>7} {'loss':>7} {'bound':>7} {'worst gap':>9} {'median s':>8} {'max s':>7}")


def paper(joint_seconds) -> None:
    data = {seed: make_paper_random(seed, n_rows=20) for seed in SEEDS}
    header("linf, 20 neurons, radius")
    for radius in (0.1, 0.3, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
        limit = 10.0 if radius <= 0.6 else 30.0
        line(f"{radius:g}", [fitted(X, y, Ball("linf", radius), seconds=limit) for X, y in data.values()])
    for norm in ("l1", "l2"):
        header(f"{norm}, of meeting radius")
        for share in (0.3, 0.6, 0.8, 0.9, 0.99, 1.1):
            cells = [
                fitted(X, y, Ball(norm, share * meeting_radius(X, y, norm)), seconds=15.0) for X, y in data.values()
            ]
            line(f"{share:g}", cells)
    header("160 rows, linf, radius")
    rows = [make_paper_random(seed, n_rows=160) for seed in SEEDS]
    line("0.05", [fitted(X, y, Ball("linf", 0.05), seconds=60.0) for X, y in rows])
    if joint_seconds:
        header("the paper's, joint")
        method = Exact(formulation="paper", scenarios="joint", free_bounds=False, search_share=0.0)
        for radius in (0.1, 0.3, 0.6):
            X, y = data[0]
            cell = fitted(X, y, Ball("linf", radius), seconds=joint_seconds, method=method)
            line(f"{radius:g} (seed 0)", [cell])
            print(f"  {len(cell[0].result_.rounds)} rounds, {cell[0].certificate_.scenarios} moved rows", flush=True)


def deep() -> None:
    header("(20, 20), linf, radius")
    for radius in (0.1, 0.3, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0, 1.5, 2.0, 3.0, 4.0):
        cells = []
        for seed in SEEDS:
            X, y = make_paper_random(seed, n_rows=20)
            cells.append(fitted(X, y, Ball("linf", radius), hidden=(20, 20)))
        line(f"{radius:g}", cells)


def generation() -> None:
    print(f"\n{'generation alone':24} {'loss':>5} {'bound':>6} {'rounds':>7} {'scenarios':>10} {'seconds':>8}  status")
    for radius in (0.1, 0.3):
        for width in (1, 2, 5, 20):
            for share, name in ((0.0, "program"), (0.1, "search + program")):
                X, y = make_paper_random(0, n_rows=20)
                method = Exact(free_bounds=False, search_share=share)
                classifier, seconds = fitted(X, y, Ball("linf", radius), (width,), 30.0, method=method)
                one = classifier.certificate_
                print(
                    f"{radius:g}, {width:2} neurons, {name:16} {one.loss:5g} {one.bound:6g} {one.rounds:7} "
                    f"{one.scenarios:10} {seconds:8.2f}  {one.status}, {one.stop_reason}",
                    flush=True,
                )


def certified(classifier, X, y, ball):
    """The share of rows that no move within the ball gets wrong."""
    problem = replace(classifier.problem(X, y), uncertainty=ball)
    return 1 - problem.total(problem.worst_case(classifier.network_).uppers) / problem.dataset.total_weight


def helps() -> None:
    cancer = load_breast_cancer_wisconsin(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    digits = X[(y == 4) | (y == 9)], y[(y == 4) | (y == 9)]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    cases = [
        ("Breast Cancer", cancer, (0.5, 1.0, 1.5), {}, 25, np.linspace(0, 2.5, 11)),
        ("digits 4/9", digits, (1.0, 2.0), {"low": 0.0, "high": 16.0}, 10, np.linspace(0, 4, 9)),
    ]
    for ax, (name, (X, y), radii, ends, width, places) in zip(axes, cases, strict=True):
        print(f"\n{name}, {width} neurons, {len(X)} rows, 3 splits of 20 % for testing, linf", flush=True)
        shown = "".join(f"{place:7.2f}" for place in places)
        print(f"{'':14} {'worst case in training':>23} {'proven':>6} {'accuracy':>9}  certified at{shown}")
        for label, radius in [("prove", None), ("learn", None), *((f"robust {radius:g}", radius) for radius in radii)]:
            curves, accuracies, losses, proven = [], [], [], 0
            for seed in range(3):
                train_X, test_X, train_y, test_y = train_test_split(X, y, test_size=0.2, random_state=42 + seed)
                method = "prove" if radius is not None else label
                ball = None if radius is None else Ball("linf", radius, **ends)
                classifier = StepClassifier((width,), uncertainty=ball, method=method, random_state=0, time_limit=60)
                certificate = classifier.fit(train_X, train_y).certificate_
                losses.append(f"{certificate.loss:g}>={certificate.bound:g}")
                proven += certificate.status == "OPTIMAL"
                accuracies.append(classifier.score(test_X, test_y))
                curves.append([certified(classifier, test_X, test_y, Ball("linf", place, **ends)) for place in places])
            curve = np.mean(curves, axis=0)
            values = "".join(f"{value:7.3f}" for value in curve)
            print(
                f"{label:14} {' '.join(losses):>23} {proven:4}/3 {np.mean(accuracies):9.3f}  {'':12}{values}",
                flush=True,
            )
            ax.plot(places, 100 * curve, "o-" if radius is not None else "s--", markersize=4, label=label)
        ax.set(
            title=name, xlabel="radius, ℓ∞, in the units of the data", ylabel="certified test rows, %", ylim=(0, 102)
        )
        ax.grid(alpha=0.3)
        ax.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "robust.png", dpi=120)


def speed() -> None:
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    train_X, _, train_y, _ = train_test_split(X, y, test_size=0.2, random_state=42)
    print(f"\n{'certified_radius, 699 rows':28} {'norm':>5} {'seconds on 2 cores':>19} {'median radius':>14}")
    for method in ("prove", "learn"):
        classifier = StepClassifier((25,), method=method, random_state=0).fit(train_X, train_y)
        for norm in ORDERS:
            begin = time.perf_counter()
            radii = certified_radius(classifier, X, norm=norm, n_jobs=2)
            print(
                f"25 neurons by {method:14} {norm:>5} {time.perf_counter() - begin:19.1f} {np.median(radii):14.3f}",
                flush=True,
            )
            sample = attack(classifier, X[:20], norm=norm)
            assert (classifier.predict(sample.points) != classifier.predict(X[:20])).all()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    names = ("rows", "neurons", "radius", "seconds", "rounds", "scenarios", "loss", "bound")
    widths = (5, 8, 7, 8, 7, 10, 5, 6)
    print("\n" + " ".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True)))
    sweeps = {
        "rows, 20 neurons": [(m, 20) for m in (10, 20, 40, 80, 160)],
        "neurons, 20 rows": [(20, d) for d in (5, 10, 20, 50)],
    }
    for ax, (title, sizes) in zip(axes, sweeps.items(), strict=True):
        for radius in (0.05, 0.3):
            times = []
            for m, width in sizes:
                X, y = make_paper_random(0, n_rows=m)
                classifier, seconds = fitted(X, y, Ball("linf", radius), (width,), 60.0)
                one = classifier.certificate_
                times.append(seconds)
                print(
                    f"{m:5} {width:8} {radius:7g} {seconds:8.2f} {one.rounds:7} {one.scenarios:10} {one.loss:5g} "
                    f"{one.bound:6g}",
                    flush=True,
                )
            places = [m if "rows," in title else d for m, d in sizes]
            ax.loglog(places, times, "o-", label=f"radius {radius:g}")
        ax.set(xlabel=title, ylabel="seconds to a proof, or the limit of 60", ylim=(0.01, 100))
        ax.set_xticks(places, [str(place) for place in places])
        ax.minorticks_off()
        ax.grid(alpha=0.3, which="both")
        ax.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "robust_speed.png", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser()
    parts = {"paper": paper, "deep": deep, "generation": generation, "helps": helps, "speed": speed}
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--joint", type=float, default=300.0, help="seconds for the paper's version; 0: leave it out")
    options = parser.parse_args()
    for name in options.parts or list(parts):
        parts[name](options.joint) if name == "paper" else parts[name]()


if __name__ == "__main__":
    main()
