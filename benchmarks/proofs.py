"""Proofs that others can check: how long it takes to prove, to write and to verify, in CPU seconds.

    python benchmarks/proofs.py [--seconds 300]

Random rows with planted neurons or a planted scorecard and flipped labels, and Breast Cancer Wisconsin.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import RESULTS
from stepnet import StepClassifier, StepScoreClassifier, verify_proof, warm_up
from stepnet.datasets import load_breast_cancer_wisconsin

# rows, features, neurons, flipped labels, levels of every feature (0: many)
NEURONS = (
    (300, 3, 1, 20, 0),
    (300, 3, 2, 12, 0),
    (306, 3, 1, 60, 30),
    (200, 3, 2, 4, 12),
    (500, 2, 2, 60, 0),
    (100, 10, 1, 14, 0),
    (50, 5, 1, 8, 0),
    (100, 2, 2, 40, 0),
)


def planted(m: int, n: int, width: int, n_flipped: int, n_levels: int) -> tuple[Any, Any]:
    """An AND of random neurons, each on for most rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_levels, (m, n)).astype(float) if n_levels else rng.normal(size=(m, n))
    W = rng.normal(size=(width, n))
    y = (np.array([np.quantile(X @ one, 0.3) for one in W]) <= X @ W.T).all(axis=1)
    y[rng.choice(m, n_flipped, replace=False)] ^= True
    return X, y.astype(int)


def scored(n_flipped: int) -> tuple[Any, Any]:
    """500 × 9, with three rules of 2, 1 and 1 points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 9))
    y = 2 * (X[:, 0] > 0.3) + (X[:, 1] < 0.2) + (X[:, 2] > 0) >= 2
    y[rng.choice(500, n_flipped, replace=False)] ^= True
    return X, y.astype(int)


def line(title: str, model: Any, X: Any, y: Any, seconds: float) -> str:
    """One row of the table."""
    times = [time.process_time()]
    model.fit(X, y)
    times.append(time.process_time())
    with tempfile.TemporaryDirectory() as place:
        bound = model.save_proof(Path(place, "proof"), X, y, time_limit=seconds)
        times.append(time.process_time())
        verification = verify_proof(Path(place, "proof"))
        times.append(time.process_time())
        kind = json.loads(Path(place, "proof", "proof.json").read_text())["kind"]
        size = sum(path.stat().st_size for path in Path(place, "proof").iterdir()) / 1000
    certificate = model.certificate_
    proven = f"{certificate.loss:g}, {certificate.bound:g}, {bound:g}"
    fit, save, verify = np.diff(times)
    held = "yes" if verification else "NO"
    return f"{title:36} {proven:>12} {kind:>12} {fit:6.1f} {save:6.1f} {verify:7.1f} {size:8,.0f} {held:>8}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0)
    seconds = parser.parse_args().seconds
    warm_up()
    given: dict[str, Any] = {"method": "prove", "time_limit": seconds, "random_state": 0}
    works: list[tuple[str, Any, Any, Any]] = []
    for m, n, width, n_flipped, n_levels in NEURONS:
        values = f", {n_levels} values" if n_levels else ""
        title = f"{m} × {n}{values}, {width} neuron{'s' * (width > 1)}"
        works.append((title, StepClassifier((width,), **given), *planted(m, n, width, n_flipped, n_levels)))
    works += [
        (f"500 × 9, 3 rules, {n} labels flipped", StepScoreClassifier(3, 5, **given), *scored(n)) for n in (60, 150)
    ]
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    works += [(f"Breast Cancer, {k} rules", StepScoreClassifier(k, 5, **given), X, y) for k in (3, 4)]
    names = f"{'bounds':>12} {'kind':>12} {'fit':>6} {'save':>6} {'verify':>7} {'kB':>8} {'verified':>8}"
    lines = [f"{'':36} {names}"]
    print(lines[0], flush=True)
    for work in works:
        lines.append(line(*work, seconds))
        print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "proofs.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
