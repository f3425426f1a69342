"""Few integer weights: one neuron with at most 5 weights from -5 to 5, against the pool of FasterRisk.

    python benchmarks/sparse_integer.py [--seconds 20] [--tables heart pima]

Twelve tables, each in two forms. Binarised, as risk scores want them: each column is cut at its quintiles into columns
of 0 and 1. Raw, in the same units for all: standardised, and rounded to quarters of a standard deviation.
Both programs get the same rows and columns. FasterRisk minimises the logistic loss and returns a pool of scores; the
best one of the pool counts, by training errors, as it predicts and also with the intercept that has the fewest errors.
It is installed in an environment of its own (it pins old versions), once. The last column is the bound for one neuron
with any weights, in the same time: no bound of few integer weights should be far below it.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer

from common import RESULTS, geometric_mean
from environments import FASTERRISK
from stepnet import Integers, StepClassifier
from stepnet.search.local.local_search import search_kernels
from tables import load_table

TABLES = (
    *("australian", "bands", "breast_cancer", "german", "haberman", "heart"),
    *("ionosphere", "mammographic", "pima", "saheart", "sonar", "spambase"),
)


class Peer(NamedTuple):
    """Training errors of the best of a pool: as it predicts, and with its best intercept."""

    predicted: int
    best: int
    size: int
    seconds: float


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    return load_breast_cancer(return_X_y=True) if name == "breast_cancer" else load_table(name)


def binarised(X: np.ndarray) -> np.ndarray:
    """Whether a column is at least its quintiles, without constant and repeated columns."""
    cuts = (np.unique(np.quantile(column, [0.2, 0.4, 0.6, 0.8], method="nearest")) for column in X.T)
    bits = [column >= cut for column, own in zip(X.T, cuts, strict=True) for cut in own]
    return np.unique([one for one in bits if not one.all()], axis=0).T.astype(float)


def in_quarters(X: np.ndarray) -> np.ndarray:
    """Standardised columns, in integer multiples of a quarter."""
    X = X[:, X.std(axis=0) > 0]
    return np.round(4 * (X - X.mean(axis=0)) / X.std(axis=0))


def peer(X: np.ndarray, y: np.ndarray) -> Peer | str:
    """The best of the pool of FasterRisk, or why there is none."""
    try:
        pool = FASTERRISK.arrays("fasterrisk_pool.py", X=X, y=y)
    except RuntimeError as error:
        return str(error)
    sums = X @ pool["weights"].T
    predicted = min(((sums + pool["intercepts"].ravel() > 0) != y[:, None]).sum(axis=0))
    best = min(fewest_errors(column, y) for column in sums.T)
    return Peer(int(predicted), best, sums.shape[1], float(pool["seconds"]))


def fewest_errors(sums: np.ndarray, y: np.ndarray) -> int:
    thresholds = np.append(np.unique(sums), np.inf)
    return int(((sums >= thresholds[:, None]) != y).sum(axis=1).min())


def ours(X: np.ndarray, y: np.ndarray, seconds: float, **choices: object):
    model = StepClassifier(hidden=(), method="prove", time_limit=seconds, random_state=0, **choices)
    return model.fit(X, y).certificate_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--tables", nargs="*", help="some of the tables; results are not written then")
    options = parser.parse_args()
    lines = [f"environment of FasterRisk: {FASTERRISK.versions()}", f"stepnet: {options.seconds:g} s"]
    lines.append(
        f"{'table':>15} {'columns':>10} {'rows':>5} {'n':>4} {'FasterRisk':>10} {'best cut':>8} {'pool':>4} {'s':>5}"
        f" {'stepnet':>8} {'bound':>6} {'free bound':>10}"
    )
    print("\n".join(lines), flush=True)
    search_kernels().is_done(600)
    ratios: list[tuple[float, float]] = []
    n_below = 0
    for kind, prepare in (("binarised", binarised), ("raw", in_quarters)):
        for name in TABLES:
            if options.tables and name not in options.tables:
                continue
            X, y = rows_of(name)
            X = prepare(X)
            other = peer(X, y)
            few = ours(X, y, options.seconds, weights=Integers(5), sparsity=5)
            free = ours(X, y, options.seconds)
            n_below += few.bound < free.bound
            line = f"{name:>15} {kind:>10} {len(y):5} {X.shape[1]:4} "
            if isinstance(other, Peer):
                ratios.append((few.loss / other.predicted, few.loss / other.best))
                line += f"{other.predicted:10} {other.best:8} {other.size:4} {other.seconds:5.1f} "
            else:
                line += f"{'-':>10} {'-':>8} {'-':>4} {'-':>5} "
            line += f"{few.loss:8g} {few.bound:6g} {free.bound:10g}"
            lines.append(line if isinstance(other, Peer) else f"{line}  FasterRisk: {other}")
            print(lines[-1], flush=True)
    first = len(lines)
    if ratios:
        predicted, best = zip(*ratios, strict=True)
        lines.append(f"tables on which stepnet has more errors than the pool: {sum(ratio > 1 for ratio in best)}")
        lines.append(f"errors relative to the best prediction of the pool: {geometric_mean(predicted):.3f}")
        lines.append(f"errors relative to the best cut of the pool: {geometric_mean(best):.3f} (geometric means)")
    lines.append(f"bounds of few integer weights below those of any weights: {n_below}")
    print("\n".join(lines[first:]))
    if not options.tables:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "sparse_integer.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
