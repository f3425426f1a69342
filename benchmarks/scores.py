"""Scorecards of 5 rules with up to 5 points, against FasterRisk, rounded sparse logistic regression and optimal trees.

    python benchmarks/scores.py [--seconds 20] [--folds 5] [--tables heart pima] [--parts peers sizes probabilities]

peers: eight public tables, stratified folds. FasterRisk and the rounded logistic regression get columns of 0 and 1:
each feature cut at its quintiles on the training rows. stepnet gets the features as they are and learns its cut points.
FasterRisk is installed in an environment of its own; optimal trees (pystreed, depth 2 and 3) run if pystreed is
installed. Training errors, test accuracy, AUC, Brier score and CPU seconds, as means over tables and folds.

sizes: which sizes are proven within the time: random tables with a planted scorecard and one row in eight flipped.

probabilities: log loss, Brier score, expected calibration error and AUC on held-out folds.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import RESULTS
from sparse_integer import PYTHON, rows_of, versions
from stepnet import StepClassifier, StepScoreClassifier
from stepnet.scores.kernels import KERNELS
from stepnet.search.descent.descent import KERNELS as DESCENT
from stepnet.search.local.local_search import search_kernels

TABLES = ("australian", "breast_cancer", "german", "haberman", "heart", "mammographic", "pima", "saheart")
SIZES = ((200, 5), (500, 9), (1000, 9), (500, 20))
Fit = Callable[
    [np.ndarray, np.ndarray], tuple[Callable[[np.ndarray], np.ndarray], str]
]  # rows to probabilities; a note


def cuts_of(X: np.ndarray) -> list[tuple[int, float]]:
    """The quintiles of every column."""
    places = (0.2, 0.4, 0.6, 0.8)
    return [
        (j, cut)
        for j, column in enumerate(X.T)
        for cut in np.unique(np.quantile(column, places, method="nearest")).tolist()
        if column.min() < cut
    ]


def bits(X: np.ndarray, cuts: list[tuple[int, float]]) -> np.ndarray:
    return np.column_stack([X[:, j] >= cut for j, cut in cuts]).astype(float)


def fasterrisk(X: np.ndarray, y: np.ndarray) -> Any:
    """The first score of the pool, which has the least logistic loss."""
    cuts = cuts_of(X)
    with tempfile.TemporaryDirectory() as folder:
        given, wanted = Path(folder) / "rows.npz", Path(folder) / "pool.npz"
        np.savez(given, X=bits(X, cuts), y=y)
        script = Path(__file__).resolve().parent / "fasterrisk_pool.py"
        done = subprocess.run([str(PYTHON), str(script), given, wanted], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        with np.load(wanted) as pool:
            weights, intercept, multiplier = pool["weights"][0], pool["intercepts"].ravel()[0], pool["multipliers"][0]
            seconds = float(pool["seconds"])
    return lambda new: _sigmoid((bits(new, cuts) @ weights + intercept) / multiplier), seconds


def rounded_logistic(X: np.ndarray, y: np.ndarray) -> Any:
    """Sparse logistic regression on the bits with 5 coefficients, scaled to 5 and rounded; slope and offset fitted."""
    cuts = cuts_of(X)
    Z = bits(X, cuts)
    coefficients = np.zeros(len(cuts))
    for strength in np.geomspace(1e-3, 10, 25):
        model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=strength, random_state=0).fit(Z, y)
        if (model.coef_[0] != 0).sum() > 5:
            break
        coefficients = model.coef_[0]
    points = np.round(5 * coefficients / max(np.abs(coefficients).max(), 1e-9))
    last = LogisticRegression(C=1e6).fit((Z @ points)[:, None], y)
    return lambda new: last.predict_proba((bits(new, cuts) @ points)[:, None])[:, 1]


def scorecard(method: str, seconds: float) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        model = StepScoreClassifier(5, 5, method=method, time_limit=seconds, random_state=0).fit(X, y)
        certificate = model.certificate_
        note = f"{certificate.status} {certificate.loss:g}/{certificate.bound:g}" if method == "prove" else ""
        return lambda new: model.predict_proba(new)[:, 1], note

    return fit


def tree(depth: int) -> Fit:
    from pystreed import STreeDClassifier

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        cuts = cuts_of(X)
        model = STreeDClassifier(max_depth=depth).fit(bits(X, cuts), y)
        return lambda new: np.asarray(model.predict(bits(new, cuts)), dtype=float)

    return fit


def contenders(seconds: float) -> dict[str, Fit]:
    found: dict[str, Fit] = {"FasterRisk": fasterrisk, "rounded logistic": rounded_logistic}
    try:
        found |= {f"optimal tree, depth {depth}": tree(depth) for depth in (2, 3)}
    except ImportError:
        print("pystreed is not installed: no optimal trees")
    return found | {f"stepnet, {method}": scorecard(method, seconds) for method in ("learn", "search", "prove")}


def probability_models(seconds: float) -> dict[str, Fit]:
    def of(model: Any) -> Fit:
        def fit(X: np.ndarray, y: np.ndarray) -> Any:
            fitted = model().fit(X, y)
            return lambda new: fitted.predict_proba(new)[:, 1]

        return fit

    def network(**choices: Any) -> Fit:
        return of(lambda: StepClassifier(random_state=0, time_limit=seconds, **choices))

    return {
        "logistic regression": of(lambda: make_pipeline(StandardScaler(), LogisticRegression())),
        "random forest": of(lambda: RandomForestClassifier(random_state=0)),
        "FasterRisk": fasterrisk,
        "scorecard, learned": scorecard("learn", seconds),
        "scorecard, proven": scorecard("prove", seconds),
        "25 neurons, learned": network(),
        "25 neurons, learned, isotonic": network(probability="isotonic"),
        "3 neurons, searched": network(hidden=(3,), method="search"),
        "3 neurons, searched, isotonic": network(hidden=(3,), method="search", probability="isotonic"),
    }


def folds_of(names: list[str], n_folds: int) -> Iterator[tuple[str, Any, Any, Any, Any]]:
    for name in names:
        X, y = rows_of(name)
        for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
            yield name, X[train], y[train], X[test], y[test]


def measured(models: dict[str, Fit], names: list[str], n_folds: int) -> list[str]:
    """A line per model: means over tables and folds."""
    found: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    notes: dict[str, list[str]] = defaultdict(list)
    for table, X, y, X_new, y_new in folds_of(names, n_folds):
        for name, fit in models.items():
            begin = time.process_time()
            try:
                fitted = fit(X, y)
            except (RuntimeError, OSError) as error:
                notes[name].append(f"{table}: {error}")
                continue
            seconds = time.process_time() - begin
            chances, note = fitted if isinstance(fitted, tuple) else (fitted, "")
            if isinstance(note, float):
                seconds, note = note, ""
            if note:
                notes[name].append(f"{table} {note}")
            train, new = chances(X), chances(X_new).clip(1e-6, 1 - 1e-6)
            found[name].append((
                float(((train >= 0.5) != y).sum()), float(((new >= 0.5) == y_new).mean()),
                float(roc_auc_score(y_new, new)), float(brier_score_loss(y_new, new)), float(log_loss(y_new, new)),
                calibration_error(new, y_new), seconds,
            ))  # fmt: skip
    head = f"{'':>30} {'train errors':>12} {'accuracy':>9} {'AUC':>6} {'Brier':>6} {'log loss':>8} {'ECE':>6} {'s':>7}"
    lines = [head]
    for name, rows in found.items():
        errors, accuracy, auc, brier, loss, ece, seconds = np.mean(rows, axis=0)
        numbers = f"{accuracy:9.3f} {auc:6.3f} {brier:6.3f} {loss:8.3f} {ece:6.3f} {seconds:7.2f}"
        lines.append(f"{name:>30} {errors:12.1f} {numbers}")
    lines += [f"{name}: {'; '.join(own)}" for name, own in notes.items()]
    return lines


def calibration_error(chances: np.ndarray, y: np.ndarray, n_bins: int = 10) -> float:
    """Expected calibration error: the mean distance of shares and probabilities, in ten bins."""
    bins = np.minimum((chances * n_bins).astype(int), n_bins - 1)
    gaps = [abs(chances[bins == b].sum() - y[bins == b].sum()) for b in range(n_bins)]
    return float(sum(gaps) / len(y))


def sizes(seconds: float) -> list[str]:
    """Random tables with a planted scorecard of three rules."""
    lines = [f"{'rows':>6} {'features':>8} {'rules':>5} {'loss':>6} {'bound':>6} {'status':>9} {'CPU s':>7}"]
    for n_rows, n_features in SIZES:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n_features))
        y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0.3) + (X[:, 2] < 0.5) >= 3
        y ^= rng.random(n_rows) < 1 / 8
        for n_rules in (2, 3, 4, 5):
            begin = time.process_time()
            model = StepScoreClassifier(n_rules, method="prove", time_limit=seconds, random_state=0).fit(X, y)
            known, cpu = model.certificate_, time.process_time() - begin
            numbers = f"{known.loss:6g} {known.bound:6g} {known.status:>9} {cpu:7.1f}"
            lines.append(f"{n_rows:6} {n_features:8} {n_rules:5} {numbers}")
            print(lines[-1], flush=True)
    return lines


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values.clip(-500, 500)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each fit")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--tables", nargs="*", help="some of the tables; results are not written then")
    parser.add_argument("--parts", nargs="*", default=["peers", "sizes", "probabilities"])
    options = parser.parse_args()
    for kernels in (KERNELS, DESCENT, search_kernels()):
        kernels.is_done(600)
    names = list(options.tables or TABLES)
    lines = [f"environment of FasterRisk: {versions()}", f"{options.seconds:g} s per fit, {options.folds} folds"]
    lines.append(f"tables: {', '.join(names)}")
    parts: dict[str, Callable[[], list[str]]] = {
        "peers": lambda: measured(contenders(options.seconds), names, options.folds),
        "sizes": lambda: sizes(options.seconds),
        "probabilities": lambda: measured(probability_models(options.seconds), names, options.folds),
    }
    for part in options.parts:
        lines += ["", part, *parts[part]()]
    print("\n".join(lines))
    if not options.tables:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "scores.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
