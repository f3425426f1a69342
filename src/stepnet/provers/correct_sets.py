"""Correct sets: sets of rows that a neuron can get right, including all maximal ones that are of use.

A hyperplane that gets some rows right can be moved until it passes through as many rows as there are dimensions, with
all of those rows still on their side or on it. So every hyperplane through that many rows is tried; independent rows
on it can all be made right by a small rotation, others are divided within it in the same way. Signs are computed in
floats if those are certain, otherwise by determinants of integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats
from stepnet.provers.bits import Words, largest, packed
from stepnet.provers.planes import promising
from stepnet.provers.sides import COORDINATES, DIFFERENCES, EXACT, are_simple, right_sets, signs_of, subsets
from stepnet.provers.use import Booleans, Use

_AT_ONCE = 50_000  # hyperplanes per block
_EXACT = 2.0**53  # integers up to here are exact in floats


def correct_sets(rows: list[list[int]], on: Booleans, use: Use | None, should_stop: Callable[[], bool]) -> Words | None:
    """Sets of rows that a neuron can get right, including all maximal ones of use; None if the time is up."""
    points = list(dict.fromkeys(map(tuple, rows)))  # the order of a data set is as good as random
    number = {point: k for k, point in enumerate(points)}
    where = np.array([number[tuple(row)] for row in rows])
    return _Space(points, where, on, should_stop).sets(tuple(range(len(points))), use)


class _Space:
    """The distinct points of the rows, and hyperplanes through them."""

    def __init__(
        self, points: list[tuple[int, ...]], where: NDArray[np.int64], on: Booleans, should_stop: Callable[[], bool]
    ) -> None:
        self.points, self.where, self.on, self.should_stop = points, where, on, should_stop
        has_on, has_off = (np.bincount(where[which], minlength=len(points)) > 0 for which in (on, ~on))
        self.has_both = has_on & has_off
        self.known: dict[tuple[int, ...], Words | None] = {}

    def sets(self, chosen: tuple[int, ...], use: Use | None) -> Words | None:
        """Sets of the rows at some points that a neuron can get right, including all maximal ones of use."""
        if len(chosen) == 1:  # either class, not both
            here = self.where == chosen[0]
            return packed(np.array([here & self.on, here & ~self.on]))
        axes = independent_axes([self.points[k] for k in chosen])
        coordinates = [[self.points[k][axis] for axis in axes] for k in chosen]
        weights = None if use is None else self._weights(use)[:, list(chosen)]
        parts = [packed(np.zeros((1, len(self.where)), dtype=bool))]
        seen: set[tuple[int, ...]] = set()
        for signs in sign_patterns(coordinates, self.should_stop, use, weights):
            sides = signs
            if len(chosen) < len(self.points):
                sides = np.full((len(signs), len(self.points)), 2, dtype=np.int8)  # other points are ignored
                sides[:, chosen] = signs
            part = self._divided(sides, len(axes), use, seen)
            if part is None:
                return None
            parts.append(part if use is None else use.kept(part))
        return None if self.should_stop() else np.concatenate(parts)

    def _weights(self, use: Use) -> NDArray[np.int64]:
        """The weight of both classes at every point."""
        weights = np.zeros((2, len(self.points)), dtype=np.int64)
        np.add.at(weights, (self.on.astype(np.int64), self.where), use.weights)
        return weights

    def _divided(
        self, sides: NDArray[np.int8], dimension: int, use: Use | None, seen: set[tuple[int, ...]]
    ) -> Words | None:
        """The sets of some hyperplanes in both orientations, given on which side of each the points are."""
        # Independent points, each with rows of one class: a small rotation makes all of them right.
        is_simple = are_simple(sides, dimension, self.has_both)
        parts = [right_sets(sides[is_simple], self.where, self.on, True)]
        for pattern in np.unique(sides[~is_simple], axis=0):
            if self.should_stop():
                return None
            inside = tuple(np.flatnonzero(pattern == 0).tolist())
            if inside in seen:  # many choices of its points lead to a hyperplane
                continue
            seen.add(inside)
            both = right_sets(pattern[None], self.where, self.on, False)
            within = self._within(inside, both, pattern, use)
            if within is None:
                return None
            parts += [both[0] | within, both[1] | within]
        return np.concatenate(parts)

    def _within(self, inside: tuple[int, ...], both: Words, pattern: NDArray[np.int8], use: Use | None) -> Words | None:
        """The sets within a hyperplane that are of use, given the sets of rows strictly on its sides that are right."""
        if use is not None and use.is_of_one:
            sides = pattern[self.where]
            return self.sets(inside, use.within(sides == 0, both, np.abs(sides) == 1))
        if inside not in self.known:  # it may be within several hyperplanes
            found = self.sets(inside, None)
            self.known[inside] = None if found is None else largest(found, self.should_stop)
        return self.known[inside]


def independent_axes(points: list[list[int]] | list[tuple[int, ...]], most: int | None = None) -> list[int]:
    """As few axes as the dimension of what the points span, on which their projection is one-to-one; up to ``most``."""
    first = points[0]
    rows = [[a - b for a, b in zip(point, first, strict=True)] for point in points[1:]]
    axes: list[int] = []
    for axis in range(len(first)):
        pivot = next((row for row in rows if row[axis]), None)
        if pivot is None:
            continue
        axes.append(axis)
        if len(axes) == most:
            break
        rows = [
            [pivot[axis] * a - row[axis] * b for a, b in zip(row, pivot, strict=True)]
            for row in rows
            if row is not pivot
        ]
        rows = [[value // (math.gcd(*row) or 1) for value in row] for row in rows]
    return axes


def sign_patterns(
    points: list[list[int]], should_stop: Callable[[], bool], use: Use | None = None, weights: Any = None
) -> Iterator[NDArray[np.int8]]:
    """On which side of hyperplanes through independent points the points are.

    All hyperplanes, or those that may be of use, given the ``weights`` of both classes at the points.
    """
    n = len(points[0])
    columns = list(zip(*points, strict=True))
    spans = [max(column) - min(column) for column in columns]
    largest_value = math.factorial(n) * math.prod(max(1, span) for span in spans)
    lows = [min(column) for column in columns]
    shifted = [[value - low for value, low in zip(point, lows, strict=True)] for point in points]
    accuracy, scales = EXACT, [0] * n
    if largest_value >= _EXACT:  # minors may be integers that floats cannot represent
        # Differences of the points are exact in floats if the points are; otherwise small ones are mostly error.
        accuracy = DIFFERENCES if max(spans) < _EXACT else COORDINATES
        scales = [span.bit_length() for span in spans]
    floats: Floats = np.array(
        [[float(Fraction(value, 1 << scale)) for value, scale in zip(point, scales, strict=True)] for point in shifted]
    )
    if use is None:
        blocks = subsets(len(points), n, _AT_ONCE)
    else:
        blocks = promising(floats, weights, use.alone, lambda: use.most, accuracy, should_stop)
    for chosen in blocks:
        if should_stop():
            return
        signs, in_doubt = signs_of(floats, chosen, accuracy)
        for k in np.flatnonzero(in_doubt):
            if should_stop():
                return
            signs[k] = exact_signs(shifted, tuple(chosen[k].tolist()))
        signs = signs[(signs != 0).any(axis=1) | (len(points) == n)]
        if len(signs):
            yield signs


def exact_signs(points: list[list[int]], chosen: tuple[int, ...]) -> list[int]:
    """On which side of the hyperplane through the chosen points each point is; 0 everywhere if they span none."""
    base = points[chosen[0]]
    edges = [[a - b for a, b in zip(points[k], base, strict=True)] for k in chosen[1:]]
    normal = _cofactors(edges, len(base))
    values = [sum(c * (a - b) for c, a, b in zip(normal, point, base, strict=True)) for point in points]
    return [(value > 0) - (value < 0) for value in values]


def _cofactors(rows: list[list[int]], n: int) -> list[int]:
    """A vector that is orthogonal to n - 1 rows, by minors."""
    minors = {0: 1}
    for row in rows:
        larger: dict[int, int] = {}
        for mask, minor in minors.items():
            for c in range(n):
                if not mask >> c & 1:
                    sign = -1 if (mask >> c).bit_count() % 2 else 1
                    larger[mask | 1 << c] = larger.get(mask | 1 << c, 0) + sign * row[c] * minor
        minors = larger
    full = (1 << n) - 1
    return [(-1 if (full >> c + 1).bit_count() % 2 else 1) * minors[full ^ 1 << c] for c in range(n)]
