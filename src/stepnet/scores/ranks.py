"""Ranks: the rows in the order of every feature, which is all that rules on one feature can see.

A literal is a feature with a direction: ``2 f`` is "feature f is at least", ``2 f + 1`` "feature f is at most". A rule
is a literal and a cut: it is on where the rank of the row among the values of the feature, counted in the direction of
the literal, is at least the cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Bools, Floats
from stepnet.problem.dataset import Dataset
from stepnet.scores.card import Card, Rule
from stepnet.scores.cuts import CutPoints

Int32s = NDArray[np.int32]


class Table(NamedTuple):
    """The rows for kernels."""

    ranks: Int32s  # literals × rows
    cuts: Int32s  # literals × the most cuts
    n_cuts: NDArray[np.int64]  # of each literal
    below: NDArray[np.int64]  # literals × the most cuts: the weight of the rows below a cut
    order: Int32s  # features × rows: the rows in rising order
    ends: Bools  # features × rows: whether the next row in this order has a larger value
    on: Bools  # rows of class 1
    weights: NDArray[np.int64]  # of rows, in units


@dataclass(frozen=True)
class Ranks:
    """The values of the features of a data set, in order, and the place of every row among them."""

    values: tuple[Floats, ...]  # of each feature
    ranks: Int32s  # features × rows

    @classmethod
    def of(cls, dataset: Dataset) -> Ranks:
        found = [np.unique(np.asarray(column, dtype=np.float64), return_inverse=True) for column in dataset.X.T]
        return cls(tuple(values for values, _ in found), np.array([one.ravel() for _, one in found], dtype=np.int32))

    @property
    def largest(self) -> Int32s:
        """The largest rank of each feature."""
        return np.array([len(values) - 1 for values in self.values], dtype=np.int32)

    @property
    def literals(self) -> Int32s:
        """Literals × rows."""
        both = np.stack([self.ranks, self.largest[:, None] - self.ranks], axis=1)
        return np.ascontiguousarray(both.reshape(-1, self.ranks.shape[1]))

    def relaxed(self, on: Bools, weights: NDArray[np.int64]) -> Table:
        """The table for functions of rules that may fall: one direction, with the cuts of both."""
        table = self.table(on, weights)
        most = max(1, int(self.largest.max(initial=1)))
        cuts, below = np.zeros((len(table.cuts), most), np.int32), np.zeros((len(table.cuts), most), np.int64)
        n_cuts = np.zeros(len(table.cuts), np.int64)
        for feature, largest in enumerate(self.largest.tolist()):
            up = table.cuts[2 * feature, : table.n_cuts[2 * feature]]
            down = largest + 1 - table.cuts[2 * feature + 1, : table.n_cuts[2 * feature + 1]]
            own = np.union1d(up, down)
            totals = np.concatenate([[0], np.cumsum(np.bincount(self.ranks[feature], weights))]).astype(np.int64)
            n_cuts[2 * feature] = len(own)
            cuts[2 * feature, : len(own)], below[2 * feature, : len(own)] = own, totals[own]
        return table._replace(cuts=cuts, below=below, n_cuts=n_cuts)

    def table(self, on: Bools, weights: NDArray[np.int64]) -> Table:
        """With the cuts that can be best below a monotone gate.

        A rule that is on for one more row of class 1, or off for one more of class 0, is never worse. So there is a row
        of class 1 just above the cut, and one of class 0 just below, or the rule is always on or off.
        """
        literals = self.literals
        cuts = [_cuts(one, on) for one in literals]
        most = max(1, *map(len, cuts))
        padded = np.zeros((len(cuts), most), dtype=np.int32)
        below = np.zeros((len(cuts), most), dtype=np.int64)
        for number, (one, ranks) in enumerate(zip(cuts, literals, strict=True)):
            padded[number, : len(one)] = one
            totals = np.concatenate([[0], np.cumsum(np.bincount(ranks, weights))]).astype(np.int64)
            below[number, : len(one)] = totals[one]
        order = np.argsort(self.ranks, axis=1, kind="stable").astype(np.int32)
        sorted_ranks = np.take_along_axis(self.ranks, order, axis=1)
        ends = np.zeros(order.shape, dtype=bool)
        ends[:, :-1] = sorted_ranks[:, 1:] > sorted_ranks[:, :-1]
        n_cuts = np.array(list(map(len, cuts)), dtype=np.int64)
        return Table(literals, padded, n_cuts, below, order, ends, np.asarray(on), weights)

    def rule(self, literal: int, cut: int, points: int, cut_points: CutPoints) -> Rule:
        """A rule of ranks in the units of the rows."""
        feature, is_at_least = literal // 2, literal % 2 == 0
        upper = cut if is_at_least else len(self.values[feature]) - cut
        low, high = self.values[feature][upper - 1 : upper + 1].tolist()
        return Rule(feature, is_at_least, cut_points.within(low, high, is_at_least=is_at_least), points)

    def places(self, card: Card) -> list[tuple[int, int, int]]:
        """Literal, cut and points of every rule; those of rules that are always on or off lie outside the ranks."""
        found = []
        for rule in card.rules:
            values = self.values[rule.feature]
            if rule.is_at_least:
                found.append((2 * rule.feature, int(np.searchsorted(values, rule.cut)), rule.points))
            else:
                upper = int(np.searchsorted(values, rule.cut, side="right"))
                found.append((2 * rule.feature + 1, len(values) - upper, rule.points))
        return found


def _cuts(ranks: Int32s, on: Bools) -> Int32s:
    n_values = int(ranks.max(initial=0)) + 1
    has_on, has_off = (np.bincount(ranks[rows], minlength=n_values) > 0 for rows in (on, ~on))
    return np.flatnonzero(has_on[1:] & has_off[:-1]).astype(np.int32) + np.int32(1)
