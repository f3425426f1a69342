"""The proven optimum in milliseconds: Breast Cancer, the paper's random data, known optima.

    python benchmarks/search.py [--seconds 120] [--only cancer random known]

Every fit is `StepClassifier(method="prove")` unless said otherwise. `Exact(formulation="paper")` runs in
the same process with the limit `--seconds`; an answer that a forward pass refutes counts as a time-out.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from sklearn.model_selection import train_test_split

from common import geometric_mean, make_problem, solve
from stepnet import Exact, Prove, Search, warm_up
from stepnet.datasets import load_breast_cancer_wisconsin, make_paper_random

OPTIMA = {  # of benchmarks/programs.py: (m, d_1) -> optimum for seeds 0, 1, 2
    (20, 2): (1, 0, 1), (20, 3): (0, 0, 0), (30, 2): (3, 2, 3), (30, 3): (1, 1, 0),
}  # fmt: skip


def timed(problem, method, seconds, seed=0):
    begin = time.perf_counter()
    certificate, result = solve(problem, method, seconds, seed)
    return certificate, result, time.perf_counter() - begin


def cancer(seconds: float) -> None:
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    print(f"Breast Cancer, 25 neurons; the program as printed has {seconds:g} s\n")
    print(f"{'split':>6} {'loss':>5} {'status':>8} {'seconds':>8}   {'as printed':>24} {'ratio':>8}")
    times, ratios = [], []
    for split in (42, *range(10)):
        X_train, _, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=split)
        problem = make_problem(X_train, y_train, (25,))
        certificate, _, ours = timed(problem, Prove(), 60)
        printed, result, theirs = timed(problem, Exact(formulation="paper", solver="highs", search_share=0), seconds)
        is_answer = printed.status == "OPTIMAL" and all(claim.is_true for claim in result.claims)
        theirs = theirs if is_answer else max(theirs, seconds)
        times.append(ours)
        ratios.append(theirs / ours)
        outcome = "proven" if is_answer else f"loss {printed.loss:g}, no true proof"
        print(
            f"{split:6} {certificate.loss:5g} {certificate.status:>8} {ours:8.3f}   {outcome:>24} {ratios[-1]:8.0f}",
            flush=True,
        )
    print(f"median {np.median(times):.3f} s; ratio: smallest {min(ratios):.0f}, mean {geometric_mean(ratios):.0f}\n")


def random_data() -> None:
    print("The paper's random data, 160 rows of 100 features, ten instances a width")
    for d in (20, 50, 100):
        proven, times = 0, []
        for seed in range(10):
            X, y = make_paper_random(seed)
            X_train, _, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=seed)
            certificate, _, seconds = timed(make_problem(X_train, y_train, (d,)), Prove(), 60)
            proven += certificate.status == "OPTIMAL" and certificate.loss == 0
            times.append(seconds)
        print(f"  d_1 = {d:3}: {proven} of 10 proven with loss 0, at most {max(times):.3f} s", flush=True)
    print()


def known() -> None:
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=42)
    problem = make_problem(X_train, y_train, (1,))
    runs = [timed(problem, Search(), 10, seed)[:2] for seed in range(10)]
    losses = [certificate.loss for certificate, _ in runs]
    found = [result.trace[-1].runtime for certificate, result in runs if certificate.loss == 9]
    print(
        f"Breast Cancer, one neuron, Search for 10 s: optimum 9 by {losses.count(9)} of 10 seeds, "
        f"after {np.median(found):.2f} s (median), {max(found):.2f} s (longest)"
    )
    hits, total = 0, 0
    for (m, d), optima in OPTIMA.items():
        for seed, start in itertools.product(range(3), range(5)):
            rng = np.random.default_rng(seed)
            problem = make_problem(rng.uniform(-1, 1, (m, 3)), rng.integers(0, 2, m), (d,))
            certificate, _, _ = timed(problem, Search(), 2, start)
            hits += certificate.loss == optima[seed]
            total += 1
    print(
        f"instances of exact.py, Search for 2 s, five seeds each: optimum found {hits} times of {total}\n", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--only", nargs="+", choices=("cancer", "random", "known"))
    options = parser.parse_args()
    warm_up()
    parts = {"cancer": lambda: cancer(options.seconds), "random": random_data, "known": known}
    for name, part in parts.items():
        if options.only is None or name in options.only:
            part()


if __name__ == "__main__":
    main()
