"""The worst case of a fixed network: the cost of each row under the worst perturbation that its set allows.

Hyperplanes of the first layer that are out of reach are settled; the search is a branch and bound over the sides of the
others. A node fixes some of them. Its cost is bounded by the worst choice of all others, a side that every higher cost
requires is fixed, and a linear program finds the point deepest on the fixed sides or proves that there is none. Where
any error costs the same, quick attacks settle most rows before that. Costs are attained only at points in the set, by
an exact forward pass. So for every row

    cost (attained) <= worst case <= upper (proven),

with equality unless the search ended early.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from stepnet.errors import SolverFailure
from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.model.network import Network
from stepnet.uncertainty.above import Above
from stepnet.uncertainty.hyperplanes import FREE, Hyperplanes, Sides
from stepnet.uncertainty.quick_attack import QuickAttack
from stepnet.uncertainty.sets import Uncertainty

Costs = Callable[[Floats, Ints], Floats]  # from output values and row indices

_MOST_NODES = 1_000  # per row
# Not seconds, so that a loss does not depend on the speed of a machine; many rows get no more than some thousand.
_NODES_IN_ALL, _NODES_A_ROW, _FEW_ROWS = 3_000, 4, 1_000
_SHRINK = (0.0, 4e-16, 4e-15, 1e-12, 2e-9)  # relative, towards the row, until a point is in its set


@dataclass(frozen=True)
class Worst:
    """The costs of rows in the worst case.

    Attributes
    ----------
    costs : ndarray
        Attained costs, at the rows of ``points``.
    uppers : ndarray
        Upper bounds; equal to ``costs`` where the worst case is known.
    points : ndarray
        Perturbed rows (rows × features) where the costs are attained; the rows themselves if no perturbation costs
        more. For an undecided row, a point of its set that rounding leaves in doubt, if there is one.
    """

    costs: Floats
    uppers: Floats
    points: Floats

    @property
    def is_complete(self) -> bool:
        return bool((self.costs == self.uppers).all())


def worst_classes(
    network: Network,
    uncertainty: Uncertainty,
    X: Floats,
    radii: Floats,
    classes: Ints,
    most_nodes: int = _MOST_NODES,
) -> Worst:
    """A row costs 1 if some perturbation gets it wrong."""
    above = Above(network)

    def upper(low: Ints, high: Ints, rows: Ints) -> Floats:
        missed = above.could_miss(low, high, classes[rows])
        settled_rows = (low == high).all(axis=1)
        if settled_rows.any():  # exact, even for ties
            missed[settled_rows] = above.answers(low[settled_rows]) != classes[rows[settled_rows]]
        return missed.astype(np.float64)

    def attained(points: Floats, rows: Ints) -> Floats:
        return np.asarray(network.predict(points) != classes[rows], dtype=np.float64)

    return _Case(network, uncertainty, X, radii, upper, attained, most_nodes, is_settled_by_points=True).worst()


def worst_numbers(network: Network, uncertainty: Uncertainty, X: Floats, radii: Floats, costs: Costs) -> Worst:
    """A row costs the sum of ``costs`` over its outputs, each convex in the value of the output."""
    above = Above(network)

    def upper(low: Ints, high: Ints, rows: Ints) -> Floats:
        settled = (low == high).all(axis=1)
        least, most = above.value_ranges(low, high)
        if settled.any():
            least[settled] = most[settled] = above.values(low[settled])
        return np.asarray(np.maximum(costs(least, rows), costs(most, rows)).sum(axis=1))

    def attained(points: Floats, rows: Ints) -> Floats:
        return np.asarray(costs(network.values(points), rows).sum(axis=1))

    return _Case(network, uncertainty, X, radii, upper, attained).worst()


@dataclass(frozen=True)
class _Case:
    """A network and its rows, with upper bounds on costs at levels and the costs at points."""

    network: Network
    uncertainty: Uncertainty
    X: Floats
    radii: Floats
    upper_of: Callable[[Ints, Ints, Ints], Floats]
    attained: Callable[[Floats, Ints], Floats]
    most_nodes: int = _MOST_NODES
    is_settled_by_points: bool = False  # whether a point that costs more than its row has the highest cost of all

    @cached_property
    def planes(self) -> Hyperplanes:
        return Hyperplanes(self.network, self.uncertainty)

    def worst(self) -> Worst:
        every = np.arange(len(self.X))
        costs = self.attained(self.X, every)
        now = self.planes.sides(self.network.levels(self.X)[0])
        reachable = self.planes.in_reach(self.X, self.radii, now)
        uppers = np.maximum(self.uppers(reachable, every), costs)
        points = self.X.astype(np.float64).copy()
        undecided = np.flatnonzero(uppers > costs)
        if self.is_settled_by_points and len(undecided):
            self._attack(undecided, now, reachable, costs, points)
        left = _NODES_IN_ALL + _NODES_A_ROW * min(len(self.X), _FEW_ROWS)
        for i in np.flatnonzero(uppers > costs).tolist():
            row = _Row(self, i, now[i], reachable[i], costs[i])
            costs[i], uppers[i], points[i] = row.run(min(self.most_nodes, left))
            left -= row.n_nodes
        return Worst(costs, uppers, points)

    def _attack(self, rows: Ints, now: Sides, reachable: Sides, costs: Floats, points: Floats) -> None:
        """Attack many rows at once, and keep the points that cost more."""
        quick = QuickAttack(self.planes, self.uncertainty, self.network)

        def is_hit(tried: Floats, numbers: Ints) -> Bools:
            return np.asarray(self.attained(tried, rows[numbers]) > costs[rows[numbers]])

        found = quick.points(self.X[rows], self.radii[rows], now[rows], reachable[rows], is_hit)
        for i, point in zip(rows.tolist(), found, strict=True):
            row = self.X[i].astype(np.float64)
            if (point != row).any() and self.uncertainty.contains(row, point, float(self.radii[i])):
                points[i] = point
        costs[rows] = np.maximum(costs[rows], self.attained(points[rows], rows))

    def uppers(self, sides: Sides, rows: Ints) -> Floats:
        return self.upper_of(*self.planes.levels(sides), rows)


def settled(uppers_of: Callable[[Sides], Floats], sides: Sides, cost: float) -> tuple[float, Sides] | None:
    """A bound for the sides, and the sides with those fixed that a higher cost than ``cost`` requires.

    None if no cost is higher. ``uppers_of`` bounds many sides at once.
    """
    while True:
        free = np.flatnonzero(sides == FREE)
        tries = np.repeat(sides[None], 1 + 2 * len(free), axis=0)
        every = np.arange(len(free))
        tries[1 + every, free], tries[1 + len(free) + every, free] = 0, 1
        uppers = uppers_of(tries)
        if uppers[0] <= cost:
            return None
        below, at = uppers[1 : 1 + len(free)] > cost, uppers[1 + len(free) :] > cost
        if (~below & ~at).any():
            return None
        forced = ~(below & at)
        if not forced.any():
            return float(uppers[0]), sides
        sides = sides.copy()
        sides[free[forced]] = np.where(at[forced], 1, 0)


class _Row:
    """Branch and bound for one row."""

    def __init__(self, case: _Case, number: int, now: Sides, reachable: Sides, cost: float) -> None:
        self.case, self.number, self.now, self.reachable = case, number, now, reachable
        self.row, self.radius = case.X[number].astype(np.float64), float(case.radii[number])
        self.cost, self.point = cost, self.row
        self.doubtful: Floats | None = None
        self.n_nodes = 0
        self.away = case.planes.distances(case.planes.W @ self.row - case.planes.T)

    def run(self, most_nodes: int) -> tuple[float, float, Floats]:
        numbers = count()
        still = np.zeros(len(self.row))
        heap: list[tuple[float, int, Sides, Floats | None]] = []
        undecided = -np.inf

        def push(sides: Sides, delta: Floats | None) -> None:
            found = settled(lambda tries: self.case.uppers(tries, np.full(len(tries), self.number)), sides, self.cost)
            if found is not None:
                upper, sides = found
                agrees = delta is not None and self._holds(sides, delta)
                heapq.heappush(heap, (-upper, -next(numbers), sides, delta if agrees else None))

        push(self.reachable.copy(), still)
        while heap and -heap[0][0] > self.cost:
            if self.n_nodes >= most_nodes:
                return self.cost, max(-heap[0][0], undecided), self.point
            self.n_nodes += 1
            negative, _, sides, delta = heapq.heappop(heap)
            if delta is None:
                try:
                    move = self._deepest(sides)
                except SolverFailure:
                    undecided = max(undecided, -negative)
                    continue
                if move is None:
                    continue
                delta = move
                self._try(delta)
            free = np.flatnonzero(sides == FREE)
            if not len(free):
                # All sides are fixed, but the point does not have this cost: rounding leaves it in doubt.
                undecided = max(undecided, -negative)
                self.doubtful = self._inside(delta)
                continue
            chosen, here = self._branch(free, delta)
            for side in (here, 1 - here):  # of equal bounds, the one pushed last is popped first
                child = sides.copy()
                child[chosen] = side
                if self.case.planes.is_ordered(child, chosen):
                    push(child, delta)
        if undecided > self.cost and self.doubtful is not None:
            return self.cost, undecided, self.doubtful
        return self.cost, max(self.cost, undecided), self.point

    def _holds(self, sides: Sides, delta: Floats) -> bool:
        """Whether the perturbed row lies on the fixed sides."""
        here = self.case.planes.sides_at(self.row + delta) if delta.any() else self.now
        return bool(((sides == FREE) | (sides == here)).all())

    def _deepest(self, sides: Sides) -> Floats | None:
        """The point deepest on the fixed sides; None if it is proven that there is none."""
        fixed = np.flatnonzero((sides != FREE) & (self.reachable == FREE))
        halves = self.case.planes.halfspaces(self.row, sides, fixed)
        move = self.case.uncertainty.deepest(self.row, self.radius, halves)
        if move.bound > 0:
            return None
        if move.delta is None:
            raise SolverFailure("neither a point nor a proof that there is none")
        return move.delta

    def _try(self, delta: Floats) -> None:
        """Keep the perturbed row if it is in the set and costs more."""
        point = self._inside(delta)
        if point is None:
            return
        cost = float(self.case.attained(point[None], np.array([self.number]))[0])
        if cost > self.cost:
            self.cost, self.point = cost, point

    def _inside(self, delta: Floats) -> Floats | None:
        """The perturbed row, slightly nearer if rounding moves it out of the set."""
        for shrink in _SHRINK:
            point = self.case.uncertainty.clipped(self.row, self.row + delta * (1 - shrink))
            if self.case.uncertainty.contains(self.row, point, self.radius):
                return point
        return None

    def _branch(self, free: Ints, delta: Floats) -> tuple[int, int]:
        """The free hyperplane farthest from the row, the hardest to cross, and the side of the perturbed row."""
        planes = self.case.planes
        chosen = int(free[int(self.away[free].argmax())])
        value = planes.W[chosen] @ (self.row + delta) - planes.T[chosen]
        return chosen, int(value >= 0) if delta.any() else int(self.now[chosen])
