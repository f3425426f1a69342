"""Cone search: whether every neuron loses at least a target, for rows given as vectors of integers.

Where many rows meet in one ray, cones around it could be divided for ever. From some generations on, the undecided rows
of a cone are therefore asked by themselves: what they lose anywhere is a bound for the cone, too. They span fewer
dimensions if they meet, so this ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from stepnet.model.arithmetic import Bools, Ints
from stepnet.provers.cone_log import ConeLog
from stepnet.provers.cone_tree import BY_THEMSELVES, ConeTree, advance
from stepnet.provers.corners import BETTER, DEEP, IS_QUIET, N_CONES, STUCK, TOP
from stepnet.provers.fan import Fan, Vectors
from stepnet.provers.oracle import gordan

OPERATIONS = 10_000_000  # between two checks of the clock: some hundredths of a second
_FOR_FEW = 10  # turns that rows by themselves may take
_FEW = 64  # rows that rationals decide soon enough


@dataclass
class Known:
    """What sets of rows lose by themselves: the searches that have proven it, and what they lose at most.

    Those that were given up count as losing at most 0, so that nobody asks again.
    """

    searches: list[ConeSearch] = field(default_factory=list)
    proven: dict[tuple[int, ...], int] = field(default_factory=dict)  # the number of the search
    most: dict[tuple[int, ...], int] = field(default_factory=dict)

    def least(self, rows: tuple[int, ...]) -> int:
        return self.searches[self.proven[rows]].target if rows in self.proven else 0


class ConeSearch:
    """Cones around 0, until all of them are pruned; ``target`` falls to the loss of better neurons.

    Parameters
    ----------
    vectors : list of list of int
        A row is right where its product with a neuron is positive.
    weights : array of int
        What a row costs if it is wrong.
    target : int
        Neurons that lose as much are not of interest.
    numbers : array of int
        Those of the rows in ``known``.
    fan : Fan, optional
        Of the vectors, if it is known.
    is_logged : bool
        Whether to keep how the cones were divided.
    """

    def __init__(
        self,
        vectors: Vectors,
        weights: Ints,
        target: int,
        known: Known | None = None,
        numbers: Ints | None = None,
        *,
        fan: Fan | None = None,
        is_logged: bool = False,
    ) -> None:
        self.vectors = vectors
        self.weights, self.target = np.ascontiguousarray(weights, dtype=np.int64), target
        self.known = Known() if known is None else known
        self.numbers: Ints = np.arange(len(vectors)) if numbers is None else numbers
        self.fan = fan or Fan.of(vectors)
        self.tree = ConeTree.of(self.fan.values)
        self.is_stuck, self.turns = False, 0
        self.log = ConeLog(self.tree.counters, is_kept=is_logged)

    @property
    def is_proven(self) -> bool:
        """Whether no neuron loses less than the target."""
        return self.tree.is_done

    @property
    def n_cones(self) -> int:
        return int(self.tree.counters[N_CONES])

    def advance(self, should_stop: Callable[[], bool]) -> Bools | None:
        """Work for a moment; the rows that a better neuron gets right, if there may be one."""
        counters = self.tree.counters
        self.turns += 1
        status = advance(self.tree, self.weights, self.target, OPERATIONS, self.log.page)
        self.log.turn_if_full()
        self.is_stuck = status == STUCK
        if status == BETTER:
            right = self.fan.right_at(self.tree.found.tolist())
            loss = int(self.weights[~right].sum())
            counters[IS_QUIET] = loss >= self.target
            self.target = min(self.target, loss)
            return None if counters[IS_QUIET] else right
        return self._ask_few(should_stop) if status == DEEP else None

    def _ask_few(self, should_stop: Callable[[], bool]) -> Bools | None:
        """Prune the last cone if its undecided rows lose too much anywhere; otherwise it is divided further."""
        tree, known = self.tree, self.known
        rows, need = tree.undecided, self.target - tree.lost_so_far
        key = tuple(self.numbers[rows].tolist())
        right = None
        if known.least(key) < need <= known.most.get(key, need) and len(rows) < len(self.vectors):
            right = self._decide_few(rows, key, need, should_stop)
        if known.least(key) >= need:
            tree.counters[TOP] -= 1
            tree.counters[N_CONES] += 1
            self.log.append(BY_THEMSELVES - known.proven[key])
        else:
            tree.counters[IS_QUIET] = 1
        return right

    def _decide_few(self, rows: Ints, key: tuple[int, ...], need: int, should_stop: Callable[[], bool]) -> Bools | None:
        """Find out whether some rows lose at least ``need``; otherwise rows that might be right together."""
        vectors = [self.vectors[row] for row in rows]
        few = ConeSearch(vectors, self.weights[rows], need, self.known, self.numbers[rows], is_logged=self.log.is_kept)
        self.known.most[key] = 0  # given up, unless it is decided
        while not few.is_stuck and few.turns < _FOR_FEW and not should_stop():
            right = few.advance(should_stop)
            if few.is_proven:
                del self.known.most[key]
                self.known.proven[key] = len(self.known.searches)
                self.known.searches.append(few)
                return None
            if right is not None and few.target < need:
                self.known.most[key] = few.target
                everywhere = self.fan.right_at(self.tree.corners[self.tree.counters[TOP] - 1].mean(axis=0).tolist())
                everywhere[rows] = right
                self._settle(everywhere, should_stop)
                return everywhere
        return None

    def _settle(self, right: Bools, should_stop: Callable[[], bool]) -> None:
        """Lower the target to what a neuron loses that gets some rows right, if there is one; in rationals."""
        loss = int(self.weights[~right].sum())
        if len(right) <= _FEW and loss < self.target:
            columns = [self.vectors[row] for row in np.flatnonzero(right)]
            if not columns or gordan(columns, should_stop)[1] is not None:
                self.target = loss
