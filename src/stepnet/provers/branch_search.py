"""Branch search: whether every neuron loses at least a target, by branches on rows given as vectors of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from stepnet.model.arithmetic import Bools, Ints
from stepnet.provers.branch_clauses import Clauses
from stepnet.provers.branch_log import BranchLog
from stepnet.provers.branch_tree import (
    BETTER,
    DONE,
    DOUBTFUL,
    FULL,
    IS_QUIET,
    LOST,
    N_CONES,
    N_FOUND,
    BranchTree,
    advance,
)  # fmt: skip
from stepnet.provers.fan import Fan
from stepnet.provers.limits import Limit
from stepnet.provers.oracle import gordan, null_vector

OPERATIONS = 10_000_000  # between two checks of the clock: some hundredths of a second
_MOST_KNOWN = 100_000  # answers of rational arithmetic that are kept

Signed = tuple[tuple[int, ...], tuple[int, ...]]  # rows and their sides


@dataclass
class Learned:
    """What searches of the same rows have found out: their latest clauses, and which rows are clauses by rationals."""

    clauses: Clauses
    answers: dict[Signed, Signed | None] = field(default_factory=dict)  # the rows of the clause that are needed

    @classmethod
    def of(cls, fan: Fan) -> Learned:
        return cls(Clauses.of(len(fan.products), len(fan.axes)))


class BranchSearch:
    """Cones of neurons, bounded by rows, until all of them are pruned.

    Parameters
    ----------
    fan : Fan
        Of vectors of integers; a row is right where its product with a neuron is positive.
    weights : array of int
        What a row costs if it is wrong; positive, unless limits count rows that cost nothing.
    target : int
        Neurons that lose as much are not of interest. It falls to the loss of better neurons.
    learned : Learned, optional
        By earlier searches of the same rows.
    limits : sequence of Limit
        Neurons that break one of them are not of interest, either.
    is_logged : bool
        Whether to keep the tree and all clauses.
    """

    is_stuck = False

    def __init__(
        self,
        fan: Fan,
        weights: Ints,
        target: int,
        learned: Learned | None = None,
        limits: Sequence[Limit] = (),
        *,
        is_logged: bool = False,
    ) -> None:
        self.fan, self.weights, self.target = fan, np.ascontiguousarray(weights, dtype=np.int64), target
        self.learned, self.limits = learned or Learned.of(fan), limits
        # The last ray is minus the sum of the others.
        self.tree = BranchTree.of(fan.values[:-1].T, self.learned.clauses, limits, is_logged=is_logged)
        self.log = BranchLog(self.tree)
        self.is_proven = False

    @property
    def n_cones(self) -> int:
        return int(self.tree.counters[N_CONES])

    def advance(self, should_stop: Callable[[], bool]) -> Bools | None:
        """Work for a moment; the rows that a better neuron gets right, if there may be one."""
        counters = self.tree.counters
        status = advance(self.tree, self.weights, self.target, OPERATIONS)
        self.log.turn()
        self.is_proven = status == DONE
        if status == BETTER:
            right = self.fan.right_at([*self.tree.found_point.tolist(), 0.0])
            loss = int(self.weights[~right].sum())
            is_better = loss < self.target and all(one.holds(~right) for one in self.limits)
            counters[IS_QUIET] = not is_better
            self.target = loss if is_better else self.target
            return None if counters[IS_QUIET] else right
        if status == DOUBTFUL:
            self._prove(self.tree.found_rows[: counters[N_FOUND]])
        return self._decide(should_stop) if status == FULL else None

    def _prove(self, rows: Ints) -> None:
        """Learn a clause of these rows if there is one, in rationals; otherwise the cone does without it."""
        rows = np.sort(rows)
        sides = np.where(self.tree.sides[rows] < 0, -1, 1)
        key = tuple(rows.tolist()), tuple(sides.tolist())
        if key not in self.learned.answers:
            if len(self.learned.answers) >= _MOST_KNOWN:
                self.learned.answers.clear()
            self.learned.answers[key] = self._clause(*key)
        clause = self.learned.answers[key]
        if clause is None:
            self.tree.counters[IS_QUIET] = 1
        else:
            self.tree.learn(np.array(clause[0]), np.array(clause[1]))

    def _clause(self, rows: tuple[int, ...], sides: tuple[int, ...]) -> Signed | None:
        signed = zip(rows, sides, strict=True)
        columns = [[side * value for value in self.fan.products[row][:-1]] for row, side in signed]
        multipliers = null_vector(columns)
        if multipliers is None:
            return None
        needed = [(row, side) for row, side, value in zip(rows, sides, multipliers, strict=True) if value]
        if all(side < 0 for _, side in needed):
            return None
        return tuple(row for row, _ in needed), tuple(side for _, side in needed)

    def _decide(self, should_stop: Callable[[], bool]) -> Bools | None:
        """Sides are taken on all rows, and it is open whether a neuron takes them: ask rational arithmetic."""
        counters, right = self.tree.counters, self.tree.sides > 0
        columns = [self.fan.products[row][:-1] for row in np.flatnonzero(right)]
        basis, direction = gordan(columns, should_stop) if columns else (None, [])
        if basis is not None:
            self.tree.learn(np.flatnonzero(right)[np.array(basis)], np.ones(len(basis), np.int64))
        elif direction is not None:
            self.target = min(self.target, int(counters[LOST]))
            return right
        return None
