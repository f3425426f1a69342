"""Online: rows in ten batches, against ten fits from scratch.

    python benchmarks/online.py [--seconds 120]

Breast Cancer (300 rows, one hidden neuron), random rows with ternary weights, and a noisy XOR. For each batch: what
partial_fit proves, what a fit on the same rows proves, and the time of both.
"""

from __future__ import annotations

import argparse

import numpy as np

from stepnet import Exact, StepClassifier
from stepnet.datasets import load_breast_cancer_wisconsin

GATES = Exact(formulation="gates")


def instances():
    rng = np.random.default_rng(0)
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    order = rng.permutation(len(X))[:300]
    yield "Breast Cancer, 300 rows, one neuron", X[order], y[order], StepClassifier((1,), method=GATES)
    X, y = rng.integers(-4, 5, (60, 4)).astype(float), rng.integers(0, 2, 60)
    yield "random labels, 60 rows, ternary, two neurons", X, y, StepClassifier((2,), weights="ternary", method=Exact())
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.3) ^ (rng.random(50) < 0.03)
    yield "noisy XOR, 50 rows, two neurons", X, y.astype(int), StepClassifier((2,), method=GATES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    seconds = parser.parse_args().seconds
    StepClassifier((1,), method=GATES).fit([[0], [1], [2], [3]], [0, 1, 0, 1])  # loads kernels and solvers
    for name, X, y, model in instances():
        model.set_params(time_limit=seconds, random_state=0)
        online, scratch = 0.0, 0.0
        print(f"\n{name}\n{'rows':>5} {'carried':>8} {'batches':>17} {'seconds':>8} {'one fit':>17} {'seconds':>8}")
        known, n_false = 0.0, 0
        for part in np.array_split(np.arange(len(X)), 10):
            end = part[-1] + 1
            model.partial_fit(X[part], y[part], classes=np.unique(y))
            whole = StepClassifier(**model.get_params(deep=False)).fit(X[:end], y[:end])
            one, two = model.certificate_, whole.certificate_
            online, scratch = online + one.runtime, scratch + two.runtime
            n_false += known > two.loss
            cells = [f"{c.loss:g} >= {c.bound:g} {c.status[:4]}" for c in (one, two)]
            print(f"{end:5} {known:8g} {cells[0]:>17} {one.runtime:8.2f} {cells[1]:>17} {two.runtime:8.2f}", flush=True)
            known = one.bound
        print(f"time of ten fits / time of ten batches: {scratch / online:.2f}")
        print(f"carried bounds above the optimum: {n_false}")


if __name__ == "__main__":
    main()
