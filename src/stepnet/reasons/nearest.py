"""Nearest: the cheapest change of a row to a wanted answer, by branch and bound.

Every first-layer threshold is a hyperplane. A node fixes the sides of some hyperplanes and narrows the ranges of
integer features. Its bound is the larger of two:

    the cheapest point on the fixed sides and in the ranges, a linear program whose multipliers prove it, and
    the cost at which the sides in reach, taken independently, could first give a wanted answer.

If all costs are multiples of one number, bounds are rounded up to the next. Sides that every wanted answer needs are
fixed. Where the program's point is not integral, the ranges of a feature are split; otherwise one more side is fixed
both ways. Points count only if an exact forward pass confirms their answer. Being below a threshold is relaxed to
being at or below it, so the bound holds for all points; where a point cannot be moved off a hyperplane, the bound of
its node stays part of the result.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import SolverFailure
from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.reasons.demand import Demand
from stepnet.reasons.one_feature import OneFeature
from stepnet.reasons.reach import Reach
from stepnet.reasons.units import Model
from stepnet.uncertainty.ball import Ball
from stepnet.uncertainty.halfspaces import Halfspaces

Sides = NDArray[np.int8]  # of the hyperplanes: 1 or 0 where fixed, -1 where free

FREE = -1
_DOUBT, _SCALED_DOUBT = 1e-13, 1e-11  # relative rounding errors of sums, and of those with folded scales
_SAFETY = 1e-9  # relative, of bounds that are rounded up to a grid
_WHOLE = 1e-6  # distance from an integer that counts as none
_NUDGES = (0.0, 1e-9, 1e-8, 1e-7, 1e-6)  # how far inside its sides a point is placed
_FAR = 1e8  # times the farthest hyperplane: nothing can be that expensive
_CLOSE = 1e-6  # relative: a point that is this close to its bound is the cheapest
_CANDIDATES = 12  # for branching


@dataclass(frozen=True)
class Found:
    """The cheapest point that was found, its price, and a lower bound on the price of every other."""

    point: Floats | None
    price: float
    bound: float
    is_complete: bool


class Node(NamedTuple):
    bound: float
    number: int
    sides: Sides
    low: Floats
    high: Floats


class Nearest:
    """Branch and bound for one row; ``demand`` is for this row, in ℓ1 or ℓ∞."""

    def __init__(self, model: Model, demand: Demand, row: Floats, wanted: Ints, most_nodes: int = 20_000) -> None:
        self.model, self.demand, self.row, self.most_nodes = model, demand, row, most_nodes
        self.reach = Reach(model.network, wanted)
        first = model.in_units.layers[0]
        self.n_ends = first.activation.n_thresholds
        self.W, self.T = np.repeat(first.weights, self.n_ends, axis=0), first.thresholds.ravel()
        doubt = _SCALED_DOUBT if any(model.arithmetic) else _DOUBT
        self.errors = doubt * (len(row) + 4) * (np.abs(self.W) @ np.abs(row) + np.abs(self.T))
        self.values = self.W @ row - self.T
        can_change = demand.low < demand.high
        spread = np.where(can_change, np.abs(self.W) / demand.costs, 0.0)
        self.slopes = spread.max(axis=1) if demand.norm == "l1" else spread.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.maximum(np.abs(self.values) - self.errors, 0.0) / (self.slopes * (1 + 1e-12))
        self.distances = np.where(self.slopes > 0, away, np.inf)  # costs to cross each hyperplane, at least
        levels = model.network.levels(model.taken(row[None]))[0]
        self.now = (levels[:, :, None] > np.arange(self.n_ends)).astype(np.int8).reshape(-1)
        self.farthest = _FAR * (1.0 + float(self.distances[np.isfinite(self.distances)].max(initial=0.0)))
        self.grid = demand.grid(row)
        self.point: Floats | None = None
        self.price = math.inf

    def run(self, *, any_point: bool = False) -> Found:
        """The cheapest point; with ``any_point`` the first that is found."""
        self._begin()
        start = np.full(len(self.T), FREE, dtype=np.int8)
        numbers, unresolved = count(), math.inf
        heap = [Node(0.0, next(numbers), start, self.demand.low, self.demand.high)]
        for n_nodes in count():
            if any_point and self.point is not None:
                return Found(self.point, self.price, 0.0, False)
            if not heap or heap[0].bound >= self.price * (1 - _SAFETY):
                return Found(self.point, self.price, min(unresolved, self._closed()), True)
            if n_nodes >= self.most_nodes:
                return Found(self.point, self.price, min(unresolved, heap[0].bound, self._closed()), False)
            node = heapq.heappop(heap)
            for bound, sides, low, high in self._children(node):
                if sides is None:
                    unresolved = min(unresolved, bound)
                elif bound < self.price * (1 - _SAFETY):
                    heapq.heappush(heap, Node(bound, next(numbers), sides, low, high))
        raise AssertionError

    def _begin(self) -> None:
        """The cheapest change of one feature alone."""
        scan = OneFeature(self.model, self.demand.low, self.demand.high, self.demand.is_integer)
        for change in scan.changes(self.row):
            if change.code in self.reach.wanted:
                point = self.row.copy()
                point[change.feature] = change.number
                self._try(point)

    def _closed(self) -> float:
        """Nodes within rounding errors of the best price were not opened."""
        return self.price if self.grid else self.price * (1 - 2 * _SAFETY)

    def _children(self, node: Node) -> Iterator[tuple[float, Sides | None, Floats, Floats]]:
        narrowed = self._narrowed(node)
        if narrowed is None:
            return
        sides, free, low, high = narrowed
        if (low == high).all():  # a single point, whose answer is known exactly
            self._try(low)
            return
        bound = max(node.bound, self._rounded(float(self._alone(sides[None], free)[0])))
        if bound >= self.price * (1 - _SAFETY):
            return
        try:
            delta, proven = self._program(sides, low, high, 0.0)
        except SolverFailure:
            delta, proven = np.zeros(len(self.row)), 0.0
        bound = max(bound, self._rounded(proven))
        if bound >= min(self.price * (1 - _SAFETY), self.farthest):
            return
        if delta is None:  # there is no such point, but the proof of that is too weak
            yield bound, None, low, high
            return
        point = np.clip(self.row + delta, low, high)
        self._try(point)
        if bound >= self.price * (1 - _SAFETY):
            return
        yield from self._branches(bound, sides, free, low, high, point)

    def _branches(
        self, bound: float, sides: Sides, free: Bools, low: Floats, high: Floats, point: Floats
    ) -> Iterator[tuple[float, Sides | None, Floats, Floats]]:
        here = np.where(sides == FREE, (self.W @ point - self.T >= 0).astype(np.int8), sides).astype(np.int8)
        could_split = self.demand.is_integer & (low < high)
        parts = np.where(could_split, np.abs(point - np.round(point)), 0.0)
        if self._has(here):
            if parts.max(initial=0.0) > _WHOLE:
                yield from _split(bound, sides, low, high, int(parts.argmax()), point)
                return
            if self._nudged(here, low, high) and self.price <= bound * (1 + _CLOSE):
                yield bound, None, low, high
                return
            if could_split.any():
                yield from _around(bound, sides, low, high, int(np.where(could_split, high - low, 0).argmax()), point)
                return
        if not free.any():
            if parts.max(initial=0.0) > _WHOLE:
                yield from _split(bound, sides, low, high, int(parts.argmax()), point)
            elif could_split.any():
                yield from _around(bound, sides, low, high, int(np.where(could_split, high - low, 0).argmax()), point)
            else:
                yield bound, None, low, high
            return
        for child_bound, child in self._fixed(bound, sides, free, here, point):
            yield child_bound, child, low, high

    def _fixed(
        self, bound: float, sides: Sides, free: Bools, here: Sides, point: Floats
    ) -> Iterator[tuple[float, Sides]]:
        """Fix one more side both ways: the one for which the bounds of both children rise most."""
        away = np.abs(self.W @ point - self.T) / np.where(self.slopes > 0, self.slopes, 1.0)
        chosen = np.flatnonzero(free)
        chosen = chosen[np.argsort(away[chosen], kind="stable")[:_CANDIDATES]]
        children = np.repeat(sides[None], 2 * len(chosen), axis=0)
        every = np.arange(len(chosen))
        children[every, chosen], children[len(chosen) + every, chosen] = here[chosen], 1 - here[chosen]
        bounds = np.maximum(bound, self._alone(children, free))
        gains = np.minimum(bounds - bound, 1e6 * (1.0 + bound)).reshape(2, -1)
        gains[1] = np.maximum(gains[1], away[chosen] / 2)
        best = int(((gains[0] + 1e-6 * (1.0 + bound)) * (gains[1] + 1e-6 * (1.0 + bound))).argmax())
        for number in (best, len(chosen) + best):
            if np.isfinite(bounds[number]):
                yield self._rounded(float(bounds[number])), children[number]

    def _narrowed(self, node: Node) -> tuple[Sides, Bools, Floats, Floats] | None:
        """Ranges within the best price, sides that are implied, and the free ones in reach; None if nothing is left."""
        low, high = self._within(node.low, node.high)
        if (low > high).any():
            return None
        up, down = np.maximum(self.W, 0.0), np.minimum(self.W, 0.0)
        least = up @ self._finite(low, -1) + down @ self._finite(high, 1) - self.T
        most = up @ self._finite(high, 1) + down @ self._finite(low, -1) - self.T
        if np.isfinite(self.price):
            reach = self.slopes * self.price * (1 + 1e-9)
            least, most = np.maximum(least, self.values - reach), np.minimum(most, self.values + reach)
        ends = np.maximum(np.abs(self._finite(low, -1)), np.abs(self._finite(high, 1)))
        errors = self.errors + _DOUBT * (len(self.row) + 4) * (np.abs(self.W) @ ends)
        errors = np.where(np.isfinite(errors), errors, 0.0)  # then the ends are infinite too
        settled = np.where(least > errors, 1, np.where(most < -errors, 0, FREE))
        settled = np.where(self.slopes > 0, settled, self.now).astype(np.int8)
        if ((settled != FREE) & (node.sides != FREE) & (settled != node.sides)).any():
            return None
        sides = node.sides.copy()
        while True:
            known = np.where(sides == FREE, settled, sides).astype(np.int8)
            free = known == FREE
            implied = self._implied(known, np.flatnonzero(free))
            if implied is None:
                return None
            if not len(implied[0]):
                return np.where(sides == FREE, np.where(free, FREE, settled), sides).astype(np.int8), free, low, high
            sides[implied[0]] = implied[1]

    def _implied(self, known: Sides, free: Ints) -> tuple[Ints, Sides] | None:
        """Free sides of which one way alone could give a wanted answer; None if there is none at all."""
        tries = np.repeat(known[None], 1 + 2 * len(free), axis=0)
        every = 1 + np.arange(len(free))
        tries[every, free], tries[every + len(free), free] = 0, 1
        could = self.reach.could(*self._levels(tries))
        if not could[0]:
            return None
        off, on = could[1 : 1 + len(free)], could[1 + len(free) :]
        one_way = off != on
        return free[one_way], on[one_way].astype(np.int8)

    def _within(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The ranges that a cheaper point stays in."""
        if np.isfinite(self.price):
            step = self.price / self.demand.costs * (1 + 1e-12)
            low, high = np.maximum(low, self.row - step), np.minimum(high, self.row + step)
        whole = self.demand.is_integer
        return np.where(whole, np.ceil(low - 1e-9), low), np.where(whole, np.floor(high + 1e-9), high)

    def _finite(self, ends: Floats, sign: int) -> Floats:
        """Ends for sums: infinite ones are so large that no hyperplane is settled by them."""
        return np.where(np.isfinite(ends), ends, sign * 1e200)

    def _alone(self, sides: Sides, free: Bools) -> Floats:
        """For many sides (nodes × hyperplanes) the cost from which free sides in reach could give a wanted answer."""
        near = np.flatnonzero(free & np.isfinite(self.distances))
        near = near[np.argsort(self.distances[near], kind="stable")]
        ranks = np.full(len(self.T), len(self.T))
        ranks[near] = np.arange(len(near))
        is_loose = (sides[:, None] == FREE) & (ranks < np.arange(len(near) + 1)[:, None])
        tries = np.where(is_loose, FREE, np.where(sides == FREE, self.now, sides)[:, None]).astype(np.int8)
        could = self.reach.could(*self._levels(tries.reshape(-1, len(self.T)))).reshape(len(sides), -1)
        costs = np.concatenate([[0.0], self.distances[near]])
        return np.where(could.any(axis=1), costs[could.argmax(axis=1)], np.inf)

    def _levels(self, sides: Sides) -> tuple[Ints, Ints]:
        blocks = sides.reshape(len(sides), -1, self.n_ends)
        return (blocks == 1).sum(axis=2), (blocks != 0).sum(axis=2)

    def _has(self, sides: Sides) -> bool:
        return bool(self.reach.has(self._levels(sides[None])[0])[0])

    def _program(self, sides: Sides, low: Floats, high: Floats, nudge: float) -> tuple[Floats | None, float]:
        """The cheapest change onto the fixed sides and into the ranges, and a proven bound on its price."""
        fixed = np.flatnonzero((sides != FREE) & (self.slopes > 0))  # the sides of others are what they are
        signs = np.where(sides[fixed] == 1, 1.0, -1.0)
        inside = nudge * (1.0 + np.abs(self.T[fixed]) + np.abs(self.W[fixed]) @ np.abs(self.row))
        eye, demand = np.eye(len(self.row)), self.demand
        raised, lowered = np.flatnonzero(low > demand.low), np.flatnonzero(high < demand.high)
        rows = np.vstack([signs[:, None] * self.W[fixed], eye[raised], -eye[lowered]])
        ends = [-signs * self.values[fixed] + inside, low[raised] - self.row[raised], self.row[lowered] - high[lowered]]
        sizes = [self.errors[fixed], *(1e-15 * (1.0 + np.abs(end)) for end in ends[1:])]
        halves = Halfspaces(rows, np.concatenate(ends), np.concatenate(sizes))
        ball = Ball(demand.norm, scale=tuple(1 / demand.costs), low=tuple(demand.low), high=tuple(demand.high))
        move = ball.smallest(self.row, halves)
        return move.delta, move.bound * (1 - 1e-12)

    def _nudged(self, sides: Sides, low: Floats, high: Floats) -> bool:
        """Try points ever farther inside these sides; whether one of them has a wanted answer."""
        for nudge in _NUDGES:
            try:
                delta, _ = self._program(sides, low, high, nudge)
            except SolverFailure:
                continue
            if delta is None:
                return False
            if self._try(np.clip(self.row + delta, low, high)):
                return True
        return False

    def _try(self, point: Floats) -> bool:
        """Keep a point if an exact forward pass confirms a wanted answer and it is cheaper; whether it has one."""
        point = np.where(self.demand.is_integer & ~self.demand.is_fixed, np.round(point), point)
        point = np.clip(point, self.demand.low, self.demand.high)
        if int(self.model.answers(point[None])[0]) not in self.reach.wanted:
            return False
        price = self.demand.price(self.row, point)
        if price < self.price:
            self.point, self.price = point, price
        return True

    def _rounded(self, bound: float) -> float:
        """Up to the next multiple of the grid."""
        if not self.grid or not math.isfinite(bound):
            return bound
        return math.ceil(bound / self.grid * (1 - _SAFETY) - _SAFETY) * self.grid


def _split(
    bound: float, sides: Sides, low: Floats, high: Floats, i: int, point: Floats
) -> Iterator[tuple[float, Sides, Floats, Floats]]:
    """At or below the integer below the point, and at or above the one above."""
    below, above = high.copy(), low.copy()
    below[i], above[i] = math.floor(point[i]), math.floor(point[i]) + 1
    yield bound, sides, low, below
    yield bound, sides, above, high


def _around(
    bound: float, sides: Sides, low: Floats, high: Floats, i: int, point: Floats
) -> Iterator[tuple[float, Sides, Floats, Floats]]:
    """Below, at and above the integer of the point."""
    at = float(np.clip(np.round(point[i]), low[i], high[i]))
    ends = [(low[i], at - 1), (at, at), (at + 1, high[i])]
    for least, most in ends:
        if least <= most:
            lows, highs = low.copy(), high.copy()
            lows[i], highs[i] = least, most
            yield bound, sides, lows, highs
