"""Merged networks equal the sums of their members, on every row of every table of accuracy.py.

    python benchmarks/members.py [--tables pima sonar]

A committee of each choice of kinds is trained on two thirds of a table, the first fold of accuracy.py. Its network and
its members are then asked about all rows of the table. Numbers of members lie on one grid of a power of two, so that
their sum in doubles is exact, and it is compared with that of the network by ==; the classes that follow from the sums
are compared with those of `predict`. Weights and thresholds are checked to lie on the grid, in integers. Writes
results/members.txt.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from accuracy import ONCE, TUNED, TWICE, load
from common import RESULTS
from stepnet import StepEnsembleClassifier, warm_up

KINDS = (("oblique", "trees"), ("oblique", "bits"))
_EXACT = 2**53  # sums of multiples of one number are exact up to so many of them


def is_on_one_grid(members) -> bool:
    """Whether all numbers of the last layers are multiples of one power of two whose sums doubles hold exactly."""
    lasts = [member.layers[-1] for member in members]
    numbers = np.concatenate([part.ravel() for last in lasts for part in (last.weights, last.thresholds)])
    numbers = numbers[numbers != 0]
    fractions, exponents = np.frexp(numbers)
    whole = np.ldexp(fractions, 53).astype(np.int64)
    lowest = int((exponents - 53 + np.frexp(whole & -whole)[1] - 1).min())  # the last binary digit of any of them
    return bool(sum(abs(int(number)) for number in np.ldexp(numbers, -lowest)) <= _EXACT)


def differences(ensemble, X) -> tuple[int, int]:
    """Rows whose numbers differ from the sum of the members', and rows whose class differs."""
    sums = np.sum([member.predict(X) for member in ensemble.members_], axis=0)
    codes = (sums[:, 0] >= 0).astype(int) if sums.shape[1] == 1 else sums.argmax(axis=1)
    n_numbers = (ensemble.network_.values(X) != sums).any(axis=1).sum()
    return int(n_numbers), int((ensemble.predict(X) != ensemble.classes_[codes]).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", default=[*TUNED, *TWICE, *ONCE])
    names = parser.parse_args().tables
    warnings.simplefilter("ignore")
    warm_up()
    totals = {kinds: np.zeros(4, dtype=int) for kinds in KINDS}
    begin = time.process_time()
    for name in names:
        X, y = load(name)
        train, _ = next(iter(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)))
        for kinds, total in totals.items():
            ensemble = StepEnsembleClassifier(kinds=kinds, random_state=0).fit(X[train], y[train])
            assert is_on_one_grid(ensemble.members_), name
            found = differences(ensemble, X)
            total += [1, len(X), *found]
            print(f"{name:20} {' + '.join(kinds):16} {len(X):6} rows, {found[0]} and {found[1]} differ", flush=True)
    shown = [
        f"{' + '.join(kinds)}: {n_tables} tables, {n_rows:,} rows; {n_numbers} rows whose numbers differ from the sum "
        f"of the members, {n_classes} rows whose class differs"
        for kinds, (n_tables, n_rows, n_numbers, n_classes) in totals.items()
    ]
    shown.append(f"{time.process_time() - begin:.0f} CPU s")
    print("\n".join(shown))
    (RESULTS / "members.txt").write_text("\n".join([f"tables: {' '.join(names)}", *shown]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
