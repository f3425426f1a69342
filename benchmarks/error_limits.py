"""Limits on errors: recall of at least 95 % on Breast Cancer, proven, and the curve of recall against false alarms.

    python benchmarks/error_limits.py [--seconds 600] [--most 3] [--short]

For one to three neurons on the training rows of the paper's split: the smallest loss with recall >= 95 % and >= 99 %
of the malignant rows, with its bound; then the best recall for every number of false alarms; and a demand that no
network meets. CPU seconds are those of this process.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from common import RESULTS
from stepnet import FalsePositives, Recall, StepClassifier, datasets, tradeoff
from stepnet.errors import NoNetworkError

ROWS = 559  # of 699, as in the paper


def training_rows() -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.load_breast_cancer_wisconsin(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:ROWS]
    return X[chosen], y[chosen]


def proven(X: np.ndarray, y: np.ndarray, width: int, share: float, seconds: float) -> dict[str, object]:
    """The smallest loss with a recall."""
    begin, limits = time.process_time(), [Recall(1, at_least=share)]
    classifier = StepClassifier(
        hidden=(width,), constraints=limits, method="prove", time_limit=seconds, random_state=0
    ).fit(X, y)
    certificate = classifier.certificate_
    row = {
        "neurons": width,
        "recall at least": share,
        "recall": float(certificate.limits[0].value),
        "loss": certificate.loss,
        "bound": certificate.bound,
        "status": certificate.status,
        "scope": str(certificate.scope),
        "cpu": time.process_time() - begin,
    }
    print(row, flush=True)
    return row


def impossible(X: np.ndarray, y: np.ndarray, seconds: float) -> str:
    """What is said about a demand that one neuron does not meet."""
    limits = [Recall(1, at_least=0.99), FalsePositives(1, at_most=1)]
    try:
        StepClassifier(hidden=(1,), constraints=limits, method="prove", time_limit=seconds, random_state=0).fit(X, y)
    except NoNetworkError as error:
        return f"{type(error).__name__}: {error}"
    return "a network was found"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0, help="for each fit and each curve")
    parser.add_argument("--most", type=int, default=3, help="neurons")
    parser.add_argument("--short", action="store_true", help="one neuron, recall 95 %% only; nothing is written")
    given = parser.parse_args()
    X, y = training_rows()
    if given.short:
        proven(X, y, 1, 0.95, given.seconds)
        print(impossible(X, y, given.seconds))
        return
    widths = range(1, given.most + 1)
    fits = [proven(X, y, width, share, given.seconds) for width in widths for share in (0.95, 0.99)]
    said = impossible(X, y, given.seconds)
    print(said, flush=True)
    curves = {}
    for width in widths:
        curve = tradeoff(X, y, positive=1, hidden=(width,), time_limit=given.seconds)
        print(f"{width} neurons\n{curve}", flush=True)
        curve.plot(RESULTS / f"error_limits_{width}.svg")
        curves[width] = [[one.at_most, str(one.recall), str(one.recall_at_most), one.status] for one in curve.points]
    content = {"rows": ROWS, "fits": fits, "impossible": said, "curves": curves}
    (RESULTS / "error_limits.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
