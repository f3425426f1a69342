"""Adversary: the smallest move of a row that changes a network's answer.

Every first-layer threshold is a hyperplane. A move changes the answer if it puts the row on sides of the
hyperplanes from which the layers above answer otherwise. Best-first branch and bound over the sides: a node
fixes some of them, and its bound is the larger of two radii that nothing in it can undercut,

    the nearest point on the fixed sides (a linear program; for ℓ2 least distance), and
    the smallest radius at which the sides in reach, each for itself, could change the answer.

Being below a threshold is relaxed to being at it, so the radius found is a lower bound on every move that
changes the answer: no smaller one does. Attacks are points strictly on their sides, verified by an exact forward pass.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from stepnet.activation import ARGMAX, IDENTITY, Staircase
from stepnet.arithmetic import Floats
from stepnet.errors import InvalidInputError, SolverFailure
from stepnet.network import Layer, Network
from stepnet.uncertainty.programs import minimise
from stepnet.uncertainty.sets import Ball

Sides = NDArray[np.int8]  # of the hyperplanes: 1 or 0 where fixed, -1 where free

_FREE = -1
_DOUBT = 1e-9  # relative: sums this close to a threshold may lie on either side
_SAFETY = 1e-9  # relative, taken off a radius for the rounding of programs
_NUDGES = (1e-9, 1e-8, 1e-7, 1e-6)  # how far inside its sides an attack begins


@dataclass(frozen=True)
class Attack:
    """What an adversary can do to one row.

    Attributes
    ----------
    radius : float
        No move smaller than this changes the answer; infinite if none does.
    point : ndarray or None
        The row moved so that the answer changes, verified; None if none was found.
    size : float
        The size of that move, at least ``radius`` and nearly equal to it; infinite without a point.
    is_complete : bool
        False if the search ended at its limit; then ``radius`` is what it had shown by then.
    """

    radius: float
    point: Floats | None
    size: float
    is_complete: bool = True


class Adversary:
    """Attacks on one network within balls of one norm, scale and range; the radius of the ball plays no part."""

    def __init__(self, network: Network, ball: Ball, most_nodes: int = 20_000) -> None:
        first = network.layers[0]
        if first.activation == IDENTITY or (len(network.layers) == 1 and first.activation == ARGMAX):
            raise InvalidInputError("an attack needs a step layer below the outputs; this network has none.")
        self.network, self.ball, self.most_nodes = network, ball, most_nodes
        self.n_thresholds = first.activation.n_thresholds
        self.W = np.repeat(first.weights, self.n_thresholds, axis=0)  # one row a hyperplane
        self.T = first.thresholds.ravel()
        self.scales = ball.scales(network.n_features)
        self.low, self.high = ball.limits(network.n_features)
        dual = {"l1": np.inf, "l2": 2, "linf": 1}[ball.norm]
        self.sizes = np.linalg.norm(self.W * self.scales, ord=dual, axis=1)
        self.above = _Above(network.layers)

    def attack(self, row: Floats, target: int | None = None) -> Attack:
        """The smallest move that makes the network answer something else than ``target`` (default: its answer)."""
        levels = self.network.levels(row[None])
        answer = int(self.network.predict(row[None])[0]) if target is None else target
        if int(self.network.predict(row[None])[0]) != answer:
            return Attack(0.0, row.copy(), 0.0)
        now = (levels[0][0][:, None] > np.arange(self.n_thresholds)).astype(np.int8).ravel()
        return _Branching(self, row, now, answer).run()

    def levels(self, sides: Sides) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The lowest and highest level of each neuron."""
        blocks = sides.reshape(-1, self.n_thresholds)
        return (blocks == 1).sum(axis=1), (blocks != 0).sum(axis=1)

    def nearest(self, row: Floats, sides: Sides, nudge: float = 0.0) -> tuple[float, Floats] | None:
        """The smallest move onto the fixed sides, and its size; None if there is none."""
        fixed = np.flatnonzero(sides != _FREE)
        signs = np.where(sides[fixed] == 1, 1.0, -1.0)
        G = signs[:, None] * self.W[fixed]
        inside = nudge * (1.0 + np.abs(self.T[fixed]) + np.abs(self.W[fixed]) @ np.abs(row))
        h = signs * (self.T[fixed] - self.W[fixed] @ row) + inside
        scaled = G * self.scales  # in units of the ball
        low, high = (self.low - row) / self.scales, (self.high - row) / self.scales
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        z = _least_distance(scaled, h, low, high) if self.ball.norm == "l2" else self._by_program(scaled, h, low, high)
        if z is None:
            return None
        move = z * self.scales
        return float(self.ball.size(move[None])[0]), move

    def _by_program(self, G: Floats, h: Floats, low: Floats, high: Floats) -> Floats | None:
        """min ‖z‖ with G z >= h and low <= z <= high, in ℓ∞ (one more variable) or ℓ1 (z = p - q)."""
        n = G.shape[1]
        if self.ball.norm == "l1":
            bounds = np.column_stack([np.zeros(2 * n), np.concatenate([high, -low])])
            found = minimise(np.ones(2 * n), np.hstack([G, -G]), h, *bounds.T)
            return None if found is None else found[:n] - found[n:]
        eye, ones = np.eye(n), np.ones((n, 1))
        rows = np.vstack([np.hstack([G, np.zeros((len(G), 1))]), np.hstack([-eye, ones]), np.hstack([eye, ones])])
        right = np.concatenate([h, np.zeros(2 * n)])
        found = minimise(np.append(np.zeros(n), 1.0), rows, right, np.append(low, 0.0), np.append(high, np.inf))
        return None if found is None else found[:n]


class _Branching:
    """Branch and bound for one row."""

    def __init__(self, adversary: Adversary, row: Floats, now: Sides, answer: int) -> None:
        self.adversary, self.row, self.now, self.answer = adversary, row, now, answer
        values = adversary.W @ row - adversary.T
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.abs(values) / adversary.sizes
        self.distances = np.where(adversary.sizes > 0, distances, np.inf)
        self.order = np.argsort(self.distances, kind="stable")
        self.radius, self.size = np.inf, np.inf
        self.point: Floats | None = None

    def run(self) -> Attack:
        numbers = count()
        start = np.full(len(self.now), _FREE, dtype=np.int8)
        heap: list[tuple[float, int, Sides, Floats | None]] = [(self._alone(start), next(numbers), start, None)]
        n_nodes = 0
        while heap and heap[0][0] < self.size * (1 - 1e-9):
            bound, _, sides, move = heapq.heappop(heap)
            n_nodes += 1
            if n_nodes > self.adversary.most_nodes:
                return self._attack(bound, is_complete=False)
            if move is None:
                try:
                    found = self._nearest(sides)
                except SolverFailure:
                    self.radius = min(self.radius, bound)  # undecided: it may be here
                    continue
                if found is None:
                    continue
                bound, move = max(bound, found[0]), found[1]
                if heap and bound > heap[0][0] + 1e-12:
                    heapq.heappush(heap, (bound, next(numbers), sides, move))
                    continue
            here = self._sides_at(move, sides)
            if self._changes(here):
                self.radius = min(self.radius, bound)
                self._try(here)
                if self.size <= bound * (1 + 1e-6):
                    continue
            for child, child_move in self._children(sides, here, move):
                child_bound = max(bound, self._alone(child))
                if np.isfinite(child_bound):
                    heapq.heappush(heap, (child_bound, next(numbers), child, child_move))
        return self._attack(min([self.radius, *(node[0] for node in heap[:1])]), is_complete=True)

    def _attack(self, radius: float, *, is_complete: bool) -> Attack:
        radius = min(radius, self.size)
        return Attack(radius * (1 - _SAFETY), self.point, self.size, is_complete)

    def _nearest(self, sides: Sides) -> tuple[float, Floats] | None:
        """Only sides that are crossed ask for a move; those kept are asked too, once something moves."""
        fixed = sides != _FREE
        if not (fixed & (sides != self.now)).any():
            return 0.0, np.zeros(len(self.row))
        return self.adversary.nearest(self.row, sides)

    def _sides_at(self, move: Floats, sides: Sides) -> Sides:
        values = self.adversary.W @ (self.row + move) - self.adversary.T
        here = (values >= 0).astype(np.int8)
        if not move.any():
            here = self.now.copy()
        return np.where(sides == _FREE, here, sides).astype(np.int8)

    def _changes(self, sides: Sides) -> bool:
        levels, _ = self.adversary.levels(sides)
        return self.adversary.above.answer(levels) != self.answer

    def _alone(self, sides: Sides) -> float:
        """The smallest radius at which the free sides in reach, each for itself, could change the answer."""
        free = self.order[(sides[self.order] == _FREE) & np.isfinite(self.distances[self.order])]
        if not self._could(sides, free):
            return np.inf
        lowest, highest = 0, len(free)
        while lowest < highest:
            middle = (lowest + highest) // 2
            if self._could(sides, free[:middle]):
                highest = middle
            else:
                lowest = middle + 1
        return float(self.distances[free[lowest - 1]]) if lowest else 0.0

    def _could(self, sides: Sides, loose: NDArray[np.int64]) -> bool:
        partly = np.where(sides == _FREE, self.now, sides).astype(np.int8)
        partly[loose] = _FREE
        return self.adversary.above.could_change(*self.adversary.levels(partly), self.answer)

    def _children(self, sides: Sides, here: Sides, move: Floats) -> Iterator[tuple[Sides, Floats | None]]:
        """One more side fixed both ways: the nearest that is free and could matter."""
        free = np.flatnonzero((sides == _FREE) & np.isfinite(self.distances))
        if not len(free):
            return
        values = np.abs(self.adversary.W[free] @ (self.row + move) - self.adversary.T[free])
        chosen = free[int((values / self.adversary.sizes[free]).argmin())]
        for side in (here[chosen], 1 - here[chosen]):
            child = sides.copy()
            child[chosen] = side
            if self._is_ordered(child, int(chosen)):
                yield child, move if side == here[chosen] else None

    def _is_ordered(self, sides: Sides, chosen: int) -> bool:
        """Whether no higher threshold of the same neuron is reached while a lower one is not."""
        per = self.adversary.n_thresholds
        block = sides[chosen // per * per : (chosen // per + 1) * per]
        reached, missed = np.flatnonzero(block == 1), np.flatnonzero(block == 0)
        return not len(reached) or not len(missed) or reached.max() < missed.min()

    def _try(self, sides: Sides) -> None:
        """A point strictly on these sides, if the exact forward pass agrees that it changes the answer."""
        for nudge in _NUDGES:
            try:
                found = self.adversary.nearest(self.row, sides, nudge)
            except SolverFailure:
                continue
            if found is None:
                return
            point = np.clip(self.row + found[1], self.adversary.low, self.adversary.high)
            size = float(self.adversary.ball.size((point - self.row)[None])[0])
            if size < self.size and int(self.adversary.network.predict(point[None])[0]) != self.answer:
                self.point, self.size = point, size
                return


class _Above:
    """The layers above the first: their answer to levels of the first, and to intervals of levels."""

    def __init__(self, layers: tuple[Layer, ...]) -> None:
        self.first, self.layers = layers[0], layers[1:]

    def answer(self, levels: NDArray[np.int64]) -> int:
        if not self.layers:
            return int(levels[0])
        return int(Network(self.layers).predict(self.first.outputs(levels.astype(np.int16))[None])[0])

    def could_change(self, low: NDArray[np.int64], high: NDArray[np.int64], answer: int) -> bool:
        """Whether some levels between could be answered otherwise; if in doubt, yes."""
        if not self.layers:
            return bool(low[0] != answer or high[0] != answer)
        least, most = _ranges(self.first, low, high)
        for layer in self.layers[:-1]:
            below, above = self._levels(layer, least, most)
            least, most = _ranges(layer, below, above)
        last = self.layers[-1]
        if last.activation == ARGMAX:
            others = np.delete(np.arange(last.width), answer)
            leads = last.weights[others] - last.weights[answer]
            offsets = last.thresholds[others] - last.thresholds[answer]
            _, top = _sums(leads, least, most)
            return bool((top >= offsets - _doubt(leads, least, most, offsets)).any())
        below, above = self._levels(last, least, most)
        return bool(below[0] != answer or above[0] != answer)

    def _levels(self, layer: Layer, least: Floats, most: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        assert isinstance(layer.activation, Staircase)
        thresholds = layer.thresholds.reshape(layer.width, -1)
        bottom, top = _sums(layer.weights, least, most)
        doubt = _doubt(layer.weights, least, most, np.abs(thresholds).max(axis=1))[:, None]
        return (bottom[:, None] >= thresholds + doubt).sum(axis=1), (top[:, None] >= thresholds - doubt).sum(axis=1)


def _sums(weights: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    return up @ least + down @ most, up @ most + down @ least


def _doubt(weights: Floats, least: Floats, most: Floats, thresholds: Floats) -> Floats:
    return np.asarray(_DOUBT * (np.abs(weights) @ np.maximum(np.abs(least), np.abs(most)) + np.abs(thresholds)))


def _ranges(layer: Layer, low: NDArray[np.int64], high: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The least and largest value that neurons hand on at levels between; values need not rise."""
    values = np.array(layer.activation.values)
    levels = np.arange(len(values))
    between = (levels >= low[:, None]) & (levels <= high[:, None])
    return np.where(between, values, np.inf).min(axis=1), np.where(between, values, -np.inf).max(axis=1)


def _least_distance(G: Floats, h: Floats, low: Floats, high: Floats) -> Floats | None:
    """min |z|_2 with G z >= h and low <= z <= high, by non-negative least squares on the dual (Lawson and Hanson)."""
    n = G.shape[1]
    for bound, sign in ((low, 1.0), (high, -1.0)):
        finite = np.isfinite(bound)
        G, h = np.vstack([G, sign * np.eye(n)[finite]]), np.append(h, sign * bound[finite])
    if not (h > 0).any():
        return np.zeros(n)
    scale = float(np.abs(h).max())
    left, right = np.vstack([G.T, h / scale]), np.append(np.zeros(n), 1.0)
    dual, _ = nnls(left, right, maxiter=50 * (len(h) + n))
    residual = left @ dual - right
    if residual[n] > -1e-12 or np.linalg.norm(residual) < 1e-9:
        return None
    z: Floats = -residual[:n] / residual[n] * scale
    if not (G @ z >= h - 1e-7 * (1.0 + np.abs(h))).all():
        raise SolverFailure("least distance ended without a point")
    return z
