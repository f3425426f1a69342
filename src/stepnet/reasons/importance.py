"""Importance: which features can change the answers for rows, each feature alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.arithmetic import Bools, Floats
from stepnet.reasons.demand import Demand
from stepnet.reasons.one_feature import OneFeature
from stepnet.reasons.units import Model, read


@dataclass(frozen=True)
class Importance:
    """How often a feature alone decides.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    can_change : ndarray of bool, of shape (n_rows, n_features)
        Whether another number of this feature alone, within its range, changes the answer for the row; exact.
    low, high : ndarray of shape (n_features,)
        The ranges.
    """

    names: tuple[str, ...]
    can_change: Bools
    low: Floats
    high: Floats

    @property
    def shares(self) -> Floats:
        """For every feature, the share of rows whose answer it can change alone."""
        return np.asarray(self.can_change.mean(axis=0))

    def __str__(self) -> str:
        width, n_rows = max(map(len, self.names)), len(self.can_change)
        lines = [f"how often a feature alone, within its range, can change the answer ({n_rows} rows)"]
        for i in np.argsort(-self.shares, kind="stable").tolist():
            ends = f"{self.low[i]:g} to {self.high[i]:g}"
            lines.append(f"  {self.names[i]:<{width}}  {100 * self.shares[i]:5.1f} %  {ends}")
        stuck = int((~self.can_change.any(axis=1)).sum())
        return "\n".join([*lines, f"for {stuck} of {n_rows} rows no feature alone changes the answer"])


def importance(model: Any, X: Any, *, integer: Any = (), low: Any = None, high: Any = None) -> Importance:
    """Which features can change the answer for each row, one at a time; exact.

    Parameters
    ----------
    model : fitted classifier, or a fitted Pipeline that ends with one
    X : array-like of shape (n_rows, n_features)
    integer : sequence of feature names or numbers, or "all"
        Features that take integers only.
    low, high : number, dictionary of features and numbers, or sequence of one number per feature, optional
        Ranges of the features. Default: from the smallest to the largest number in ``X``.
    """
    known, rows, _ = read(model, X)
    return importance_of(known, rows, integer=integer, low=low, high=high)


def importance_of(known: Model, rows: Floats, *, integer: Any = (), low: Any = None, high: Any = None) -> Importance:
    """Of rows in the units of users."""
    demand = Demand.of(known, norm="l1", fixed=(), integer=integer, cost=None, low=low, high=high)
    lowest = np.where(np.isfinite(demand.low), demand.low, rows.min(axis=0))
    highest = np.where(np.isfinite(demand.high), demand.high, rows.max(axis=0))
    scan = OneFeature(known, lowest, highest, demand.is_integer)
    distinct, where = np.unique(rows, axis=0, return_inverse=True)
    return Importance(known.names, scan.can_change(distinct)[where.ravel()], lowest, highest)
