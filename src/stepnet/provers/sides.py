"""Sides: on which side of a hyperplane through some of the points the others are, and which rows that gets right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.runtime.compiling import kernel

EXACT, DIFFERENCES, COORDINATES = 0, 1, 2  # what is exact in floats: all minors; differences of points; neither
_ROUNDING = (
    64 * 2.0**-52
)  # error of a determinant of at most 6 rows, relative to the sum of the absolute values of its terms
_UNDERFLOW = 1e-290


def signs_of(points: Any, chosen: Any, accuracy: int) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """On which side of hyperplanes through chosen points each point is, and which hyperplanes rounding leaves in doubt.

    0 everywhere if the chosen points span no hyperplane. Rounded points must be within [0, 1].
    """
    signs, in_doubt = _signs(points, chosen, 0.0 if accuracy == EXACT else _ROUNDING, accuracy == DIFFERENCES)
    return signs, in_doubt


def subsets(n_points: int, size: int, at_once: int) -> Iterator[NDArray[np.int64]]:
    """All subsets of ``size`` points, in blocks."""
    members = chain.from_iterable(combinations(range(n_points), size))
    while len(block := np.fromiter(islice(members, at_once * size), np.int64)):
        yield block.reshape(-1, size)


@kernel(nogil=True)
def right_sets(sides: Any, where: Any, on: Any, with_plane: bool) -> Any:
    """The rows that hyperplanes get right in both orientations, from the sides of their points; side 2 is ignored."""
    n_words = (len(where) + 63) // 64
    sets = np.zeros((2 * len(sides), n_words), np.uint64)
    for k in range(len(sides)):
        for row in range(len(where)):
            side = sides[k, where[row]]
            bit = np.uint64(1) << np.uint64(row % 64)
            if side == 0:
                if with_plane:
                    sets[2 * k, row // 64] |= bit
                    sets[2 * k + 1, row // 64] |= bit
            elif side != 2:
                sets[2 * k + ((side > 0) != on[row]), row // 64] |= bit
    return sets


@kernel(nogil=True)
def _signs(points: Any, chosen: Any, rounding: float, is_relative: bool) -> Any:
    """Minors column by column; with rounding, coordinates differ by at most 1."""
    n_points, n = points.shape
    n_masks = 1 << n
    signs = np.zeros((len(chosen), n_points), np.int8)
    in_doubt = np.zeros(len(chosen), np.bool_)
    minors, sizes = np.empty(n_masks), np.empty(n_masks)
    normal = np.empty(n)
    counts = np.zeros(n_masks, np.int64)
    small = rounding  # exceeds every rounding error
    for mask in range(1, n_masks):
        counts[mask] = counts[mask >> 1] + (mask & 1)
    for factor in range(2, n + 1):
        small *= factor
    for k in range(len(chosen)):
        base = chosen[k, 0]
        minors[0] = sizes[0] = 1.0
        has_sizes = False
        for mask in range(1, n_masks - 1):
            size = counts[mask]
            minors[mask] = 0.0
            for c in range(n):
                if mask >> c & 1:
                    rest = mask ^ (1 << c)
                    term = (points[chosen[k, size], c] - points[base, c]) * minors[rest]
                    minors[mask] += -term if counts[rest >> c] % 2 else term
        for c in range(n):
            minor = minors[(n_masks - 1) ^ (1 << c)]
            normal[c] = -minor if counts[(n_masks - 1) >> (c + 1)] % 2 else minor
        for p in range(n_points):
            value = 0.0
            for c in range(n):
                value += normal[c] * (points[p, c] - points[base, c])
            if abs(value) > small + _UNDERFLOW or (value != 0.0 and rounding == 0.0):
                signs[k, p] = 1 if value > 0 else -1
                continue
            if rounding == 0.0:
                continue
            is_chosen = False
            for q in range(n):
                is_chosen = is_chosen or chosen[k, q] == p
            if is_chosen:
                continue
            if not is_relative:
                in_doubt[k] = True
                continue
            if not has_sizes:  # the sums of the absolute values of the terms
                has_sizes = True
                for mask in range(1, n_masks - 1):
                    sizes[mask] = 0.0
                    for c in range(n):
                        if mask >> c & 1:
                            edge = points[chosen[k, counts[mask]], c] - points[base, c]
                            sizes[mask] += abs(edge) * sizes[mask ^ (1 << c)]
            extent = 0.0
            for c in range(n):
                extent += sizes[(n_masks - 1) ^ (1 << c)] * abs(points[p, c] - points[base, c])
            if abs(value) > rounding * extent + _UNDERFLOW:
                signs[k, p] = 1 if value > 0 else -1
            else:
                in_doubt[k] = True
    return signs, in_doubt


@kernel(nogil=True)
def are_simple(sides: Any, dimension: int, has_both: Any) -> Any:
    """Whether a hyperplane passes through exactly as many points as it needs, each with rows of one class."""
    found = np.empty(len(sides), np.bool_)
    for k in range(len(sides)):
        n_on = 0
        for p in range(len(has_both)):
            if sides[k, p] == 0:
                n_on += dimension + 1 if has_both[p] else 1
        found[k] = n_on == dimension
    return found
