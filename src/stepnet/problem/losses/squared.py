"""Squared: the sum of squared errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats, Ints
from stepnet.problem.dataset import Targets
from stepnet.problem.losses.base import LastLayer, RealLoss
from stepnet.problem.losses.least_squares import least_squares
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_finite_number


@dataclass(frozen=True)
class Squared(RealLoss):
    """The sum of squared errors, plus ``ridge`` times the sum of the squared weights of the last layer."""

    ridge: float = 0.0

    name = "squared"
    measure = "squared error"
    pays_squares = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_finite_number(self.ridge) and self.ridge >= 0):
            raise InvalidInputError(f"ridge={self.ridge!r} must be a number >= 0.")

    def costs(self, values: Floats, y: Targets) -> Floats:
        errors: Floats = values - y
        return errors * errors

    def penalty(self, weights: Floats) -> float:
        return self.ridge * math.fsum((weights * weights).ravel()) if self.ridge else 0.0

    def best_constants(self, y: Targets, weights: Floats, group: Ints) -> Floats:
        totals = np.bincount(group, weights)
        return np.column_stack([np.bincount(group, weights * column) / totals for column in y.T])

    def last_layer(self, signals: Floats, y: Targets, weights: Floats, *, intercept: bool, budget: Budget) -> LastLayer:
        limit = self.largest_weight
        return least_squares(signals, y, weights, self.ridge, limit, intercept=intercept, budget=budget)
