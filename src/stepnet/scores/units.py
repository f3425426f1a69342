"""Units: the weights of rows as whole numbers, in which losses are added up without rounding."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from stepnet.problem.problem import Problem

_UNITS = 2**24  # that a loss is divided into, if the row weights have no common unit
_ROUNDING = 2.0**-48  # relative, of weights and losses in units


@dataclass(frozen=True)
class Units:
    """Weights rounded down to whole units, so that no network loses less than they say."""

    unit: float
    weights: NDArray[np.int64]
    is_exact: bool

    @classmethod
    def of(cls, problem: Problem, loss: float) -> Self | None:
        """For losses up to ``loss``; None if that is too small to be divided."""
        unit = problem.accuracy.step or loss / _UNITS
        if unit < sys.float_info.min:
            return None
        is_exact = bool(problem.accuracy.step)
        rounding = 0.0 if is_exact else _ROUNDING
        # A row that weighs as much as the loss is not lost by a better network.
        weights = np.minimum(problem.dataset.weights, loss) / unit * (1 - rounding)
        return cls(unit, np.floor(weights).astype(np.int64), is_exact)

    def most_below(self, loss: float) -> int:
        """The most units of a smaller loss."""
        return self.up_to(loss) - 1

    def up_to(self, loss: float) -> int:
        """The units of a loss."""
        return math.ceil(loss / self.unit * (1 - _ROUNDING))

    def loss(self, units: int) -> float:
        """A loss that is at least so many units is at least this."""
        return units * self.unit * (1.0 if self.is_exact else 1 - _ROUNDING)
