"""Breast Cancer Wisconsin (Original), as in the file of the paper."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

_FILLED_IN = 4.0  # replaces missing values in the paper's file


@dataclass(frozen=True)
class LabelledRows:
    """Rows (m × n), class codes, and the names of features and classes."""

    data: NDArray[np.float64]
    target: NDArray[np.int64]
    feature_names: list[str]
    target_names: list[str]


@overload
def load_breast_cancer_wisconsin(*, return_X_y: Literal[False] = False) -> LabelledRows: ...
@overload
def load_breast_cancer_wisconsin(*, return_X_y: Literal[True]) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...


def load_breast_cancer_wisconsin(
    *, return_X_y: bool = False
) -> LabelledRows | tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The 699 rows in the order of the paper's file; class 1 is malignant.

    They are sorted by ``bare_nuclei``; the 16 rows where it is missing come last, with the value 4. In this order
    ``train_test_split(X, y, test_size=0.2, random_state=42)`` gives the paper's split.
    """
    text = files("stepnet.datasets").joinpath("breast_cancer_wisconsin.csv").read_text(encoding="utf-8")
    header, *lines = csv.reader(text.splitlines())
    feature_names = header[1:-1]
    rows = np.array([[float(cell) if cell else np.nan for cell in line[1:-1]] for line in lines])
    codes = np.array([int(line[-1] == "malignant") for line in lines], dtype=np.int64)
    order = np.argsort(rows[:, feature_names.index("bare_nuclei")], kind="stable")  # NaN comes last
    rows, codes = np.nan_to_num(rows[order], nan=_FILLED_IN), codes[order]
    return (rows, codes) if return_X_y else LabelledRows(rows, codes, feature_names, ["benign", "malignant"])
