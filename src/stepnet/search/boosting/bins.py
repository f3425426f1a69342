"""Bins: the features of rows as small whole numbers, between cuts that trees may split at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats

_MOST = 255  # bins of a feature
_SAMPLE = 200_000  # rows that cuts are chosen from


@dataclass(frozen=True, eq=False)
class Bins:
    """The number of cuts that each feature of each row reaches (rows × features)."""

    codes: NDArray[np.uint8]
    cuts: tuple[Floats, ...]  # of every feature, rising

    @classmethod
    def of(cls, X: Floats, most: int = _MOST) -> Bins:
        """With a cut between any two neighbouring values, or at quantiles if there are too many values.

        ``X`` in an order that is as good as random: of many rows the first ones are looked at.
        """
        cuts = tuple(_cuts(column[:_SAMPLE].astype(np.float64), most - 1) for column in X.T)
        codes = np.empty(X.shape, dtype=np.uint8)
        for f, column in enumerate(X.T):
            codes[:, f] = np.searchsorted(cuts[f], column, side="right")
        return cls(codes, cuts)

    @property
    def n_bins(self) -> Any:
        return np.array([len(cuts) + 1 for cuts in self.cuts])


def _cuts(column: Floats, most: int) -> Floats:
    """Halfway between neighbouring values; if these are too many, below the values at evenly spaced ranks."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) < 2:
        return np.empty(0)
    chosen = np.arange(1, len(values))
    if len(chosen) > most:
        ranks = np.cumsum(counts)[:-1]  # rows below each value
        wanted = np.arange(1, most + 1) / (most + 1) * len(column)
        chosen = np.unique(np.searchsorted(ranks, wanted).clip(0, len(ranks) - 1)) + 1
    low, high = values[chosen - 1], values[chosen]
    halfway = low + (high / 2 - low / 2)
    return np.asarray(np.where(halfway > low, halfway, high))
