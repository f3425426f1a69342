"""Pair search: whether all pairs of neurons below AND or OR lose at least a target, for rows given as integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.model.arithmetic import Bools, Ints
from stepnet.provers.cone_log import ConeLog
from stepnet.provers.cone_search import OPERATIONS
from stepnet.provers.corners import BETTER, DEEP, IS_QUIET, N_CONES, STUCK
from stepnet.provers.fan import Fan, Vectors
from stepnet.provers.flats import Flats
from stepnet.provers.pair_tree import PairTree, advance_pairs


class PairSearch:
    """Pairs of cones, until all of them are pruned; ``target`` falls to the loss of better pairs of neurons.

    Parameters
    ----------
    vectors : list of list of int
        A neuron is right on a row where its product with the row is positive.
    is_either : array of bool
        Rows that are lost if either neuron is wrong; the others are lost if both are.
    weights : array of int
        What a row costs if it is lost.
    target : int
        Pairs that lose as much are not of interest.
    flats : Flats, optional
        Of the vectors, as far as they are known.
    fan : Fan, optional
        Of the vectors, if it is known.
    is_logged : bool
        Whether to keep how the pairs were divided.
    """

    def __init__(
        self,
        vectors: Vectors,
        is_either: Bools,
        weights: Ints,
        target: int,
        flats: Flats | None = None,
        *,
        fan: Fan | None = None,
        is_logged: bool = False,
    ) -> None:
        self.is_either, self.target = is_either, target
        self.weights = np.ascontiguousarray(weights, dtype=np.int64)
        self.flats, self.fan = flats or Flats(vectors), fan or Fan.of(vectors)
        self.tree = PairTree.of(self.fan.values, is_either)
        self.is_stuck = False
        self.log = ConeLog(self.tree.counters, is_kept=is_logged)

    @property
    def is_proven(self) -> bool:
        """Whether no pair loses less than the target."""
        return self.tree.is_done

    @property
    def n_cones(self) -> int:
        return int(self.tree.counters[N_CONES])

    def advance(self, should_stop: Callable[[], bool]) -> tuple[Bools, Bools] | None:
        """Work for a moment; the rows on which two neurons are right that lose less, if there may be any."""
        counters = self.tree.counters
        status = advance_pairs(
            self.tree, self.weights, self.target, OPERATIONS, self.flats.members, self.flats.ranks, self.log.page
        )
        self.log.turn_if_full()
        self.is_stuck = status == STUCK
        if status == DEEP:
            rows, n_corners = self.tree.deep_rows
            counters[IS_QUIET] = not self.flats.add(rows, n_corners - 1)
        if status != BETTER:
            return None
        first, second = (self.fan.right_at(shares) for shares in self.tree.found)
        is_right = np.where(self.is_either, first & second, first | second)
        loss = int(self.weights[~is_right].sum())
        counters[IS_QUIET] = loss >= self.target
        self.target = min(self.target, loss)
        return None if counters[IS_QUIET] else (first, second)


class GateSearch:
    """Two neurons below AND, then below OR; ``target`` falls to the loss of better ones.

    Of AND, rows for which neurons must be on are lost if either is wrong; of OR, the others.
    """

    def __init__(
        self,
        vectors: Vectors,
        on: Bools,
        weights: Ints,
        target: int,
        flats: Flats | None = None,
        *,
        fan: Fan | None = None,
        is_logged: bool = False,
    ) -> None:
        flats, fan = flats or Flats(vectors), fan or Fan.of(vectors)
        self.searches = [
            PairSearch(vectors, is_either, weights, target, flats, fan=fan, is_logged=is_logged)
            for is_either in (on, ~on)
        ]
        self.target = target

    @property
    def is_proven(self) -> bool:
        """Whether no pair loses less than the target."""
        return all(search.is_proven for search in self.searches)

    @property
    def is_stuck(self) -> bool:
        return any(search.is_stuck for search in self.searches)

    @property
    def n_cones(self) -> int:
        return sum(search.n_cones for search in self.searches)

    def advance(self, should_stop: Callable[[], bool]) -> tuple[str, Bools, Bools] | None:
        """Work for a moment; a gate and the rows on which two neurons are right that lose less, if there may be any."""
        gate, search = next(
            (gate, search) for gate, search in zip(("AND", "OR"), self.searches, strict=True) if not search.is_proven
        )
        search.target = self.target
        found = search.advance(should_stop)
        self.target = search.target
        return None if found is None else (gate, *found)
