"""Regression: planted steps recovered, optima proven by two solvers, and diabetes against other models.

    python benchmarks/regression.py [--only planted proven diabetes]

Planted: 200 rows of three random step neurons in four features, from ten seeds. Proven: 3 features, 2 neurons,
10 rows of noise, squared errors by SCIP and by outer approximation on HiGHS. Diabetes: five folds of three
shuffles; the tree's leaves are chosen by cross-validation inside the training rows, the MLP has scaled inputs
and target.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from stepnet import Exact, StepRegressor

MODELS = {
    "StepRegressor(method='learn')": StepRegressor(method="learn", random_state=0),
    "decision tree": GridSearchCV(
        DecisionTreeRegressor(random_state=0), {"max_leaf_nodes": [2, 3, 4, 6, 8, 12, 16, 24, 32]}, cv=5
    ),
    "MLPRegressor(25)": TransformedTargetRegressor(
        make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(25,), max_iter=1000, random_state=0)),
        transformer=StandardScaler(),
    ),
    "random forest": RandomForestRegressor(random_state=0),
    "ridge": make_pipeline(StandardScaler(), RidgeCV(np.geomspace(0.1, 1000, 20))),
}


def planted() -> None:
    print(f"{'seed':>4} {'loss':>9} {'status':>9} {'seconds':>8}")
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 4))
        bits = X @ rng.normal(size=(4, 3)) >= rng.normal(size=3) / 2
        model = StepRegressor((3,), method="prove", random_state=0).fit(X, bits @ rng.normal(size=3) + 1.0)
        certificate = model.certificate_
        print(f"{seed:4} {certificate.loss:9.1e} {certificate.status:>9} {certificate.runtime:8.2f}", flush=True)


def proven() -> None:
    print(f"{'seed':>4} {'solver':>6} {'loss':>12} {'bound':>12} {'status':>9} {'seconds':>8}")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y, losses = rng.normal(size=(10, 3)), rng.normal(size=10), []
        for solver in ("scip", "highs"):
            method = Exact(formulation="tight", solver=solver)
            certificate = StepRegressor((2,), method=method, time_limit=300, random_state=0).fit(X, y).certificate_
            losses.append(certificate.loss)
            print(
                f"{seed:4} {solver:>6} {certificate.loss:12.9f} {certificate.bound:12.9f} {certificate.status:>9} "
                f"{certificate.runtime:8.2f}",
                flush=True,
            )
        print(f"     they differ by {abs(losses[0] - losses[1]):.1e}")


def diabetes() -> None:
    X, y = load_diabetes(return_X_y=True)
    print(f"{'model':30} {'R²':>6} {'seconds a fit':>14}")
    for name, model in MODELS.items():
        scores, begin = [], time.perf_counter()
        for seed in range(3):
            scores.extend(cross_val_score(model, X, y, cv=KFold(5, shuffle=True, random_state=seed)))
        seconds = (time.perf_counter() - begin) / len(scores)
        print(f"{name:30} {np.mean(scores):6.3f} {seconds:14.2f}", flush=True)


def main() -> None:
    parts = {"planted": planted, "proven": proven, "diabetes": diabetes}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(parts), default=list(parts))
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in parser.parse_args().only:
        print(f"\n{name}")
        parts[name]()


if __name__ == "__main__":
    main()
