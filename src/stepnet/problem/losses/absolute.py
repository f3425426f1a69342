"""Absolute: the sum of absolute errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.problem.losses.piecewise_linear import PiecewiseLinearLoss


@dataclass(frozen=True)
class Absolute(PiecewiseLinearLoss):
    """The sum of absolute errors."""

    name = "absolute"
    measure = "absolute error"

    def slopes(self, targets: Floats) -> tuple[Floats, Floats]:
        return np.ones_like(targets), np.ones_like(targets)
