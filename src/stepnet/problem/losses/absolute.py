"""Absolute: the sum of absolute errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.problem.dataset import Numbers, Targets
from stepnet.problem.losses.piecewise_linear import PiecewiseLinearLoss


@dataclass(frozen=True)
class Absolute(PiecewiseLinearLoss):
    """The sum of absolute errors."""

    name = "absolute"
    measure = "absolute error"

    def slopes(self, targets: Floats) -> tuple[Floats, Floats]:
        return np.ones_like(targets), np.ones_like(targets)

    def best_constants(self, y: Targets, weights: Floats, group: Numbers) -> Floats:
        return np.column_stack([_medians(column, weights, group) for column in y.T])


def _medians(values: Floats, weights: Floats, group: Numbers) -> Floats:
    """The weighted median of each group: the first value with half of the group's weight at or below it."""
    order = np.lexsort((values, group))
    halves = np.bincount(group, weights) / 2
    # Shares of the group's own half, so that heavy groups do not drown light ones.
    below = np.cumsum(weights[order] / halves[group[order]]) - 2.0 * group[order]
    medians = np.empty(len(halves))
    medians[group[order]] = values[order]  # the last of each group, should rounding hide the half
    first = order[below >= 1.0][::-1]  # the first of each group is written last
    medians[group[first]] = values[first]
    return medians
