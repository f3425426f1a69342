"""Absolute: the sum of absolute errors."""

from __future__ import annotations

from dataclasses import dataclass

from stepnet.problem.losses.piecewise_linear import PiecewiseLinearLoss


@dataclass(frozen=True)
class Absolute(PiecewiseLinearLoss):
    """The sum of absolute errors."""

    name = "absolute"
    measure = "absolute error"
