"""Merged rows: the rows that neurons divide, each point once, and their weights in whole units."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.provers.bits import Words
from stepnet.provers.correct_sets import correct_sets, independent_axes
from stepnet.provers.oracle import integer_rows
from stepnet.provers.row_weights import RowWeights
from stepnet.provers.use import Booleans, Use

_FIRST_ROWS = 50  # that show the dimension of most data
_UNITS = 2**24  # that the best loss is divided into, if the row weights have no common unit
_FEWEST_UNITS = 2**18
_ROUNDING = 2.0**-48  # relative, of weights and losses in units


@dataclass(frozen=True)
class Units:
    """Row weights rounded down to whole units, so that no network loses less than they say."""

    unit: float
    integers: NDArray[np.int64]
    weights: Floats
    rounding: float

    @classmethod
    def of(cls, problem: Problem, loss: float) -> Units | None:
        """For losses up to ``loss``; None if that is almost 0."""
        unit, weights = problem.accuracy.step or loss / _UNITS, problem.dataset.weights
        if unit < sys.float_info.min:
            return None
        rounding = 0.0 if problem.accuracy.step else _ROUNDING
        integers = np.floor(np.minimum(weights, loss) / unit * (1 - rounding)).astype(np.int64)
        return cls(unit, integers, weights, rounding)

    def below(self, loss: float) -> int:
        """The largest number of units below a loss."""
        return math.ceil(loss / self.unit * (1 - _ROUNDING)) - 1

    def are_fine_for(self, loss: float) -> bool:
        """Whether a loss that has fallen still has enough units."""
        return self.rounding == 0.0 or loss > self.unit * _FEWEST_UNITS

    def loss_of(self, least: int, loss: float) -> float:
        """The loss that no network is below, if none loses less than so many units; at most the best ``loss``."""
        value = least * self.unit
        return min(loss, max(value, RowWeights.of(self.weights, loss).round_up(value * (1 - self.rounding))))


@dataclass(frozen=True)
class MergedRows:
    """The rows that are divided: their numbers, whether neurons must be on for them, and their weights in units.

    Without limits on errors, equal rows of both classes are one row of the heavier class, with the difference of their
    weights: a network gives them one answer, so that the lighter weight is lost in any case.
    """

    data: Dataset
    numbers: NDArray[np.int64]
    units: NDArray[np.int64]
    lost: int = 0
    is_limited: bool = False

    @classmethod
    def of(cls, data: Dataset, units: NDArray[np.int64], *, is_limited: bool = False) -> MergedRows:
        if is_limited:
            return cls(data, np.arange(data.n_rows), units, is_limited=is_limited)
        on = np.asarray(data.y == 1)
        totals = np.zeros((2, int(data.group[-1]) + 1), dtype=np.int64)
        np.add.at(totals, (on.astype(np.int64), data.group), units)
        heavier = np.flatnonzero(on == (totals[1] > totals[0])[data.group])
        numbers = heavier[np.unique(data.group[heavier], return_index=True)[1]]
        left = np.abs(totals[1] - totals[0])[data.group[numbers]]
        is_kept = left > 0
        is_kept[0] |= not is_kept.any()  # there are sets of no rows, but not of nothing
        return cls(data, numbers[is_kept], left[is_kept], int(totals.min(axis=0).sum()))

    @cached_property
    def on(self) -> Booleans:
        return np.asarray(self.data.y[self.numbers] == 1)

    def sets(self, width: int, most: int, should_stop: Callable[[], bool]) -> Words | None:
        """The sets that neurons can get right, as far as they are of use for a loss of at most ``most``."""
        use = Use.of(self.on, self.units, width, most - self.lost, is_limited=self.is_limited)
        return correct_sets(integer_rows(self.data.X[self.numbers]), self.on, use, should_stop)

    def members(self, words: Words) -> NDArray[np.int64]:
        """The numbers of the rows of a set."""
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[: len(self.numbers)]
        found: NDArray[np.int64] = self.numbers[bits.astype(bool)]
        return found


def dimension(data: Dataset, most: int) -> int:
    """The dimension of what the rows span, exactly; ``most`` if it is no smaller than that."""
    first = independent_axes(integer_rows(data.X[:_FIRST_ROWS]), most)
    if len(first) == most or len(first) == data.n_features or data.n_rows <= _FIRST_ROWS:
        return len(first)
    return len(independent_axes(integer_rows(data.X), most))
