"""Time limits on hard instances: what was asked, what was taken.

    python benchmarks/limits.py

The limit must be kept to within max(1 s, 5 %). Kernels are compiled or loaded before the
measurement.
"""

from __future__ import annotations

import time

import numpy as np

from stepnet import Exact, StepClassifier, warm_up


def main() -> None:
    rng = np.random.default_rng(0)
    warm_up()
    cases = {
        "gates, 559 x 9, 3 neurons": (559, 9, (3,), Exact(formulation="gates")),
        "tight, 559 x 9, 25 neurons": (559, 9, (25,), Exact()),
        "tight, 300 x 8, 10 and 10 neurons": (300, 8, (10, 10), Exact()),
        "Theorem 2, 559 x 9, 50 neurons": (559, 9, (50,), Exact(formulation="paper")),
        "tight on SCIP, 200 x 5, 5 neurons": (200, 5, (5,), Exact(formulation="tight", solver="scip")),
    }
    print(f"{'instance':38} {'limit':>6} {'taken':>7} {'over':>6}  kept")
    for name, (m, n, hidden, method) in cases.items():
        X, y = rng.normal(size=(m, n)), rng.integers(0, 2, m)
        for limit in (1, 5, 20):
            begin = time.perf_counter()
            StepClassifier(hidden=hidden, method=method, time_limit=limit, random_state=0).fit(X, y)
            taken = time.perf_counter() - begin
            kept = taken - limit <= max(1.0, 0.05 * limit)
            print(f"{name:38} {limit:6} {taken:7.2f} {taken - limit:6.2f}  {'yes' if kept else 'NO'}", flush=True)


if __name__ == "__main__":
    main()
