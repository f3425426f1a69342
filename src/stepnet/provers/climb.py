"""Climb: targets for one neuron that rise until one is the best loss; each that is reached is a bound.

How long a target takes grows exponentially with it, so that those before the last cost little.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import OfCones
from stepnet.errors import Answer
from stepnet.model.arithmetic import Bools, Ints
from stepnet.model.gates import gates
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, Offer, Prover, accepts_correct_sets, network_of
from stepnet.provers.fan import Vectors, vectors_of
from stepnet.provers.merged_rows import MergedRows, Units, dimension
from stepnet.provers.oracle import Neuron, Oracle, integer_rows

_FIRST = 0.3  # of the best loss: the first target
_GROWTH = 0.2  # of the logarithm of the time, per row of average weight, until it is known
_MOST_GROWTH = 100.0
_MOVES = 2_000  # of a local search before
_FEWEST, _LONGER = 1000, 2  # cones of a dive without a better neuron: at least, and times those before
_NEXT, _LAST = 2.0, 6.0  # times what was spent so far, for the next target, or for the last one


class Search(Protocol):
    """Whether every neuron loses at least a target, which falls to the loss of better neurons."""

    target: int
    is_stuck: bool

    @property
    def is_proven(self) -> bool: ...

    @property
    def n_cones(self) -> int: ...

    def advance(self, should_stop: Callable[[], bool]) -> Bools | None:
        """Work for a moment; the rows that a better neuron gets right, if there may be one."""
        ...


Searches = Callable[[Vectors, Ints], Callable[[int], Search]]  # of rows and their weights: the search for each target


class Climbing(Prover):
    """One neuron by a branch and bound that climbs from target to target, and resumes."""

    resumes = True
    dives = False  # whether the first cones of a search are near good neurons
    most_dimensions: int

    @staticmethod
    @abstractmethod
    def searches(vectors: Vectors, weights: Ints) -> Callable[[int], Search]:
        """The search for each target, of rows as vectors of integers."""

    def accepts(self, problem: Problem) -> Answer:
        name, most = self.name, self.most_dimensions
        if problem.architecture.hidden not in ((), (1,)):
            return Answer(
                f"formulation={name!r} accepts hidden=(1,) or (); got hidden={problem.architecture.hidden}. "
                f"Use formulation='sat'."
            )
        answer = accepts_correct_sets(problem, name)
        if answer and not problem.is_plain:
            return Answer(f"formulation={name!r} accepts no limits on errors. Use formulation='one_neuron'.")
        if answer and dimension(problem.dataset, most + 1) > most:
            return Answer(
                f"formulation={name!r} accepts up to {most} features, not counting those that follow from "
                f"others; got {problem.dataset.n_features}. Use formulation='one_neuron'."
            )
        return answer

    def moves_before(self, problem: Problem) -> int:
        """It finds good neurons on its own."""
        return _MOVES

    def seconds_left(self, host: Host) -> float | None:
        climb: Climb | None = host.kept.get(self.name)
        return None if climb is None else climb.seconds_left

    def work(self, host: Host, offer: Offer) -> None:
        """Continue where the last turn ended, unless the best loss has too many units by now."""
        climb: Climb | None = host.kept.get(self.name)
        if climb is None or not climb.units.are_fine_for(host.loss):
            units = Units.of(host.problem, host.loss)
            if units is None:
                return
            climb = host.kept[self.name] = Climb(host, units, self.searches, dives=self.dives)
        climb.work(offer)


class Climb:
    """Targets of one problem, in units of the row weights without what equal rows cost."""

    def __init__(self, host: Host, units: Units, searches: Searches, *, dives: bool) -> None:
        self.host, self.problem, self.units = host, host.problem, units
        data = host.problem.dataset
        self.rows = MergedRows.of(data, units.integers, 1)
        self._begin = searches(vectors_of(integer_rows(data.X[self.rows.numbers]), self.rows.on), self.rows.units)
        self.oracle = Oracle(data.X, np.asarray(data.y == 1), host.seed)
        self.n_cones, self.seconds = 0, 0.0
        self.pace = Pace(_GROWTH / max(1.0, float(self.rows.units.mean())))
        self.search: Search | None = None  # of the present target
        self.is_diving, self.patience = dives, _FEWEST
        self.unasked: Bools | None = None  # rows for which there was no time to ask for a neuron

    @property
    def last(self) -> int:
        """The target that proves the best loss."""
        return self.units.below(self.host.loss) + 1 - self.rows.lost

    @property
    def seconds_left(self) -> float:
        """Until the last target is proven, as the targets so far suggest."""
        cones = self.n_cones + (0 if self.search is None else self.search.n_cones)
        return math.inf if not cones else self.pace.cones_for(self.last) * self.seconds / cones

    def work(self, offer: Offer) -> None:
        begin, host = self.host.budget.elapsed, self.host
        right, self.unasked = self.unasked, None
        if right is not None:
            self._offer(right, offer)
        try:
            while not host.is_over and self.last > 0 and self.rows.units.any():
                if self.is_diving:
                    self._dive(offer)
                    continue
                if self.search is None:
                    self.search = self._begin(self.pace.next_target(self.last))
                if not self._continue(self.search, offer):
                    return
                self.search = None
        finally:
            self.seconds += host.budget.elapsed - begin
        if not host.is_over:
            self._raise_bound(min(self.last, 0))  # equal rows cost as much

    def _dive(self, offer: Offer) -> None:
        """Look for better neurons below the best loss, as long as some are found: they make all targets smaller."""
        search = self.search = self.search or self._begin(self.last)
        while not search.is_proven and search.n_cones < self.patience:
            if self.host.is_over:
                return
            right = search.advance(self.host.must_stop)
            if right is not None:
                self._offer(right, offer)
                self.patience = max(_FEWEST, _LONGER * search.n_cones)
        self.is_diving, self.search = False, None
        if search.is_proven:
            self._continue(search, offer)

    def _continue(self, search: Search, offer: Offer) -> bool:
        """Work until the target of a search is proven; whether there is a larger one to prove."""
        before = search.target
        while not search.is_proven:
            before, search.target = min(before, self.last), min(search.target, self.last)
            if self.host.is_over or search.is_stuck:
                return False
            right = search.advance(self.host.must_stop)
            if right is not None:
                self._offer(right, offer)
        self.n_cones += search.n_cones
        self.pace.add(search.target, search.n_cones)
        self._raise_bound(search.target)
        # A target that fell below the best loss is that of a neuron which floats cannot represent.
        return before <= search.target < self.last

    def _offer(self, right: Bools, offer: Offer) -> None:
        """Offer the neuron of rows that seem to be right together."""
        answer = self.oracle.ask(self.rows.numbers[right], self.host.must_stop)
        if isinstance(answer, Neuron):
            offer(network_of(self.problem, gates(1)[0], [answer]))
        elif self.host.must_stop():
            self.unasked = right  # the target has fallen to its loss already

    def _raise_bound(self, target: int) -> None:
        loss = self.units.loss_of(target + self.rows.lost, self.host.loss)
        self.host.raise_bound(Bound(loss, evidence=OfCones(self.n_cones)))


class Pace:
    """How fast the work grows with the target: the logarithm of it is taken to be linear."""

    def __init__(self, growth: float) -> None:
        self.growth, self.total = growth, 0
        self.reached: list[tuple[int, int]] = []  # targets, and the cones that they took

    def add(self, target: int, n_cones: int) -> None:
        self.total += n_cones
        if self.reached:
            before, n_before = self.reached[-1]
            if target > before:
                measured = math.log(max(1.0, n_cones / n_before)) / (target - before)
                self.growth = min(max(measured, self.growth / 4), self.growth * 4)
        self.reached.append((target, n_cones))

    def cones_for(self, target: int) -> float:
        """About how many cones a target takes."""
        reached, n_cones = self.reached[-1] if self.reached else (0, 1)
        return n_cones * math.exp(min(self.growth * (target - reached), _MOST_GROWTH))

    def next_target(self, last: int) -> int:
        """The last one if it is near; otherwise one that takes not much longer than all so far."""
        if not self.reached:
            return max(1, math.ceil(_FIRST * last))
        if self.cones_for(last) <= _LAST * self.total:
            return last
        target, n_cones = self.reached[-1]
        return min(last, target + max(1, int(math.log(_NEXT * self.total / n_cones) / self.growth)))
