"""When is a network of the smallest training loss worse on new rows than a learned one?

    python benchmarks/rows_per_weight.py [--seconds 4]

Fits of both kinds on 70 % of the rows of development tables, with 1 to 25 neurons; the gain is the accuracy of the
learned network on the other 30 %, less that of the proven one. Certificates warn where rows per weight are few.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import pairwise

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.model_selection import train_test_split

from common import RESULTS
from stepnet import StepClassifier
from tables import load_table

TABLES = (
    *("australian", "bands", "banana", "bupa", "german", "haberman", "heart", "ionosphere", "mammographic", "monk-2"),
    *("phoneme", "pima", "ring", "saheart", "sonar", "tic-tac-toe", "titanic", "twonorm", "wisconsin", "yeast1"),
)
EDGES = (0, 0.5, 1, 2.5, 5, 10, 20, 50, np.inf)


def data() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    wine, digits = load_wine(), load_digits()
    pair = np.isin(digits.target, (4, 9))
    X, Z = rng.normal(size=(400, 4)), rng.normal(size=(600, 6))
    either = (Z @ rng.normal(size=6) > 0.3) | (Z @ rng.normal(size=6) > 1.5)
    return {name: load_table(name, most=1_000) for name in TABLES} | {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "wine": (wine.data, wine.target == 1),
        "digits 4/9": (digits.data[pair], digits.target[pair] == 9),
        "digits even": (digits.data[:800], digits.target[:800] % 2),
        "two neurons": (X, (X[:, 0] + X[:, 1] > 0.3) & (X[:, 2] - X[:, 3] > -0.5)),
        "either": (Z, either),
        "either, 10 % flipped": (Z, either ^ (rng.random(600) < 0.1)),
        "moons": make_moons(500, noise=0.15, random_state=0),
        "noise": (rng.normal(size=(300, 5)), rng.integers(0, 2, 300)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0)
    seconds = parser.parse_args().seconds
    warnings.simplefilter("ignore")
    found = []
    for name, (X, y) in data().items():
        train_X, test_X, train_y, test_y = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
        for hidden in ((), (2,), (3,), (5,), (10,), (25,)):
            learned = StepClassifier(hidden, method="learn", random_state=0).fit(train_X, train_y)
            proven = StepClassifier(hidden, method="prove", time_limit=seconds, random_state=0).fit(train_X, train_y)
            per_weight = len(train_y) / proven.certificate_.n_weights
            found.append((per_weight, learned.score(test_X, test_y) - proven.score(test_X, test_y)))
            print(f"{name:22} {hidden!s:6} rows per weight {per_weight:6.2f}  gain {found[-1][1]:+.3f}", flush=True)
    per_weight, gain = np.transpose(found)
    lines = [f"{'rows per weight':>16} {'fits':>5} {'mean gain':>10} {'gain > .02':>11} {'gain < 0':>9} {'< -.01':>7}"]
    for low, high in pairwise(EDGES):
        here = gain[(per_weight >= low) & (per_weight < high)]
        if len(here):
            shares = f"{np.mean(here > 0.02):11.2f} {np.mean(here < 0):9.2f} {np.mean(here < -0.01):7.2f}"
            lines.append(f"{f'{low:g} to {high:g}':>16} {len(here):5} {here.mean():+10.3f} {shares}")
    print("\n".join(lines))
    (RESULTS / "rows_per_weight.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
