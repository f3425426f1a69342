"""Scorecards of 5 rules with up to 5 points, against FasterRisk, rounded sparse logistic regression and optimal trees.

    python benchmarks/scores.py [--seconds 10] [--folds 5] [--group once] [--tables heart] [--parts peers sizes]

Public binary tables, stratified folds. On those of TUNED settings were chosen; those of ONCE were chosen by their
descriptions when all settings were fixed, and looked at once. Results are written for these, if all parts were run.

Scorecards of others need columns of 0 and 1. FasterRisk gets them in two ways: as its own package makes them, with up
to 100 cuts per feature drawn from the training rows, and cut at the quintiles of the training rows, as do rounded
logistic regression and optimal trees. stepnet gets the features as they are. FasterRisk and pystreed are installed in
environments of their own. Cards of FasterRisk are the first of its pool, with the least logistic loss; "best of pool"
counts the fewest training errors of its pool, with the best intercept for each.

peers: training errors, test accuracy, AUC, Brier score and CPU seconds, as means over tables and folds; differences to
stepnet; and training errors with bounds by table. probabilities: log loss, Brier score, expected calibration error and
AUC on held-out folds. sizes: which sizes are proven within --size-seconds: random tables with a planted scorecard and
one row in eight flipped.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import RESULTS
from environments import FASTERRISK, PYSTREED
from sparse_integer import fewest_errors, rows_of
from stepnet import StepClassifier, StepScoreClassifier
from stepnet.scores.kernels import KERNELS
from stepnet.search.descent.descent import KERNELS as DESCENT

TUNED = ("australian", "breast_cancer", "german", "haberman", "heart", "mammographic", "pima", "saheart")
ONCE = ("bands", "bupa", "crx", "ionosphere", "Mroz", "SwissLabor")
SIZES = ((200, 5), (500, 9), (1000, 9), (500, 20))
PARTS = ("peers", "probabilities", "sizes")
MOST_CUTS = 99  # of FasterRisk's own binning
SCORECARDS = ("FasterRisk", "FasterRisk, quintiles", "rounded logistic")
Cuts = list[tuple[int, float]]


@dataclass(frozen=True)
class Outcome:
    """Of a fit: training errors, probabilities of new rows, CPU seconds; what is proven, and the best of a pool."""

    errors: int
    chances: np.ndarray
    seconds: float
    bound: float | None = None
    least: int | None = None


Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], Outcome]  # rows, classes, new rows


def quintiles(X: np.ndarray) -> Cuts:
    """The quintiles of every column."""
    places = (0.2, 0.4, 0.6, 0.8)
    return [
        (j, cut)
        for j, column in enumerate(X.T)
        for cut in np.unique(np.quantile(column, places, method="nearest")).tolist()
        if column.min() < cut
    ]


def drawn(X: np.ndarray) -> Cuts:
    """All cuts of every column, or some of them drawn at random."""
    rng = np.random.default_rng(0)
    found = []
    for j, column in enumerate(X.T):
        own = np.unique(column)[1:]
        own = own if len(own) <= MOST_CUTS else rng.choice(own, MOST_CUTS, replace=False)
        found += [(j, cut) for cut in own.tolist()]
    return found


def bits(X: np.ndarray, cuts: Cuts) -> np.ndarray:
    return np.column_stack([X[:, j] >= cut for j, cut in cuts]).astype(float)


def fasterrisk(cuts_of: Callable[[np.ndarray], Cuts]) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Outcome:
        cuts = cuts_of(X)
        Z = bits(X, cuts)
        pool = FASTERRISK.arrays("fasterrisk_pool.py", X=Z, y=y)
        weights, intercept, multiplier = pool["weights"][0], pool["intercepts"].ravel()[0], pool["multipliers"][0]
        errors = int(((Z @ weights + intercept > 0) != y).sum())
        least = min(fewest_errors(sums, y) for sums in (Z @ pool["weights"].T).T)
        chances = 1 / (1 + np.exp(-(bits(new, cuts) @ weights + intercept) / multiplier))
        return Outcome(errors, chances, float(pool["seconds"]), least=least)

    return fit


def rounded_logistic(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Outcome:
    """Sparse logistic regression on the bits with 5 coefficients, scaled to 5 and rounded; slope and offset fitted."""
    begin, cuts = time.process_time(), quintiles(X)
    Z = bits(X, cuts)
    coefficients = np.zeros(len(cuts))
    for strength in np.geomspace(1e-3, 10, 25):
        model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=strength, random_state=0).fit(Z, y)
        if (model.coef_[0] != 0).sum() > 5:
            break
        coefficients = model.coef_[0]
    points = np.round(5 * coefficients / max(np.abs(coefficients).max(), 1e-9))
    last = LogisticRegression(C=1e6).fit((Z @ points)[:, None], y)
    seconds = time.process_time() - begin
    errors = int((last.predict((Z @ points)[:, None]) != y).sum())
    return Outcome(errors, last.predict_proba((bits(new, cuts) @ points)[:, None])[:, 1], seconds)


def tree(depth: int) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Outcome:
        cuts = quintiles(X)
        found = PYSTREED.arrays("optimal_tree.py", str(depth), X=bits(X, cuts), y=y, new=bits(new, cuts))
        return Outcome(int(found["errors"]), found["chances"], float(found["seconds"]))

    return fit


def model(make: Callable[[], Any]) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Outcome:
        begin = time.process_time()
        fitted = make().fit(X, y)
        seconds = time.process_time() - begin
        certificate = getattr(fitted, "certificate_", None)
        bound = None if certificate is None else certificate.bound
        return Outcome(int((fitted.predict(X) != y).sum()), fitted.predict_proba(new)[:, 1], seconds, bound)

    return fit


def scorecard(method: str, seconds: float) -> Fit:
    return model(lambda: StepScoreClassifier(5, 5, method=method, time_limit=seconds, random_state=0))


def contenders(seconds: float) -> dict[str, dict[str, Fit]]:
    """By part; scorecards are in both."""
    cards = {
        "FasterRisk": fasterrisk(drawn),
        "FasterRisk, quintiles": fasterrisk(quintiles),
        "stepnet, learn": scorecard("learn", seconds),
        "stepnet, prove": scorecard("prove", seconds),
    }
    trees = {f"optimal tree, depth {depth}": tree(depth) for depth in (2, 3)}
    others = {
        "logistic regression": model(lambda: make_pipeline(StandardScaler(), LogisticRegression())),
        "random forest": model(lambda: RandomForestClassifier(random_state=0)),
        "stepnet, 25 neurons": model(lambda: StepClassifier(random_state=0, time_limit=seconds)),
    }
    return {"peers": {**cards, "rounded logistic": rounded_logistic, **trees}, "probabilities": {**cards, **others}}


Row = tuple[Outcome, np.ndarray]  # and the classes of the new rows
Found = dict[str, dict[tuple[str, int], Row]]  # by name; table and fold


def measured(fits: dict[str, Fit], names: list[str], n_folds: int) -> tuple[Found, list[str]]:
    """Every fit on every fold; and what went wrong."""
    found: Found = defaultdict(dict)
    trouble = []
    for table in names:
        X, y = rows_of(table)
        print(f"{table}: {len(y)} rows, {X.shape[1]} features", flush=True)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y)
        for fold, (train, test) in enumerate(folds):
            for name, fit in fits.items():
                try:
                    found[name][table, fold] = fit(X[train], y[train], X[test]), y[test]
                except RuntimeError as error:
                    trouble.append(f"{name}, {table}, fold {fold}: {error}")
    return found, trouble


METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": lambda chances, y: float(((chances >= 0.5) == y).mean()),
    "AUC": lambda chances, y: float(roc_auc_score(y, chances)),
    "Brier": lambda chances, y: float(brier_score_loss(y, chances)),
    "log loss": lambda chances, y: float(log_loss(y, chances)),
    "ECE": lambda chances, y: calibration_error(chances, y),
}


def calibration_error(chances: np.ndarray, y: np.ndarray, n_bins: int = 10) -> float:
    """Expected calibration error: the mean distance of shares and probabilities, in ten bins."""
    bins = np.minimum((chances * n_bins).astype(int), n_bins - 1)
    gaps = [abs(chances[bins == b].sum() - y[bins == b].sum()) for b in range(n_bins)]
    return float(sum(gaps) / len(y))


def values(metric: str, rows: dict[tuple[str, int], Row]) -> dict[tuple[str, int], float]:
    return {key: METRICS[metric](one.chances.clip(1e-6, 1 - 1e-6), y) for key, (one, y) in rows.items()}


def means(found: Found, metrics: tuple[str, ...]) -> list[str]:
    """A line per contender."""
    lines = [f"{'':>24} {'train errors':>12} {' '.join(f'{metric:>8}' for metric in metrics)} {'CPU s':>7}"]
    for name, rows in found.items():
        errors, seconds = np.mean([(one.errors, one.seconds) for one, _ in rows.values()], axis=0)
        numbers = " ".join(f"{np.mean(list(values(metric, rows).values())):8.4f}" for metric in metrics)
        lines.append(f"{name:>24} {errors:12.2f} {numbers} {seconds:7.2f}")
    return lines


def differences(found: Found, metrics: tuple[str, ...], one: str = "stepnet, learn") -> list[str]:
    """Of one contender to the others: the mean over tables, and its standard error."""
    lines = [f"{one} less the others, mean over tables ± standard error"]
    for other in found:
        if other != one:
            numbers = []
            for metric in metrics:
                mine, theirs = values(metric, found[one]), values(metric, found[other])
                by_table = defaultdict(list)
                for key in mine.keys() & theirs.keys():
                    by_table[key[0]].append(mine[key] - theirs[key])
                gaps = [np.mean(own) for own in by_table.values()]
                error = np.std(gaps, ddof=1) / len(gaps) ** 0.5 if len(gaps) > 1 else np.nan
                numbers.append(f"{metric} {np.mean(gaps):+.4f} ± {error:.4f}")
            lines.append(f"{other:>24}  {', '.join(numbers)}")
    return lines


def training_errors(found: Found, names: list[str], n_folds: int) -> list[str]:
    """By table, in all folds together, with the bounds; and how often another scorecard has fewer."""
    mine, others = found["stepnet, prove"], [name for name in SCORECARDS if name in found]
    pools = [name for name in others if name.startswith("FasterRisk")]
    titles = [*others, *(f"{name}, best of pool" for name in pools), "stepnet, prove", "bound", "proven folds"]
    lines = ["training errors of scorecards, all folds together: " + "; ".join(titles)]
    fewer = 0
    for table in names:
        keys = [(table, fold) for fold in range(n_folds)]
        numbers: list[float] = []
        for name, kind in [*((name, "errors") for name in others), *((name, "least") for name in pools)]:
            theirs = {key: getattr(found[name][key][0], kind) for key in keys if key in found[name]}
            fewer += sum(own < mine[key][0].errors for key, own in theirs.items())
            numbers.append(sum(theirs.values()) if len(theirs) == len(keys) else float("nan"))
        own = [mine[key][0] for key in keys]
        numbers += [sum(one.errors for one in own), sum(one.bound for one in own)]
        proven = sum(one.bound == one.errors for one in own)
        lines.append(f"{table:>15} {' '.join(f'{one:7g}' for one in numbers)} {proven:3}")
    return [*lines, f"folds in which another scorecard has fewer: {fewer}"]


def compared(parts: list[str], names: list[str], seconds: float, n_folds: int) -> list[str]:
    """Both tables of peers and of probabilities, from the same fits."""
    wanted = contenders(seconds)
    together = {name: fit for part in parts for name, fit in wanted[part].items()}
    found, trouble = measured(together, names, n_folds)
    lines = []
    for part in parts:
        own = {name: found[name] for name in wanted[part] if name in found}
        metrics = ("accuracy", "AUC", "Brier") if part == "peers" else ("log loss", "Brier", "ECE", "AUC")
        lines += ["", part, *means(own, metrics), *differences(own, metrics)]
        if part == "peers":
            lines += training_errors(own, names, n_folds)
    return lines + trouble


def sizes(seconds: float) -> list[str]:
    """Random tables with a planted scorecard of three rules."""
    head = f"{'rows':>6} {'features':>8} {'rules':>5} {'loss':>6} {'bound':>6} {'status':>9} {'CPU s':>7} {'s':>6}"
    lines = ["", f"sizes, {seconds:g} s per proof", head]
    for n_rows, n_features in SIZES:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n_features))
        y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0.3) + (X[:, 2] < 0.5) >= 3
        y ^= rng.random(n_rows) < 1 / 8
        for n_rules in (2, 3, 4, 5):
            begin, clock = time.process_time(), time.perf_counter()
            card = StepScoreClassifier(n_rules, method="prove", time_limit=seconds, random_state=0).fit(X, y)
            known, cpu, wall = card.certificate_, time.process_time() - begin, time.perf_counter() - clock
            numbers = f"{known.loss:6g} {known.bound:6g} {known.status:>9} {cpu:7.1f} {wall:6.1f}"
            lines.append(f"{n_rows:6} {n_features:8} {n_rules:5} {numbers}")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each fit")
    parser.add_argument("--size-seconds", type=float, default=30.0, help="of each proof of sizes")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--group", choices=["tuned", "once"], default="once")
    parser.add_argument("--tables", nargs="*", help="some of the tables")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="results of some are not written")
    options = parser.parse_args()
    for kernels in (KERNELS, DESCENT):
        kernels.is_done(600)
    names = list(options.tables or {"tuned": TUNED, "once": ONCE}[options.group])
    lines = [f"{one.name}: {one.versions()}" for one in (FASTERRISK, PYSTREED)]
    lines += [f"stepnet: {options.seconds:g} s per fit; {options.folds} folds", f"tables: {', '.join(names)}"]
    if parts := [part for part in ("peers", "probabilities") if part in options.parts]:
        lines += compared(parts, names, options.seconds, options.folds)
    if "sizes" in options.parts:
        lines += sizes(options.size_seconds)
    print("\n".join(lines))
    if names == list(ONCE) and set(options.parts) == set(PARTS):
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "scores.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
