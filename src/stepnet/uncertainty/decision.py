"""Decision: is there a perturbation up to a radius that changes the answer?

Branch and bound over the bits of all hidden neurons, for one rival answer after the other. A node fixes some bits. Bits
that follow from them are fixed too (:mod:`stepnet.uncertainty.circuit`); then the linear relaxation
(:mod:`stepnet.uncertainty.relaxation`) bounds what the rival can reach. Points of the relaxation are tried on the
network itself. A node ends with an attack, verified by an exact forward pass, or with a proof that it has none; where
rounding allows neither, the answer stays open.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from stepnet.errors import SolverFailure
from stepnet.model.arithmetic import Floats
from stepnet.uncertainty.ball import Ball
from stepnet.uncertainty.circuit import Circuit, Rival
from stepnet.uncertainty.halfspaces import Halfspaces, Move
from stepnet.uncertainty.hyperplanes import FREE, Hyperplanes, Sides
from stepnet.uncertainty.relaxation import Relaxation, Solution, branching_order

_NUDGES = (1e-9, 1e-8, 1e-7, 1e-6)  # of the radius: how far inside its sides an attack is placed
_SAFETY = 1e-12  # relative, subtracted from distances for rounding
_LAST_ROUNDS = 60  # cuts where all bits are fixed and nothing else decides
_SURE = 1e-9  # how much more than all of its bound a bit must take
_MOST_PROBES = 150  # bits whose both values are tried at a node
_WHOLE = 1e-6  # bits this close to 0 or 1 are taken for that


@dataclass
class Target:
    """One row of a network: its answer is to be changed."""

    circuit: Circuit
    planes: Hyperplanes
    ball: Ball
    row: Floats
    answer: int
    now: Sides

    def is_hit(self, point: Floats) -> bool:
        return int(self.circuit.network.predict(point[None])[0]) != self.answer

    def size(self, point: Floats) -> float:
        return float(self.ball.size((point - self.row)[None])[0])

    def distances(self) -> Floats:
        """Those of the hyperplanes, rounded down; infinite without weights."""
        planes, row = self.planes, self.row
        values = planes.W @ row - planes.T
        doubt = 4 * len(row) * 2.0**-52 * (np.abs(planes.W) @ np.abs(row) + np.abs(planes.T))
        shrunk = np.where(values >= 0, np.maximum(values - doubt, 0.0), np.minimum(values + doubt, 0.0))
        return planes.distances(shrunk) * (1 - _SAFETY)

    def in_reach(self, radius: float) -> tuple[Sides, Sides]:
        """The ranges of all bits within the radius."""
        sides = self.planes.in_reach(self.row[None], np.array([radius]), self.now[None])[0]
        return self.all_bits(sides)

    def all_bits(self, sides: Sides) -> tuple[Sides, Sides]:
        n_above = self.circuit.n_bits - len(sides)
        low = np.append(np.where(sides == FREE, 0, sides), np.zeros(n_above)).astype(np.int8)
        high = np.append(np.where(sides == FREE, 1, sides), np.ones(n_above)).astype(np.int8)
        low, high, _ = self.circuit.ranges(low[None], high[None])
        return low[0], high[0]

    def changes(self, sides: Sides) -> bool:
        """Whether first-layer sides give another answer, exactly."""
        return self.circuit.answer(sides) != self.answer

    def nearest(self, sides: Sides, within: float) -> Floats | None:
        """A point near the smallest perturbation to the fixed sides, moved inside until it changes the answer."""
        fixed = np.flatnonzero(sides != FREE)
        if not len(fixed):
            return None
        halves = self.planes.halfspaces(self.row, sides, fixed)
        units = self.ball.dual_sizes(halves.G) * within
        for nudge in _NUDGES:
            inside = Halfspaces(halves.G, halves.h + nudge * units + 4 * halves.errors, halves.errors)
            try:
                delta = self.ball.smallest(self.row, inside).delta
            except SolverFailure:
                continue
            if delta is None:
                return None
            point = self.ball.clipped(self.row, self.row + delta)
            if self.is_hit(point):
                return point
        return None


class Decision:
    """The search within one radius; it can be continued where it stopped.

    Attributes
    ----------
    point : ndarray or None
        An attack, verified; its size may be a little more than the radius.
    is_proven : bool
        Whether it is proven that there is none.
    """

    def __init__(self, target: Target, radius: float) -> None:
        self.target, self.radius = target, radius
        self.point: Floats | None = None
        self.is_open = False  # rounding leaves a node in doubt
        self.n_nodes = 0
        self.relaxations: dict[int, Relaxation] = {}
        self.numbers = count()
        self.is_deep = len(target.circuit.hidden) > 1  # below one layer, the relaxation sees all that follows from bits
        self.heap: list[tuple[float, int, int, Sides, Sides]] = []
        low, high = self.root = target.in_reach(radius)
        circuit, answer = target.circuit, target.answer
        self.rivals: list[Rival | None] = [None]
        if circuit.could_miss(low[None], high[None], answer)[0]:
            self.rivals = [*(circuit.rivals(answer) or self.rivals)]
            for number in range(len(self.rivals)):
                self._push(number, np.inf, low, high)

    @property
    def is_proven(self) -> bool:
        return self.point is None and not self.heap and not self.is_open

    @property
    def is_over(self) -> bool:
        return self.point is not None or not self.heap

    def run(self, most_nodes: int, should_stop: Callable[[], bool]) -> None:
        """Open up to ``most_nodes`` nodes, the most promising first."""
        for _ in range(most_nodes):
            if self.is_over or should_stop():
                return
            self.n_nodes += 1
            negative, _, number, low, high = heapq.heappop(self.heap)
            self._open(number, -negative, low, high)

    def _push(self, number: int, bound: float, low: Sides, high: Sides) -> None:
        """Remember a node, with the bits fixed that follow from its own, unless none of its bits help the rival."""
        while True:
            loose = np.flatnonzero(low < high) if self.is_deep else np.empty(0, dtype=np.int64)
            loose = loose[:_MOST_PROBES]
            tries = np.repeat(np.stack([low, high])[:, None], 1 + 2 * len(loose), axis=1)
            every = np.arange(len(loose))
            tries[:, 1 + every, loose], tries[:, 1 + len(loose) + every, loose] = 0, 1
            lows, highs, is_possible = self.target.circuit.ranges(*tries)
            tops = np.where(is_possible, self._tops(number, lows, highs), -np.inf)
            zero, one = tops[1 : 1 + len(loose)] >= 0, tops[1 + len(loose) :] >= 0
            if tops[0] < 0 or (~zero & ~one).any():
                return
            low, high = lows[0], highs[0]
            forced = zero != one
            if not forced.any():
                break
            low, high = low.copy(), high.copy()
            low[loose[forced]] = high[loose[forced]] = one[forced]
        heapq.heappush(self.heap, (-min(bound, float(tops[0])), -next(self.numbers), number, low, high))

    def _tops(self, number: int, low: Sides, high: Sides) -> Floats:
        rival, circuit = self.rivals[number], self.target.circuit
        if rival is not None:
            return circuit.tops(rival, low, high)
        return np.where(circuit.could_miss(low, high, self.target.answer), np.inf, -np.inf)

    def _open(self, number: int, bound: float, low: Sides, high: Sides) -> None:
        relaxation = self.relaxations.get(number)
        if relaxation is None:
            target = self.target
            relaxation = self.relaxations[number] = Relaxation(
                target.circuit, target.planes, target.ball, target.row, self.radius, self.rivals[number], *self.root
            )
        if self.target.ball.measure.is_round and self._is_settled(low, high):
            return
        found = relaxation.solve(low, high)
        if found.bound < 0:
            return
        free = relaxation.free
        actual = low[free].astype(np.float64)
        if found.u is not None:
            sides = self._try(relaxation, found, low, high)
            if self.point is not None:
                return
            is_first = free < len(sides)
            actual[is_first] = sides[free[is_first]]
        is_loose = low[free] < high[free]
        if not is_loose.any():
            self._end(relaxation, low, high)
            return
        low, high = low.copy(), high.copy()
        # With the same multipliers, a bit that is the other way takes so much off the bound that nothing is left.
        forced = is_loose & (np.abs(found.slopes) > (found.bound + _SURE) * (1 + _SURE))
        low[free[forced]] = high[free[forced]] = found.slopes[forced] > 0
        is_loose &= ~forced
        if not is_loose.any():
            self._push(number, min(bound, found.bound), low, high)
            return
        if found.bits is None:
            chosen = free[is_loose][0]
        else:
            order = branching_order(found, actual)
            chosen = free[order[is_loose[order]][0]]
        for bit in (0, 1):
            ends = np.stack([low, high])
            ends[:, chosen] = bit
            self._push(number, min(bound, found.bound), *ends)

    def _try(self, relaxation: Relaxation, found: Solution, low: Sides, high: Sides) -> Sides:
        """Try the point of a relaxation, and the sides that it claims; the sides where it really is."""
        assert found.u is not None
        assert found.bits is not None
        target = self.target
        u = found.u / max(float(target.ball.measure.sizes(found.u[None])[0]), 1.0)
        delta = target.ball.moves((u * self.radius)[None])[0]
        point = target.ball.clipped(target.row, target.row + delta)
        if target.is_hit(point):
            self.point = self._nearer(point)
            return target.now
        here = target.planes.sides_at(point)
        claimed = here.copy()
        first = relaxation.free < len(here)
        bits = found.bits[first]
        is_whole = np.minimum(bits, 1 - bits) < _WHOLE
        claimed[relaxation.free[first][is_whole]] = np.round(bits[is_whole]).astype(np.int8)
        if target.changes(claimed):
            nearest = target.nearest(self._in_reach(claimed), self.radius)
            if nearest is not None and target.size(nearest) <= self.radius * (1 + 1e-9):
                self.point = nearest
        return here

    def _nearer(self, point: Floats) -> Floats:
        """The nearest point with the same sides as an attack, if it is nearer."""
        target = self.target
        sides = target.planes.sides(target.circuit.network.levels(point[None])[0])[0]
        found = target.nearest(self._in_reach(sides), self.radius)
        return found if found is not None and target.size(found) < target.size(point) else point

    def _is_settled(self, low: Sides, high: Sides) -> bool:
        """Whether the fixed sides alone are out of reach, or the nearest point on them is an attack.

        For round balls, about which tangents say little where there are many features.
        """
        target = self.target
        sides = self._in_reach(np.where(low == high, low, FREE)[: len(target.now)])
        if not (sides[sides != FREE] != target.now[sides != FREE]).any():
            return False
        fixed = np.flatnonzero(sides != FREE)
        try:
            move = target.ball.smallest(target.row, target.planes.halfspaces(target.row, sides, fixed))
        except SolverFailure:
            return False
        if move.bound > self.radius:
            return True
        if move.delta is not None:
            here = target.planes.sides_at(target.row + move.delta)
            here[fixed] = sides[fixed]
            if target.changes(here):
                found = target.nearest(self._in_reach(here), self.radius)
                if found is not None and target.size(found) <= self.radius:
                    self.point = found
                    return True
        return False

    def _in_reach(self, sides: Sides) -> Sides:
        """The sides without those that hold within the radius anyway."""
        low, high = (end[: len(sides)] for end in self.root)
        return np.where(low < high, sides, FREE).astype(np.int8)

    def _end(self, relaxation: Relaxation, low: Sides, high: Sides) -> None:
        """All bits are fixed: the nearest point on these sides decides, or nothing does."""
        target = self.target
        sides = low[: len(target.now)]
        if not target.changes(sides):
            return
        sides = self._in_reach(sides)
        fixed = np.flatnonzero(sides != FREE)
        try:
            move = target.ball.smallest(target.row, target.planes.halfspaces(target.row, sides, fixed))
        except SolverFailure:
            move = Move(None, 0.0)
        if move.bound > self.radius:
            return
        found = target.nearest(sides, self.radius)
        if found is not None and target.size(found) <= self.radius * (1 + 1e-9):
            self.point = found
        elif relaxation.solve(low, high, _LAST_ROUNDS).bound >= 0:
            self.is_open = True
