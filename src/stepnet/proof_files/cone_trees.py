"""Cone trees: checks that no neuron loses less than a target, from a tree of cones of neurons.

This file shares no code with the prover. A fan of rays, in integers, surrounds 0; a tree says on which edge and where
cones are divided. The values of rows at the corners are intervals, rounded outward, or rationals where these are too
wide. For each leaf the
checker finds multipliers of its own: with 0 <= y_i <= 1 and M_i >= -min of row i's values at the corners, no neuron of
a cone loses less than the least of Σ c_i y_i (-value_i) / M_i over its corners. If that is not enough, it asks again
about the part of the cone where neurons can be better; if that is not enough either, it divides the cone itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from stepnet.proof_files.question import CheckError

Array = Any  # of floats, or of rationals
Path = Any  # how a cone came about: the path before, the edge, the place on it and the corner replaced; None at first
STEPS = 1024  # of an edge
_FEW, _MANY = 2, 12  # generations that the checker divides a leaf by itself, at most
_ROUNDS = 24
_SMALLEST = 2.0**-600  # values are divided by nothing smaller


@dataclass(frozen=True)
class Tree:
    """Rays (w, t) as integers; entries as described in ``docs/proofs.md``; rows and what they lose at least.

    Entries: -1 is a leaf; -2 - k a leaf whose rows of the k-th tree before lose enough by themselves; others are
    (first corner · n + second corner) · 1024 + place, for n corners.
    """

    rays: list[list[int]]
    entries: list[int]
    rows: list[int]
    target: int


@dataclass(frozen=True)
class Rows:
    """Points, signs (1 where a neuron must be on, otherwise -1) and weights, which are whole numbers."""

    points: list[list[float]]
    signs: list[int]
    weights: list[int]


def check_trees(
    rows: Rows, trees: Sequence[Tree], *, is_exact: bool = False, should_stop: Callable[[], bool] = lambda: False
) -> int:
    """Check all trees, the later ones relying on the earlier; how many cones the checker looked at.

    Raises CheckError if one of them does not hold, and TimeoutError if the time is up. ``is_exact`` is for small trees:
    every number is a rational then.
    """
    return sum(_Check(rows, tree, trees[:k], is_exact, should_stop).work() for k, tree in enumerate(trees))


class _Check:
    def __init__(
        self, rows: Rows, tree: Tree, before: Sequence[Tree], is_exact: bool, should_stop: Callable[[], bool]
    ) -> None:
        self.tree, self.before, self.is_exact, self.should_stop = tree, before, is_exact, should_stop
        if len(set(tree.rows)) != len(tree.rows) or not all(0 <= row < len(rows.points) for row in tree.rows):
            raise CheckError("the rows of a tree must be different rows")
        self.numbers = np.array(tree.rows, dtype=np.int64)
        weights = [rows.weights[row] for row in tree.rows]
        self.weights: Array = np.array(weights, dtype=object if is_exact else np.float64)
        if min(weights, default=0) < 0 or sum(weights) >= 2**53:
            raise CheckError("weights must be whole numbers below 2^53")
        vectors = [[*map(Fraction, rows.points[row]), Fraction(-1)] for row in tree.rows]
        products = [
            [rows.signs[row] * _sum(vector, ray) for ray in tree.rays]
            for row, vector in zip(tree.rows, vectors, strict=True)
        ]
        self.n = len(tree.rays) - 1
        if not tree.rows or self.n < 1 or any(sum(column) for column in zip(*tree.rays, strict=True)):
            raise CheckError("the rays do not add up to 0, or there are no rows")
        if not _rank(products) == self.n == _rank(vectors):
            raise CheckError("the rays do not span what the rows do")
        self.products, (self.low, self.high) = products, self._intervals(products)
        self.place, self.n_cones = 0, 0

    def _intervals(self, products: list[list[Fraction]]) -> tuple[Array, Array]:
        """The values at the rays, each row divided by its largest one."""
        largest = [max(map(abs, row)) for row in products]
        exact = np.array([[value / most for value in row] for row, most in zip(products, largest, strict=True)]).T
        if self.is_exact:
            return exact, exact
        floats = exact.astype(np.float64)
        return np.nextafter(floats, -np.inf), np.nextafter(floats, np.inf)

    def work(self) -> int:
        """Follow the tree from every cone of the fan."""
        for left_out in range(self.n + 1):
            self._follow([ray for ray in range(self.n + 1) if ray != left_out])
        if self.place != len(self.tree.entries):
            raise CheckError("the tree has more entries than cones")
        return self.n_cones

    def _follow(self, rays: list[int]) -> None:
        """Depth first, without recursion: trees can be deep."""
        stack: list[tuple[Array, Array, Path]] = [(self.low[rays], self.high[rays], None)]
        while stack:
            if self.should_stop():
                raise TimeoutError
            low, high, path = stack.pop()
            if self.place >= len(self.tree.entries):
                raise CheckError("the tree ends too early")
            entry = self.tree.entries[self.place]
            self.place += 1
            if entry < 0:
                # Some divisions, then rationals, then many divisions.
                is_pruned = self._is_pruned(low, high, entry, _FEW) or self._is_pruned_exactly(rays, path, entry)
                if not is_pruned and not self._is_pruned(low, high, entry, _MANY):
                    raise CheckError("a cone may have a better neuron")
                continue
            edge, step = divmod(entry, STEPS)
            first, second = divmod(edge, self.n)
            if not (0 <= first < self.n and first != second and 0 < step < STEPS):
                raise CheckError(f"entry {entry} is no edge")
            one, other = self._divided(low, high, first, second, step)
            stack += [(*other, (path, first, second, step, first)), (*one, (path, first, second, step, second))]

    def _is_pruned_exactly(self, rays: list[int], path: Path, entry: int) -> bool:
        """Check a leaf in rationals, for which intervals may be too wide."""
        if self.is_exact:
            return False
        divisions = []
        while path is not None:
            path, *division = path
            divisions.append(division)
        corners = [[Fraction(int(ray == other)) for other in range(self.n + 1)] for ray in rays]
        for first, second, step, replaced in reversed(divisions):
            share = Fraction(step, STEPS)
            pairs = zip(corners[first], corners[second], strict=True)
            corners[replaced] = [(1 - share) * a + share * b for a, b in pairs]
        exact: Array = np.array([[_sum(row, corner) for row in self.products] for corner in corners])
        weights, self.is_exact, self.weights = self.weights, True, self.weights.astype(np.int64).astype(object)
        try:
            return self._is_pruned(exact, exact, entry, _FEW)
        finally:
            self.is_exact, self.weights = False, weights

    def _divided(self, low: Array, high: Array, first: int, second: int, step: int) -> tuple[Any, Any]:
        """The half at the first corner, and that at the second."""
        share = Fraction(step, STEPS) if self.is_exact else step / STEPS
        below = self._between(low[first], low[second], share, -1)
        above = self._between(high[first], high[second], share, 1)
        one, other = (low.copy(), high.copy()), (low.copy(), high.copy())
        one[0][second], one[1][second] = below, above
        other[0][first], other[1][first] = below, above
        return one, other

    def _between(self, one: Array, other: Array, share: Any, side: int) -> Array:
        """(1 - share) · one + share · other, rounded to one side; the share is a multiple of 2^-30."""
        if self.is_exact:
            return (1 - share) * one + share * other
        left, right = (np.nextafter(part, side * np.inf) for part in ((1.0 - share) * one, share * other))
        return np.nextafter(left + right, side * np.inf)

    def _is_pruned(self, low: Array, high: Array, entry: int, deeper: int) -> bool:
        """Whether no neuron of a leaf loses less than the target, by multipliers or by rows of an earlier tree."""
        if entry == -1:
            return self._holds(low, high, self.weights, self.tree.target, deeper)
        if -2 - entry >= len(self.before):
            raise CheckError(f"entry {entry} names no tree before this one")
        few = self.before[-2 - entry]
        if not set(few.rows) <= set(self.tree.rows):
            raise CheckError("a tree relies on rows that it does not have")
        is_other = ~np.isin(self.numbers, few.rows)
        self.n_cones += 1
        return bool(self.weights[is_other & (high.max(axis=0) <= 0)].sum() + few.target >= self.tree.target)

    def _holds(self, low: Array, high: Array, weights: Array, target: Any, deeper: int) -> bool:
        """Whether no neuron of a cone loses less than a target."""
        self.n_cones += 1
        low, high, weights, need = _undecided(low, high, weights, target)
        if need <= 0:
            return True
        bounds = self._bounds(low, high, weights, need)
        if bounds.min() > need - 1 or self._part_holds(low, high, weights, need, bounds):
            return True
        if not deeper or not len(weights):
            return False
        halves = self._divided(low, high, *self._longest(low, high, weights), STEPS // 2)
        return all(self._holds(low, high, weights, need, deeper - 1) for low, high in halves)

    def _longest(self, low: Array, high: Array, weights: Array) -> tuple[int, int]:
        """The edge on which most rows change."""
        middle = ((low + high) / 2).astype(np.float64)
        edges = [(a, b) for a in range(self.n) for b in range(a + 1, self.n)]
        spread = np.maximum(middle.max(axis=0) - middle.min(axis=0), 1e-300)
        gains = [
            ((middle[a] * middle[b] < 0) * weights.astype(np.float64) * abs(middle[a] - middle[b]) / spread).sum()
            for a, b in edges
        ]
        return edges[int(np.argmax(gains))]

    def _part_holds(self, low: Array, high: Array, weights: Array, need: Any, bounds: Array) -> bool:
        """The same for the part of a cone where the bounds at its corners allow better neurons."""
        is_good = bounds <= need - 1
        if is_good.all():
            return False
        lows, highs = list(low[is_good]), list(high[is_good])
        for one in np.flatnonzero(is_good):
            for other in np.flatnonzero(~is_good):
                end = float((need - 1 - bounds[one]) / (bounds[other] - bounds[one]))
                beyond = min(1.0, (np.floor(end * 2.0**30) + 2.0) / 2.0**30)
                share = Fraction(beyond) if self.is_exact else beyond
                lows.append(self._between(low[one], low[other], share, -1))
                highs.append(self._between(high[one], high[other], share, 1))
        low, high, weights, need = _undecided(np.array(lows), np.array(highs), weights, need)
        return bool(need <= 0 or self._bounds(low, high, weights, need).min() > need - 1)

    def _bounds(self, low: Array, high: Array, weights: Array, need: Any) -> Array:
        """What the checker's multipliers prove at each corner, rounded down."""
        if not len(weights):
            return np.zeros(len(low))
        smallest: Any = Fraction(_SMALLEST) if self.is_exact else _SMALLEST
        scales = np.maximum(-low.min(axis=0), smallest)
        gains = -high.astype(np.float64) * (weights / scales).astype(np.float64)
        multipliers = _multipliers(gains, float(need))
        if self.is_exact:
            exact = np.array([Fraction(value) for value in multipliers]) * weights / scales
            return (-high * exact).sum(axis=1)
        shares = np.nextafter(np.nextafter(multipliers * weights, 0.0) / scales, 0.0)
        terms = np.nextafter(-high * shares, -np.inf)
        return terms.sum(axis=1) - (len(weights) + 2) * 2.0**-52 * np.abs(terms).sum(axis=1)


def _undecided(low: Array, high: Array, weights: Array, target: Any) -> tuple[Array, Array, Array, Any]:
    """Without the rows that are wrong at all corners, which lower the target, and those that are right at all."""
    is_wrong = high.max(axis=0) <= 0
    is_open = ~is_wrong & (low.min(axis=0) < 0)
    return low[:, is_open], high[:, is_open], weights[is_open], target - weights[is_wrong].sum()


def _multipliers(gains: Array, need: float) -> Array:
    """Between 0 and 1, so that the least sum of gains of a corner is large; a game of some rounds."""
    n_corners, n_rows = gains.shape
    mixture, total, chosen = np.full(n_corners, 1.0 / n_corners), np.zeros(n_corners), np.zeros(n_rows)
    best, found = -np.inf, chosen
    for r in range(1, _ROUNDS + 1):
        wanted = mixture @ gains > 0
        chosen = chosen + wanted
        gain = gains @ wanted
        total += gain
        if total.min() / r > best:
            best, found = total.min() / r, chosen / r
        if best > need - 0.999:
            break
        excess = total - total.min()
        with np.errstate(over="ignore"):  # what is far too good gets no weight
            mixture = np.exp(-2.0 * excess / (np.abs(gain).max() * np.sqrt(r) + 1e-300))
        mixture /= mixture.sum()
    return np.minimum(found, 1.0)


def _sum(left: Sequence[Fraction], right: Sequence[Fraction | int]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def _rank(matrix: Sequence[Sequence[Fraction]]) -> int:
    """By elimination in rationals."""
    rows, rank = [list(row) for row in matrix], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in rows if row[column]), None)
        if pivot is None:
            continue
        rank += 1
        factors = [(row, row[column] / pivot[column]) for row in rows if row is not pivot]
        rows = [[a - f * b for a, b in zip(row, pivot, strict=True)] if f else row for row, f in factors]
    return rank
