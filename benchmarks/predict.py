"""Predictions: a step network's exact answers against scikit-learn's MLP of the same size.

    python benchmarks/predict.py [--rows 1000000] [--repeats 5]

20 features, 25 neurons, both trained on the same 2,000 rows; times are medians, taken in turns.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np
from sklearn.neural_network import MLPClassifier

from common import RESULTS
from stepnet import StepClassifier


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, 20))
    y = (X[:, :5].sum(axis=1) + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
    few = slice(0, 2000)
    ours = StepClassifier(hidden=(25,), method="learn", random_state=0).fit(X[few], y[few])
    theirs = MLPClassifier((25,), random_state=0, max_iter=1000).fit(X[few], y[few])
    seconds: dict[str, list[float]] = {"stepnet": [], "MLP": []}
    for _ in range(options.repeats):
        for name, model in (("stepnet", ours), ("MLP", theirs)):
            begin = time.perf_counter()
            model.predict(X)
            seconds[name].append(time.perf_counter() - begin)
    taken = {name: median(times) for name, times in seconds.items()}
    lines = [
        f"{options.rows} rows × 20 features, 25 neurons",
        *(f"{name:8} {time:6.3f} s" for name, time in taken.items()),
        f"time of the MLP / time of stepnet: {taken['MLP'] / taken['stepnet']:.2f}",
        f"accuracy on these rows: stepnet {ours.score(X, y):.4f}, MLP {theirs.score(X, y):.4f}",
    ]
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "predict.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
