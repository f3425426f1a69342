"""Accuracy and probabilities on new rows: learned networks and ensembles against what people use for tables.

    python benchmarks/accuracy.py [--tables pima sonar | --group once] [--models "network 25" forest] [--report]

Public tables of KEEL and R (benchmarks/tables.py) and of scikit-learn, at most 5,000 rows of each, three stratified
folds. On the tables of TUNED settings were chosen. Those of TWICE were looked at when all settings were fixed, and
showed a defect: parts of a committee shared no equal rows, so that tables of few different rows were learned badly.
Those of ONCE were chosen after that was mended, by their descriptions, and looked at once. Every fit is a line of
results/accuracy.jsonl, and a run goes on where the last one ended; the tables of means and of paired differences are
printed and written to results/accuracy.txt.

Others are scikit-learn's defaults; features are standardised for networks, SVC and logistic regression. LightGBM takes
part where it is installed (pip install lightgbm). Seconds are CPU time of fit and predictions, on one thread. ECE is
the mean distance of confidence and accuracy in 15 bins of equal width; the Brier score is the sum over classes, halved.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from common import RESULTS
from stepnet import StepClassifier, StepEnsembleClassifier, warm_up
from tables import R_TABLES, load_table

TUNED = (
    *("australian", "banana", "bupa", "german", "ionosphere", "magic", "phoneme", "saheart", "spambase"),
    *("heart", "pima", "sonar", "tic-tac-toe", "vehicle1", "yeast1"),  # two classes
    *("contraceptive", "digits", "led7digit", "satimage", "segment", "splice", "vehicle", "vowel"),  # several
)
TWICE = (
    *("abalone9-18", "bands", "breast", "breast_cancer", "chess", "crx", "ecoli1", "glass0", "glass1", "haberman"),
    *("housevotes", "mammographic", "monk-2", "page-blocks0", "ring", "titanic", "twonorm"),
    *("vehicle3", "winequality-red-4", "wisconsin", "yeast3"),  # two classes
    *("hayes-roth", "letter", "marketing", "movement_libras", "optdigits", "penbased", "tae", "texture", "wine"),
)
ONCE = tuple(R_TABLES)
MOST_ROWS = 5_000
FILE = RESULTS / "accuracy.jsonl"
METRICS = {"accuracy": 1, "log loss": -1, "AUC": 1, "Brier": -1, "ECE": -1, "seconds": -1}  # 1: more is better


def scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def contenders() -> dict[str, Callable[[int], Any]]:
    found: dict[str, Callable[[int], Any]] = {
        "network 25": lambda seed: StepClassifier((25,), random_state=seed),
        "ensemble": lambda seed: StepEnsembleClassifier(random_state=seed),
        "logistic": lambda seed: scaled(LogisticRegression(max_iter=1000)),
        "MLP 25, 200": lambda seed: scaled(MLPClassifier((25,), max_iter=200, random_state=seed)),
        "MLP 25, 1000": lambda seed: scaled(MLPClassifier((25,), max_iter=1000, random_state=seed)),
        "SVC": lambda seed: scaled(SVC()),
        "forest": lambda seed: RandomForestClassifier(random_state=seed),
        "ExtraTrees": lambda seed: ExtraTreesClassifier(random_state=seed),
        "HistGB": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    }
    if "kinds" in inspect.signature(StepEnsembleClassifier).parameters:
        found["ensemble, no trees"] = lambda seed: StepEnsembleClassifier(kinds=("oblique", "bits"), random_state=seed)
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        found["LightGBM"] = lambda seed: LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
    return found


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    own = {"digits": load_digits, "breast_cancer": load_breast_cancer}
    return own[name](return_X_y=True) if name in own else load_table(name, MOST_ROWS)


def measured(model: Any, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray) -> dict[str, float]:
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        answers = model.predict(X_new)
        shares = model.predict_proba(X_new) if hasattr(model, "predict_proba") else None
    found = {"accuracy": float((answers == y_new).mean()), "seconds": time.process_time() - begin}
    known = np.isin(y_new, model.classes_)  # classes of few rows may have none in training
    if shares is None:
        values = model.decision_function(X_new)
        return found | ({"AUC": float(roc_auc_score(y_new, values))} if values.ndim == 1 else {})
    codes, shares = np.searchsorted(model.classes_, y_new[known]), shares[known]
    return found | probability_metrics(shares / shares.sum(axis=1, keepdims=True), codes)


def probability_metrics(shares: np.ndarray, codes: np.ndarray) -> dict[str, float]:
    n_classes = shares.shape[1]
    right, confidence = shares.argmax(axis=1) == codes, shares.max(axis=1)
    bins = np.minimum((confidence * 15).astype(int), 14)
    apart = [abs((right[bins == b] - confidence[bins == b]).sum()) for b in range(15)]
    truth = np.arange(n_classes) == codes[:, None]
    if n_classes == 2:
        auc = roc_auc_score(codes, shares[:, 1])
    else:
        there = [c for c in range(n_classes) if 0 < truth[:, c].sum() < len(truth)]
        auc = np.mean([roc_auc_score(truth[:, c], shares[:, c]) for c in there])
    return {
        "log loss": float(log_loss(codes, shares.clip(1e-15, 1), labels=np.arange(n_classes))),
        "AUC": float(auc),
        "Brier": float(((shares - truth) ** 2).sum(axis=1).mean() / 2),
        "ECE": float(sum(apart) / len(codes)),
    }


def run(tables: Iterable[str], models: Iterable[str], n_folds: int) -> None:
    """Fit what is not in the file yet."""
    done, ways = {(line["table"], line["fold"], line["model"]) for line in lines()}, contenders()
    FILE.parent.mkdir(exist_ok=True)
    for table in tables:
        X, y = load(table)
        for fold, (old, new) in enumerate(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y)):
            for name in models:
                if (table, fold, name) not in done:
                    found = measured(ways[name](fold), X[old], y[old], X[new], y[new])
                    with FILE.open("a") as file:
                        file.write(json.dumps({"table": table, "fold": fold, "model": name} | found) + "\n")
        print(table, flush=True)


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def means() -> dict[str, dict[str, dict[str, float]]]:
    """Metric, model, table: the mean over folds."""
    found: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for line in lines():
        for metric in METRICS:
            if metric in line:
                found[metric][line["model"]][line["table"]].append(line[metric])
    return {
        metric: {
            model: {table: float(np.mean(values)) for table, values in tables.items()} for model, tables in of.items()
        }
        for metric, of in found.items()
    }


def report(group: str, tables: tuple[str, ...]) -> str:
    """Means over the tables that every model of a metric has, and paired differences to stepnet's models."""
    found, text = means(), []
    names = list(contenders())
    have = [t for t in tables if all(t in found["accuracy"].get(name, {}) for name in names)] if found else []
    if not have:
        return f"\n{group}: no table was measured with all models yet\n"
    text.append(f"\n{group}: {len(have)} tables, three folds\n{'':20}" + "".join(f"{metric:>10}" for metric in METRICS))
    for name in names:
        cells = [[found[metric].get(name, {}).get(table, np.nan) for table in have] for metric in METRICS]
        text.append(
            f"{name:20}" + "".join(f"{np.mean(row):10.4f}" if np.isfinite(row).all() else f"{'-':>10}" for row in cells)
        )
    for own in [name for name in names if name.startswith(("network", "ensemble"))]:
        text.append(
            f"\n{own} less the other, mean ± standard error over tables\n{'':20}{'accuracy':>20}{'log loss':>20}"
        )
        for other in names:
            if other != own:
                text.append(
                    f"{other:20}"
                    + "".join(_difference(found[metric], own, other, have) for metric in ("accuracy", "log loss"))
                )
    return "\n".join(text) + "\n"


def _difference(found: dict[str, dict[str, float]], own: str, other: str, tables: list[str]) -> str:
    if not all(table in found.get(name, {}) for name in (own, other) for table in tables):
        return f"{'-':>20}"
    apart = np.array([found[own][table] - found[other][table] for table in tables])
    error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
    return f"{f'{apart.mean():+.4f} ± {error:.4f}':>20}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=(*TUNED, *TWICE, *ONCE), metavar="TABLE")
    parser.add_argument("--group", choices=("tuned", "twice", "once"), help="all tables of a group")
    parser.add_argument("--models", "--only", nargs="+", choices=list(contenders()), metavar="MODEL")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--report", action="store_true", help="only print what was measured")
    options = parser.parse_args()
    if not options.report:
        warm_up()  # before the clock starts
        tables = (
            options.tables
            or {"tuned": TUNED, "twice": TWICE, "once": ONCE, None: (*TUNED, *TWICE, *ONCE)}[options.group]
        )
        with threadpool_limits(1):
            run(tables, options.models or contenders(), options.folds)
    text = report("looked at once", ONCE) + report("looked at twice", TWICE) + report("tuned on", TUNED)
    print(text)
    (RESULTS / "accuracy.txt").write_text(text)


if __name__ == "__main__":
    main()
