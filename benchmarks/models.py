"""Every model, learned: whole and few weights, signs, staircases, given thresholds, and rows that may move.

    python benchmarks/models.py [weights] [signs] [others] [robust] [rows] [--prove 60]

weights  KEEL tables, standardised or on a published grid, at most 2,000 rows, three folds: accuracy by weight domain
         (hidden / output), CPU seconds of a fit, and bytes of the tables in exported C, there with rows on a grid of
         integers; with Grid() those of the grid itself are counted too
signs    tables where it is known that features only raise the answer, with and without Raises
others   the same tables as weights: few weights, staircases, thresholds that are given or shared, two hidden layers
robust   certified accuracy on test rows of learned networks and of `prove` with so many seconds, as in robust.py
rows     100,000 rows with a radius: CPU time of the fit, training and verification of the worst case
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robust import certified
from stepnet import Ball, Grid, Integers, Raises, Staircase, StepClassifier, warm_up
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.export import size_of
from tables import load_table

TABLES = ("german", "heart", "ionosphere", "phoneme", "pima", "ring", "spambase")
THREE = Integers(3)
STANDARD = StandardScaler()
WEIGHTS = {
    "real, 25 neurons": {},
    "real, 50 neurons": {"hidden": (50,)},
    "Integers(3)": {"weights": THREE},
    "Integers(3) / real": {"weights": (THREE, "real")},
    "ternary, 25 neurons": {"weights": "ternary"},
    "ternary, 50 neurons": {"weights": "ternary", "hidden": (50,)},
    "real / ternary": {"weights": ("real", "ternary")},
    "sign, 25 neurons": {"weights": "sign"},
    "sign, 50 neurons": {"weights": "sign", "hidden": (50,)},
    "binary / real": {"weights": ("binary", "real")},
    "real, Grid()": {"scaler": Grid()},
    "Integers(3), Grid()": {"weights": THREE, "scaler": Grid()},
    "Integers(3), Grid(limit=12)": {"weights": THREE, "scaler": Grid(limit=12)},
    "ternary, 25 neurons, Grid()": {"weights": "ternary", "scaler": Grid()},
    "ternary, 50 neurons, Grid()": {"weights": "ternary", "hidden": (50,), "scaler": Grid()},
}
OTHERS = {
    "real, 25 neurons": {},
    "sparsity=100": {"sparsity": 100},
    "sparsity=40": {"sparsity": 40},
    "sparsity=(50, None)": {"sparsity": (50, None)},
    "sparsity=60, Integers(3)": {"sparsity": 60, "weights": THREE},
    "Staircase((0, 1, 2))": {"activation": Staircase((0, 1, 2))},
    "Staircase((0, 1, 0))": {"activation": Staircase((0, 1, 0))},
    "Staircase, thresholds -0.5, 0.5": {"activation": Staircase((0, 1, 2), (-0.5, 0.5))},
    "threshold=0.0": {"threshold": 0.0},
    "threshold=0.0, ternary": {"threshold": 0.0, "weights": "ternary"},
    'threshold="layer", Integers(3)': {"threshold": "layer", "weights": THREE},
    "hidden=(10, 10)": {"hidden": (10, 10)},
    "hidden=(10, 10), Integers(3)": {"hidden": (10, 10), "weights": THREE},
}
RISING = {  # the columns that are known to raise the answer
    "mammographic": (0, 1, 2, 3),
    "pima": (1, 5, 6, 7),
    "saheart": (1, 2, 8),
    "wisconsin": tuple(range(9)),
}


def folds(X, y, scaler):
    """Scaled rows of training and testing."""
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        scaler = clone(scaler).fit(X[train])
        yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def measured(X, y, scaler=STANDARD, **choices) -> tuple[float, float]:
    """Accuracy and CPU time of a fit, on average over the folds."""
    found = []
    for X_train, y_train, X_test, y_test in folds(X, y, scaler):
        begin = time.process_time()
        model = StepClassifier(**{"hidden": (25,), "random_state": 0} | choices).fit(X_train, y_train)
        seconds = time.process_time() - begin
        assert model.result_.found_by == "learning"
        assert model.problem(X_train, y_train).refuses(model.network_) is None
        found.append((model.score(X_test, y_test), seconds))
    return tuple(np.mean(found, axis=0))


def exported_bytes(X, y, scaler=STANDARD, **choices) -> int:
    """Of the tables in C, for a model of rows on a grid of a quarter of a standard deviation."""
    if scaler is not STANDARD:
        model = StepClassifier(**{"hidden": (25,), "random_state": 0} | choices)
        return int(size_of(make_pipeline(clone(scaler), model).fit(X, y)).bytes)
    rows = np.rint(4 * StandardScaler().fit_transform(X))
    model = StepClassifier(**{"hidden": (25,), "random_state": 0} | choices).fit(rows, y)
    is_whole = all((layer.weights == np.rint(layer.weights)).all() for layer in model.network_.layers[:-1])
    return int(size_of(model, "integers" if is_whole else "floats").bytes)


def compared(kinds) -> None:
    data = [load_table(name, 2_000) for name in TABLES]
    print(
        f"{'':32} {'mean':>6} {'less real':>9} {'CPU s':>6} {'bytes':>6}  " + " ".join(f"{name:>10}" for name in TABLES)
    )
    first = None
    for name, choices in kinds.items():
        found = np.array([measured(X, y, **choices) for X, y in data])
        mean, n_bytes = found[:, 0].mean(), np.mean([exported_bytes(X, y, **choices) for X, y in data])
        first = mean if first is None else first
        cells = " ".join(f"{accuracy:10.3f}" for accuracy in found[:, 0])
        print(
            f"{name:32} {mean:6.4f} {mean - first:+9.4f} {found[:, 1].mean():6.2f} {n_bytes:6.0f}  {cells}",
            flush=True,
        )


def signs() -> None:
    print(f"\n{'':16} {'free':>6} {'Raises':>7} {'Raises, Integers(3)':>20}")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 6))
    score = np.maximum(X[:, 0], X[:, 1]) + np.minimum(X[:, 2], 0.5) + 0.5 * X[:, 3]
    planted = X, (score + rng.normal(size=1_000) * 0.5 > 0.8).astype(int)
    sets = {name: (*load_table(name, 2_000), columns) for name, columns in RISING.items()}
    found = []
    for name, (X, y, columns) in {**sets, "planted": (*planted, (0, 1, 2, 3))}.items():
        assert all(np.corrcoef(X[:, c], y)[0, 1] > 0 for c in columns), name
        rules = [Raises(c) for c in columns]
        kinds = ({}, {"constraints": rules}, {"constraints": rules, "weights": THREE})
        found.append([measured(X, y, **kind)[0] for kind in kinds])
        print(f"{name:16} {found[-1][0]:6.3f} {found[-1][1]:7.3f} {found[-1][2]:20.3f}", flush=True)
    mean = np.mean(found, axis=0)
    print(f"{'mean':16} {mean[0]:6.4f} {mean[1]:7.4f} {mean[2]:20.4f}")


def robust(prove: float) -> None:
    X, y = load_digits(return_X_y=True)
    pair = np.isin(y, (4, 9))
    cases = [
        ("Breast Cancer", load_breast_cancer_wisconsin(return_X_y=True), (0.5, 1.0, 1.5), {}, 25),
        ("digits 4/9", (X[pair], y[pair]), (1.0, 2.0), {"low": 0.0, "high": 16.0}, 10),
    ]
    print("\nthree splits of 20 % for testing, linf; accuracy / certified at the radius, CPU seconds of a fit")
    for name, (X, y), radii, ends, width in cases:
        for radius in radii:
            line, ball = f"{name}, {width} neurons, radius {radius:g}", Ball("linf", radius, **ends)
            print(f"{line:40}", end="")
            kinds = [("plain", {}), ("learn", {"uncertainty": ball})]
            if prove:
                kinds.append(("prove", {"uncertainty": ball, "method": "prove", "time_limit": prove}))
            for label, choices in kinds:
                found = []
                for seed in range(3):
                    parts = train_test_split(X, y, test_size=0.2, random_state=42 + seed)
                    X_train, X_test, y_train, y_test = parts
                    begin = time.process_time()
                    model = StepClassifier((width,), random_state=0, **choices).fit(X_train, y_train)
                    seconds = time.process_time() - begin
                    found.append((model.score(X_test, y_test), certified(model, X_test, y_test, ball), seconds))
                accuracy, share, seconds = np.mean(found, axis=0)
                print(f"  {label} {accuracy:.3f} / {share:.3f}, {seconds:.2f} s", end="", flush=True)
            print()


def rows() -> None:
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(100_000, 20)), rng.normal(size=(6, 20))
    y = ((X @ W.T > 0).sum(axis=1) >= 3) ^ (rng.random(100_000) < 0.1)
    print("\n100,000 rows, 20 features, planted, 10 % flipped, 25 neurons")
    for ball in (Ball("linf", 0.02), Ball("linf", 0.1), Ball("l2", 0.05), Ball("l1", 0.1)):
        for hidden in ((25,), (10, 10)):
            begin = time.process_time()
            model = StepClassifier(hidden, uncertainty=ball, random_state=0, time_limit=600).fit(X, y)
            seconds = time.process_time() - begin
            worst = model.problem(X, y).worst_case(model.network_)
            n_open = int((worst.uppers > worst.costs).sum())
            print(
                f"{ball.norm:>5} {ball.radius:5g} {hidden!s:>9}: {seconds:5.1f} CPU s, worst-case loss "
                f"{model.certificate_.loss:g}, {n_open} rows with an upper bound only, without perturbations "
                f"{(model.predict(X) != y).sum()}",
                flush=True,
            )


def main() -> None:
    parts = {
        "weights": lambda: compared(WEIGHTS),
        "signs": signs,
        "others": lambda: compared(OTHERS),
        "robust": lambda: robust(options.prove),
        "rows": rows,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--prove", type=float, default=60.0, help="seconds for each proof; 0: none")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warm_up()
    for name in options.parts or parts:
        print(f"\npython benchmarks/models.py {name}", flush=True)
        parts[name]()


if __name__ == "__main__":
    main()
