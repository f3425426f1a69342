"""Several classes: iris and wine proven; digits against the MLP; few images a class against a linear SVM.

    python benchmarks/multiclass.py [--only proven digits few]

MLP is StandardScaler and MLPClassifier((25,), max_iter=200). The default for learned networks is one
output per class with 25 neurons for every two classes; "one_vs_one" has 25 neurons for each of 45 pairs.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from stepnet import StepClassifier

MODELS = {
    "one_vs_one": StepClassifier((25,), output="one_vs_one", random_state=0),
    "auto": StepClassifier((25,), random_state=0),
    "one_hot": StepClassifier((25,), output="one_hot", random_state=0),
    "MLP": make_pipeline(StandardScaler(), MLPClassifier((25,), max_iter=200, random_state=0)),
    "linear SVM": make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
}


def proven() -> None:
    print(f"{'data':5} {'output':>11} {'hidden':>7} {'loss':>5} {'bound':>6} {'status':>9} {'seconds':>8}  scope")
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        X, y = load(return_X_y=True)
        for output in ("one_vs_one", "one_hot", "ordinal"):
            for width in (2, 5):
                classifier = StepClassifier((width,), output=output, method="prove", random_state=0, time_limit=20).fit(
                    X, y
                )
                c = classifier.certificate_
                print(
                    f"{name:5} {output:>11} {width:7} {c.loss:5g} {c.bound:6g} {c.status:>9} "
                    f"{c.runtime:8.2f}  {c.scope}",
                    flush=True,
                )


def digits() -> None:
    X, y = load_digits(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    print("\ndigits, ten classes, five folds")
    for name, model in MODELS.items():
        begin = time.perf_counter()
        score = cross_val_score(model, X, y, cv=folds).mean()
        print(f"  {name:11} {score:.4f}  {(time.perf_counter() - begin) / 5:6.1f} s a fold", flush=True)


def few() -> None:
    X, y = load_digits(return_X_y=True)
    print("\ndigits, 10 images a class, mean over five draws")
    for name, model in MODELS.items():
        scores = []
        for draw in range(5):
            rng = np.random.default_rng(draw)
            train = np.concatenate([rng.permutation(np.flatnonzero(y == code))[:10] for code in range(10)])
            test = np.setdiff1d(np.arange(len(y)), train)
            scores.append(model.fit(X[train], y[train]).score(X[test], y[test]))
        print(f"  {name:11} {np.mean(scores):.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=("proven", "digits", "few"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name, part in {"proven": proven, "digits": digits, "few": few}.items():
        if options.only is None or name in options.only:
            part()


if __name__ == "__main__":
    main()
