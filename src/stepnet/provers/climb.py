"""Climb: targets that rise to the best loss; each one that a search proves is a bound.

How long a target takes grows exponentially with it, so that those before the last cost little.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import OfCones
from stepnet.model.network import Network
from stepnet.provers.base import Host, Offer
from stepnet.provers.merged_rows import MergedRows, Units

_FIRST = 0.3  # of the best loss: the first target
_GROWTH = 0.2  # of the logarithm of the time, per row of average weight, until it is known
_MOST_GROWTH = 100.0
_FEWEST, _LONGER = 1000, 2  # cones of a dive without a better network: at least, and times those before
_NEXT, _LAST = 2.0, 2.5  # times what was spent so far, for the next target, or for the last one


class Search(Protocol):
    """Whether nobody loses less than a target, which falls to the loss of whoever does."""

    target: int

    @property
    def is_stuck(self) -> bool: ...

    @property
    def is_proven(self) -> bool: ...

    @property
    def n_cones(self) -> int: ...

    def advance(self, should_stop: Callable[[], bool]) -> Any:
        """Work for a moment; the rows that somebody better gets right, if there may be such a one."""


class Searches(Protocol):
    """Searches of one architecture, and the networks that they find."""

    def search(self, target: int) -> Search: ...

    def network(self, found: Any, should_stop: Callable[[], bool]) -> Network | None: ...


class Climb:
    """Targets of one problem, in units of the row weights without what equal rows cost.

    With ``dives`` the first cones of a search are near good neurons: it begins with a short search below the best loss.
    """

    def __init__(self, host: Host, units: Units, rows: MergedRows, searches: Searches, *, dives: bool = False) -> None:
        self.host, self.units, self.rows, self.searches = host, units, rows, searches
        self.n_cones, self.seconds = 0, 0.0
        self.pace = Pace(_GROWTH / max(1.0, float(rows.units.mean())))
        self.search: Search | None = None  # of the present target
        self.is_diving, self.patience = dives, _FEWEST
        self.unasked: Any = None  # what was found when there was no time to make a network of it

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
        found, self.unasked = self.unasked, None
        self._offer(found, offer)
        try:
            while not host.is_over and self.last > 0 and self.rows.units.any():
                if self.is_diving:
                    self._dive(offer)
                    continue
                if self.search is None:
                    self.search = self.searches.search(self.pace.next_target(self.last))
                if not self._continue(self.search, offer):
                    return
                self.search = None
        finally:
            self.seconds += host.budget.elapsed - begin
        if not host.is_over:
            self._raise_bound(min(self.last, 0))  # equal rows cost as much

    def _dive(self, offer: Offer) -> None:
        """Look for better networks below the best loss, as long as some are found: they make all targets smaller."""
        search = self.search = self.search or self.searches.search(self.last)
        while not search.is_proven and search.n_cones < self.patience:
            if self.host.is_over:
                return
            found = search.advance(self.host.must_stop)
            if found is not None:
                self._offer(found, offer)
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
            self._offer(search.advance(self.host.must_stop), offer)
        self.n_cones += search.n_cones
        self.pace.add(search.target, search.n_cones)
        self._raise_bound(search.target)
        # A target that fell below the best loss is that of a neuron which floats cannot represent.
        return before <= search.target < self.last

    def _offer(self, found: Any, offer: Offer) -> None:
        """Offer the network of what was found, if anything was."""
        if found is None:
            return
        network = self.searches.network(found, self.host.must_stop)
        if network is not None:
            offer(network)
        elif found is not None and self.host.must_stop():
            self.unasked = found  # the target has fallen to its loss already

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
