"""Limits on errors for provers: sums over wrong rows, in whole numbers of few bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stepnet.model.arithmetic import Bools, Ints
from stepnet.problem.problem import Problem

_BITS = 40  # of the sum of the coefficients of a limit


class Limit(NamedTuple):
    """``coefficients``·[row is wrong] <= ``most``."""

    coefficients: Ints
    most: int

    def holds(self, wrong: Bools) -> bool:
        return int(self.coefficients[wrong].sum()) <= self.most


def limits_of(problem: Problem) -> list[Limit]:
    """Those of a problem; coefficients of many digits are rounded down, so that no network is ruled out."""
    found = []
    for one in problem.constraints.inequalities:
        grain = 1 << max(0, sum(map(int, one.coefficients)).bit_length() - _BITS)
        found.append(Limit((one.coefficients // grain).astype(np.int64), one.most // grain))
    return found
