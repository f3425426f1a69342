"""Equal rows with different classes: no classifier can have all of them right."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepnet.data import Dataset


def heaviest_of_group(dataset: Dataset) -> NDArray[np.bool_]:
    """For each group of equal rows the one of the heaviest class (the lowest code among equals)."""
    order = np.lexsort((dataset.y, -dataset.weights, dataset.group))
    is_first = np.r_[True, np.diff(dataset.group[order]) > 0]
    chosen = np.zeros(dataset.n_rows, dtype=bool)
    chosen[order[is_first]] = True
    return chosen


def conflict_bound(dataset: Dataset) -> float:
    """The weight that every classifier gets wrong: per group, all but its heaviest class."""
    return math.fsum(dataset.weights[~heaviest_of_group(dataset)])
