"""Adversary: the smallest perturbation of a row that changes a network's answer.

Every first-layer threshold is a hyperplane. A perturbation changes the answer if it moves the row to sides of the
hyperplanes for which the layers above answer differently. The search is best-first branch and bound over the sides: a
node fixes some of them, and its bound is the larger of two lower bounds on the radius,

    the nearest point on the fixed sides, proven by multipliers (:mod:`stepnet.uncertainty.halfspaces`), and
    the smallest radius at which the sides in reach, taken independently, could change the answer.

A first attack comes from the worst case within growing radii. Sides beyond the best attack are settled, and sides
that every change of the answer requires are fixed.

Being below a threshold is relaxed to being at or below it, so the radius found is a lower bound on the size of every
perturbation that changes the answer. Attacks are points strictly on their sides, verified by an exact forward pass.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from stepnet.errors import InvalidInputError, SolverFailure
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.uncertainty.above import Above
from stepnet.uncertainty.halfspaces import Move
from stepnet.uncertainty.hyperplanes import FREE, Hyperplanes, Sides
from stepnet.uncertainty.sets import Uncertainty
from stepnet.uncertainty.worst_case import settled, worst_classes

_SAFETY = 1e-12  # relative, subtracted from distances for rounding
_FAR = 1e8  # times the distance of the farthest hyperplane
_CANDIDATES = 24  # for branching
_GROWTH, _GROWTHS, _FIRST_NODES = 1.5, 40, 40
_NUDGES = (1e-9, 1e-8, 1e-7, 1e-6)  # how far inside its sides an attack is placed


@dataclass(frozen=True)
class Attack:
    """What an adversary can do to one row.

    Attributes
    ----------
    radius : float
        No smaller perturbation changes the answer; infinite if none does.
    point : ndarray or None
        A perturbed row with another answer, verified; None if none was found.
    size : float
        The size of this perturbation, at least ``radius`` and nearly equal to it; infinite without a point.
    is_complete : bool
        False if the search reached its limit; then ``radius`` is what it had proven by then.
    """

    radius: float
    point: Floats | None
    size: float
    is_complete: bool = True


class Adversary:
    """Attacks on one network; perturbations are measured as in an uncertainty set, whose own radius is ignored."""

    def __init__(self, network: Network, uncertainty: Uncertainty, most_nodes: int = 20_000) -> None:
        if network.layers[-1].activation.gives_numbers and len(network.layers) > 1:
            raise InvalidInputError("an attack changes a class; the outputs of this network are numbers.")
        self.network, self.uncertainty, self.most_nodes = network, uncertainty, most_nodes
        self.planes = Hyperplanes(network, uncertainty)
        self.above = Above(network)

    def attack(self, row: Floats, target: int | None = None) -> Attack:
        """The smallest perturbation with an answer other than ``target`` (default: the answer for the row)."""
        levels = self.network.levels(row[None])
        answer = int(levels[-1][0, 0])
        if target is not None and target != answer:
            return Attack(0.0, row.copy(), 0.0)
        return _Branching(self, row, self.planes.sides(levels[0])[0], answer).run()


class _Branching:
    """Branch and bound for one row."""

    def __init__(self, adversary: Adversary, row: Floats, now: Sides, answer: int) -> None:
        self.adversary, self.row, self.now, self.answer = adversary, row, now, np.array([answer])
        self.planes = planes = adversary.planes
        values = planes.W @ row - planes.T
        doubt = 4 * len(row) * 2.0**-52 * (np.abs(planes.W) @ np.abs(row) + np.abs(planes.T))
        shrunk = np.where(values >= 0, np.maximum(values - doubt, 0.0), np.minimum(values + doubt, 0.0))
        self.distances = planes.distances(shrunk) * (1 - _SAFETY)
        self.order = np.argsort(self.distances, kind="stable")
        finite = self.distances[np.isfinite(self.distances)]
        self.farthest = _FAR * (1.0 + float(finite.max(initial=0.0)))
        self.radius, self.size = np.inf, np.inf
        self.point: Floats | None = None

    def run(self) -> Attack:
        numbers = count()
        start = np.full(len(self.now), FREE, dtype=np.int8)
        lowest = float(self._alone(start[None])[0])
        heap: list[tuple[float, int, Sides, Floats | None]] = [(lowest, next(numbers), start, None)]
        self._begin(lowest)
        n_nodes = 0
        while heap and heap[0][0] < self.size * (1 - 1e-9):
            bound, _, sides, delta = heapq.heappop(heap)
            n_nodes += 1
            if n_nodes > self.adversary.most_nodes:
                return self._attack(bound, is_complete=False)
            implied = self._implied(sides)
            if implied is None:
                continue
            if delta is not None and (implied != sides).any() and not self._holds(implied, delta):
                delta = None
            sides = implied
            if delta is None:
                try:
                    move = self._nearest(sides)
                except SolverFailure:
                    move = Move(None, bound)
                if move.delta is None and move.bound > self.farthest:
                    continue  # no perturbation reaches these sides, up to rounding
                bound, delta = max(bound, move.bound), move.delta
                if delta is None:
                    self.radius = min(self.radius, bound)  # undecided: the smallest may be here
                    continue
                if heap and bound > heap[0][0] + 1e-12:
                    heapq.heappush(heap, (bound, next(numbers), sides, delta))
                    continue
            here = self._sides_at(delta, sides)
            if self.adversary.above.answers(self.planes.levels(here[None])[0])[0] != self.answer[0]:
                self.radius = min(self.radius, bound)
                self._try(here)
                if self.size <= bound * (1 + 1e-6):
                    continue
            for child_bound, child, child_delta in self._children(sides, here, delta, bound):
                heapq.heappush(heap, (child_bound, next(numbers), child, child_delta))
        return self._attack(min([self.radius, *(node[0] for node in heap[:1])]), is_complete=True)

    def _attack(self, radius: float, *, is_complete: bool) -> Attack:
        # Nodes within a relative 1e-9 of the best attack were not opened.
        return Attack(min(radius, self.size * (1 - 1e-9)), self.point, self.size, is_complete)

    def _begin(self, lowest: float) -> None:
        """A first attack: the worst case within growing radii."""
        network, uncertainty = self.adversary.network, self.adversary.uncertainty
        radius = max(lowest, 1e-9)
        for _ in range(_GROWTHS):
            radius *= _GROWTH
            if not np.isfinite(radius) or radius > self.farthest:
                return
            worst = worst_classes(
                network, uncertainty, self.row[None], np.array([radius]), self.answer, most_nodes=_FIRST_NODES
            )
            if worst.costs[0] > 0:
                sides = self.planes.sides(network.levels(worst.points)[0])[0]
                self.point, self.size = worst.points[0], float(uncertainty.size(worst.points - self.row)[0])
                self._try(sides)
                return

    def _implied(self, sides: Sides) -> Sides | None:
        """The sides with those settled or fixed that no better attack can choose; None if none is possible."""
        beyond = (sides == FREE) & (self.distances >= self.size)
        found = settled(self._could, np.where(beyond, self.now, sides).astype(np.int8), 0.5)
        return None if found is None else found[1]

    def _could(self, sides: Sides) -> Floats:
        """For many sides, whether they could change the answer, as 0 and 1."""
        low, high = self.planes.levels(sides)
        return self.adversary.above.could_miss(low, high, np.repeat(self.answer, len(sides))).astype(np.float64)

    def _holds(self, sides: Sides, delta: Floats) -> bool:
        return bool((self._sides_at(delta, np.full_like(sides, FREE)) == sides)[sides != FREE].all())

    def _nearest(self, sides: Sides, nudge: float = 0.0) -> Move:
        """The smallest perturbation to the fixed sides; none is needed if the row is on all of them."""
        fixed = np.flatnonzero(sides != FREE)
        if not (sides[fixed] != self.now[fixed]).any() and not nudge:
            return Move(np.zeros(len(self.row)), 0.0)
        halves = self.planes.halfspaces(self.row, sides, fixed)
        if nudge:
            around = 1.0 + np.abs(self.planes.T[fixed]) + np.abs(self.planes.W[fixed]) @ np.abs(self.row)
            halves = halves._replace(h=halves.h + nudge * around)
        return self.adversary.uncertainty.smallest(self.row, halves)

    def _sides_at(self, delta: Floats, sides: Sides) -> Sides:
        here = self.planes.sides_at(self.row + delta) if delta.any() else self.now
        return np.where(sides == FREE, here, sides).astype(np.int8)

    def _alone(self, sides: Sides) -> Floats:
        """For many sides (nodes × hyperplanes) the radius from which free sides in reach could change the answer.

        Free sides are taken independently; infinite if even all of them together cannot change it.
        """
        n_nodes, n_planes = sides.shape
        order = self.order[np.isfinite(self.distances[self.order])]
        ranks = np.full(n_planes, n_planes)
        ranks[order] = np.arange(len(order))
        # All prefixes of the nearest sides at once: more loose sides can only change more.
        is_loose = (sides[:, None] == FREE) & (ranks < np.arange(len(order) + 1)[:, None])
        tries = np.where(is_loose, FREE, np.where(sides == FREE, self.now, sides)[:, None]).astype(np.int8)
        could = self._could(tries.reshape(-1, n_planes)).reshape(n_nodes, -1) > 0
        radii = np.concatenate([[0.0], self.distances[order]])
        return np.where(could.any(axis=1), radii[could.argmax(axis=1)], np.inf)

    def _children(
        self, sides: Sides, here: Sides, delta: Floats, bound: float
    ) -> Iterator[tuple[float, Sides, Floats | None]]:
        """Fix one more side both ways: the one for which the bounds of both children are expected to rise most."""
        free = np.flatnonzero((sides == FREE) & np.isfinite(self.distances))
        if not len(free):
            return
        away = self.planes.distances(self.planes.W @ (self.row + delta) - self.planes.T)
        free = free[np.argsort(away[free], kind="stable")[:_CANDIDATES]]
        children = np.repeat(sides[None], 2 * len(free), axis=0)
        every = np.arange(len(free))
        children[every, free], children[len(free) + every, free] = here[free], 1 - here[free]
        bounds = np.maximum(bound, self._alone(children))
        stays, leaves = bounds[: len(free)] - bound, np.maximum(bounds[len(free) :] - bound, away[free] / 2)
        limit = max(self.size - bound, 1e-12) if np.isfinite(self.size) else np.inf
        scores = (np.minimum(stays, limit) + 1e-6 * (1.0 + bound)) * (np.minimum(leaves, limit) + 1e-6 * (1.0 + bound))
        best = int(np.nan_to_num(scores, posinf=np.inf).argmax())
        for number, child_delta in ((best, delta), (len(free) + best, None)):
            if np.isfinite(bounds[number]) and self.planes.is_ordered(children[number], int(free[best])):
                yield float(bounds[number]), children[number], child_delta

    def _try(self, sides: Sides) -> None:
        """Keep a point strictly on these sides if it is nearer and an exact forward pass confirms another answer."""
        for nudge in _NUDGES:
            try:
                delta = self._nearest(sides, nudge).delta
            except SolverFailure:
                continue
            if delta is None:
                return
            point = self.adversary.uncertainty.clipped(self.row, self.row + delta)
            size = float(self.adversary.uncertainty.size((point - self.row)[None])[0])
            if size < self.size and int(self.adversary.network.predict(point[None])[0]) != self.answer[0]:
                self.point, self.size = point, size
                return
