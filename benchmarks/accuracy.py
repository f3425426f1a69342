"""Accuracy on new rows: learned networks and ensembles against the usual classifiers, in one run.

    python benchmarks/accuracy.py [--shuffles 30] [--folds 5]

Breast Cancer over shuffles of the paper's file, then scikit-learn's own data and made data with flipped
labels, five folds each. "MLP" is StandardScaler + MLPClassifier((25,), max_iter=200).
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from stepnet import StepClassifier, StepEnsembleClassifier, warm_up
from stepnet.datasets import load_breast_cancer_wisconsin

MODELS = {
    "learn": lambda seed: StepClassifier((25,), method="learn", random_state=seed),
    "ensemble": lambda seed: StepEnsembleClassifier(random_state=seed),
    "MLP": lambda seed: make_pipeline(StandardScaler(), MLPClassifier((25,), max_iter=200, random_state=seed)),
    "MLP, unscaled": lambda seed: MLPClassifier((25,), max_iter=200, random_state=seed),
    "logistic": lambda seed: make_pipeline(StandardScaler(), LogisticRegression()),
    "SVC": lambda seed: make_pipeline(StandardScaler(), SVC()),
    "forest": lambda seed: RandomForestClassifier(random_state=seed),
}


def other_data() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    digits, wine = load_digits(), load_wine()
    pair = np.isin(digits.target, (4, 9))
    sets = {
        "breast_cancer": load_breast_cancer(return_X_y=True),
        "digits even": (digits.data, digits.target % 2),
        "digits 4/9": (digits.data[pair], (digits.target[pair] == 9).astype(int)),
        "wine": (wine.data, (wine.target == 1).astype(int)),
    }
    for flip in (0.0, 0.1, 0.2):
        made = make_classification(1500, 20, n_informative=8, flip_y=2 * flip, class_sep=1.0, random_state=0)
        sets[f"made, {flip:.0%} flipped"] = made
    return sets


def measure(name, X_train, y_train, X_test, y_test, seed) -> tuple[float, float]:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name](seed).fit(X_train, y_train)
    return model.score(X_test, y_test), time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shuffles", type=int, default=30)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    warm_up()  # before the clock starts
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in MODELS}
    for seed in range(options.shuffles):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
        for name, found in scores.items():
            found.append(measure(name, X_train, y_train, X_test, y_test, seed))
    print(f"Breast Cancer, {options.shuffles} shuffles (paper: heuristic 93.2 / 97.1 / 85.0, DNN 89.1 / 91.4 / 85.7)")
    for name, found in scores.items():
        values, times = np.array(found).T
        low, high = 100 * values.min(), 100 * values.max()
        print(f"  {name:14} {100 * values.mean():6.2f} %  (max {high:.1f}, min {low:.1f})  {np.median(times):6.2f} s")
    print(f"\n{'accuracy, seconds':22}" + "".join(f"{name:>17}" for name in MODELS), flush=True)
    totals: dict[str, list[tuple[float, float]]] = {name: [] for name in MODELS}
    for data_name, (X_data, y_data) in other_data().items():
        line = f"{data_name:22}"
        folds = list(StratifiedKFold(options.folds, shuffle=True, random_state=0).split(X_data, y_data))
        for name in MODELS:
            results = [measure(name, X_data[a], y_data[a], X_data[b], y_data[b], 0) for a, b in folds]
            accuracy, seconds = np.mean(results, axis=0)
            totals[name].append((accuracy, seconds))
            line += f"  {accuracy:7.4f} {seconds:6.2f} s"
        print(line, flush=True)
    print(f"{'mean':22}" + "".join("  {:7.4f} {:6.2f} s".format(*np.mean(totals[name], axis=0)) for name in MODELS))


if __name__ == "__main__":
    main()
