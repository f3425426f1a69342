"""Many rows: `method="learn"` against the MLP, and the search's moves, from 10^4 to 10^6 rows.

    python benchmarks/scale.py [--rows 10000 100000 1000000]

Rows × 20 features from a planted 8-neuron network with 10 % of the labels flipped; 20,000 clean test rows.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import make_problem, solve
from stepnet import Search, StepClassifier
from stepnet.network import Layer, Network


def planted(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden = Layer(rng.normal(size=(8, 20)), rng.normal(size=8))
    network = Network((hidden, Layer(rng.choice([-1.0, 1.0], (1, 8)), np.array([0.5]))))
    X = rng.normal(size=(n_rows + 20_000, 20))
    y = network.predict(X)
    flipped = rng.random(n_rows) < 0.1
    y[:n_rows] ^= flipped
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    StepClassifier((2,), method="learn").fit([[0, 0], [1, 1]], [0, 1])
    print(f"{'rows':>9} {'learn':>17} {'MLP':>17} {'time ratio':>11} {'search: loss':>13} {'peak memory / data':>19}")
    for n_rows in options.rows:
        X, y, X_test, y_test = planted(n_rows)
        begin = time.perf_counter()
        learned = StepClassifier((25,), method="learn", random_state=0, time_limit=600).fit(X, y)
        learn_time = time.perf_counter() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / X.nbytes
        problem = make_problem(X, y, (8,))
        certificate, _ = solve(problem, Search(), 20.0)
        begin = time.perf_counter()
        mlp = make_pipeline(StandardScaler(), MLPClassifier((25,), max_iter=200, random_state=0)).fit(X, y)
        mlp_time = time.perf_counter() - begin
        print(
            f"{n_rows:9} {learned.score(X_test, y_test):8.4f} {learn_time:7.2f} s {mlp.score(X_test, y_test):8.4f} "
            f"{mlp_time:7.2f} s {mlp_time / learn_time:11.1f} {certificate.loss / n_rows:13.4f} {memory:19.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
