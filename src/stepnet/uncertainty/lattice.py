"""The lattice of a row whose features move by whole steps: which moves there are, and how large they are.

Feature l may become x_l + s_l m_l for whole numbers m_l, within its range. A step is worth c_l = s_l / scale_l, and
sizes are counted in units so that they are whole numbers k:

    ℓ∞  max c_l |m_l| = k u      ℓ1  Σ c_l |m_l| = k u      ℓ2  Σ c_l² m_l² = k u²      ℓ0  |{l: m_l ≠ 0}| = k
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.uncertainty.ball import Ball

_MOST_UNITS = 1 << 30  # of one step
_FARTHEST = 1 << 30  # steps, where there is no range
_LOOSE = 1e-12


class Lattice:
    """One row; ``lowest <= m <= highest``."""

    def __init__(self, ball: Ball, row: Floats) -> None:
        n = len(row)
        self.ball, self.row, self.norm = ball, row, ball.norm
        self.steps = ball.lattice_steps(n)
        low, high = ball.limits(n)
        self.lowest = -self._whole(row - np.minimum(low, row))
        self.highest = self._whole(np.maximum(high, row) - row)
        if self.norm == "l0" and (np.minimum(self.lowest, -self.highest) <= -_FARTHEST).any():
            raise InvalidInputError("norm='l0' needs a range for every feature: give low= and high=.")
        self.costs, self.unit = self._units(ball.scales(n))
        self.groups = [np.array(group) for group in ball.groups or ()]
        self.in_group = np.zeros(n, dtype=bool)
        for group in self.groups:
            if (
                (group < 0).any()
                or (group >= n).any()
                or sorted(row[group].tolist()) != [0.0] * (len(group) - 1) + [1.0]
            ):
                raise InvalidInputError(
                    f"the features {group.tolist()} of a group must be one 1 and zeros otherwise in every row."
                )
            self.in_group[group] = True
            self.lowest[group], self.highest[group] = -row[group], 1 - row[group]

    def _whole(self, room: Floats) -> Ints:
        """How many steps fit."""
        steps = np.minimum(np.floor(room / self.steps * (1 + _LOOSE)), float(_FARTHEST))
        return np.asarray(steps - (steps * self.steps > room * (1 + _LOOSE)), dtype=np.int64)

    def _units(self, scales: Floats) -> tuple[Ints, Fraction]:
        """What a step of each feature is worth, as whole numbers of one unit."""
        if self.norm == "l0":
            return np.ones(len(scales), dtype=np.int64), Fraction(1)
        worth = [Fraction(a).limit_denominator(10**6) / Fraction(b).limit_denominator(10**6)
                 for a, b in zip(self.steps.tolist(), scales.tolist(), strict=True)]  # fmt: skip
        below = reduce(math.lcm, (one.denominator for one in worth))
        numbers = [int(one * below) for one in worth]
        common = reduce(math.gcd, numbers)
        if max(numbers) // common > _MOST_UNITS:
            raise InvalidInputError("steps and scales must be small multiples of one number; round them.")
        return np.array(numbers, dtype=np.int64) // common, Fraction(common, below)

    def size_of(self, k: int) -> float:
        """The size of a move of k units."""
        if self.norm == "l2":
            return float(self.unit) * math.sqrt(k)
        return float(self.unit * k)

    def units_below(self, size: float) -> int:
        """The largest k whose size is at most this one."""
        square = (Fraction(size) / self.unit) ** (2 if self.norm == "l2" else 1)
        return math.floor(square)

    def allows(self, moves: Ints) -> Bools:
        """Whether every group is still one category, for each row of moves within the limits."""
        sums = [moves[:, group].sum(axis=1) == 0 for group in self.groups]
        return np.asarray(np.all(sums, axis=0) if sums else np.ones(len(moves), dtype=bool))

    def units(self, moves: Ints) -> Ints:
        """k of each row of moves, exact; of a group that moves, the new category counts."""
        moves = np.where(self.in_group, np.maximum(moves, 0), moves)
        sizes = np.abs(moves) * self.costs
        if self.norm == "linf":
            return np.asarray(sizes.max(axis=-1))
        if self.norm == "l2":
            return np.asarray((sizes * sizes).sum(axis=-1))
        return np.asarray((moves != 0).sum(axis=-1) if self.norm == "l0" else sizes.sum(axis=-1))

    @property
    def most_units(self) -> int:
        """No move within the ranges has more; large, where there are none."""
        return int(self.units(np.maximum(-self.lowest, self.highest)[None].astype(object))[0])

    def limits(self, k: int) -> tuple[Ints, Ints]:
        """The moves of each feature within k units."""
        if self.norm == "l0":
            most = np.full(len(self.row), _FARTHEST if k >= 1 else 0)
        else:
            most = (math.isqrt(k) if self.norm == "l2" else k) // self.costs
        return np.maximum(self.lowest, -most), np.minimum(self.highest, most)

    def reach(self, weights: Floats, k: int) -> tuple[Floats, Floats]:
        """For each row of weights the largest w·δ and the largest -w·δ within k units, or a little more."""
        low, high = self.limits(k)
        ends = []
        for sign in (1.0, -1.0):
            gains = np.maximum(sign * weights * (self.steps * high), sign * weights * (self.steps * low))
            grouped = gains[:, self.in_group].sum(axis=1)  # taken as free: an old category costs nothing
            gains = np.where(self.in_group, 0.0, gains)
            whole = gains.sum(axis=1)
            if self.norm == "l0":
                whole = np.sort(gains, axis=1)[:, max(0, gains.shape[1] - k) :].sum(axis=1)
            elif self.norm == "l1":
                rates = np.where(gains > 0, np.abs(weights) * self.steps / self.costs, 0.0)
                whole = np.minimum(whole, rates.max(axis=1, initial=0.0) * k)
            elif self.norm == "l2":
                rates = np.where(gains > 0, np.abs(weights) * self.steps / self.costs, 0.0)
                whole = np.minimum(whole, np.sqrt((rates * rates).sum(axis=1) * k))
            ends.append(whole + grouped)
        return ends[0], ends[1]

    def points(self, moves: Ints) -> Floats:
        """The rows that moves lead to."""
        return np.asarray(self.row + moves * self.steps)
