"""Hyperplanes: which rows are beside each of all hyperplanes through as many points as there are dimensions.

A value is the determinant of the points and a row, each with a 1 appended. It is computed in floats, together with the
same sum of products of absolute values: the sign counts only if the value exceeds what rounding may have changed.
This file shares no code with the provers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.runtime.compiling import kernel

_EXACT = 2**53  # integers up to here are exact in floats
_UNDERFLOW = 1e-280
_FOUND = 20_000  # hyperplanes in a block, at most
_WORK = 50_000_000  # products between two looks at the clock
_ROWS = 64  # that are looked at before it is asked whether too many are wrong


@dataclass(frozen=True)
class Block:
    """Hyperplanes through chosen points on whose wrong sides not too many rows are.

    Attributes
    ----------
    chosen : hyperplanes × dimensions
        Numbers of points.
    above, below : hyperplanes × words
        The rows that are surely on either side, as bits.
    n_left : hyperplanes
        How many rows are on neither side: on the hyperplane, or too close to it for floats.
    is_exact : bool
        Whether floats are exact, so that these rows are on it.
    share : float
        How much of the work is done.
    """

    chosen: NDArray[np.int64]
    above: NDArray[np.uint64]
    below: NDArray[np.uint64]
    n_left: NDArray[np.int64]
    is_exact: bool
    share: float


def blocks(
    points: Sequence[Sequence[int]], where: Any, on: Any, weights: Any, alone: Any, most: int
) -> Iterator[Block]:
    """All hyperplanes for which rows surely on the wrong side weigh at most ``most``, some of them perhaps empty.

    ``points`` are distinct and span all of their dimensions; ``where`` is the point of each row. An entry of ``alone``
    has for both classes 1 if rows that are on the wrong side count, otherwise 0; one of them suffices.
    """
    floats, slack = in_floats(points)
    n_points, n = floats.shape
    columns = np.vstack([floats[where].T, np.ones(len(where))])
    corners = np.vstack([floats.T, np.ones(n_points)])
    n_words = -(-len(where) // 64)
    state, level = np.arange(n), np.zeros(1, dtype=np.int64)
    memory = np.zeros((2, 1 << (n + 1)))
    steps = max(1, _WORK // (len(where) * (n + 1)))
    total, done = math.comb(n_points, n), 0
    chosen, n_left = np.empty((_FOUND, n), np.int64), np.empty(_FOUND, np.int64)
    above, below = np.empty((2, _FOUND, n_words), np.uint64)
    while state[0] >= 0:
        n_found, n_done = _survey(
            columns, corners, on, weights, alone, most, slack, state, level, memory, chosen, above, below, n_left, steps
        )
        done += n_done
        new = slice(n_found)
        sides = above[new].copy(), below[new].copy()
        yield Block(chosen[new].copy(), *sides, n_left[new].copy(), not slack, min(1.0, done / total))


def in_floats(points: Sequence[Sequence[int]]) -> tuple[NDArray[np.float64], float]:
    """Points in floats, and the relative error of their determinants; 0 if floats are exact."""
    n = len(points[0])
    middles = [(min(column) + max(column)) // 2 for column in zip(*points, strict=True)]
    centred = [[value - middle for value, middle in zip(point, middles, strict=True)] for point in points]
    sizes = [max(1, *map(abs, column)) for column in zip(*centred, strict=True)]
    if math.factorial(n + 1) * math.prod(sizes) < _EXACT:
        return np.array(centred, dtype=np.float64), 0.0
    scales = [1 << size.bit_length() for size in sizes]
    scaled = [[float(Fraction(value, scale)) for value, scale in zip(row, scales, strict=True)] for row in centred]
    # A product of n + 1 numbers, each rounded, in n + 1 steps of at most n + 2 roundings; twice that.
    return np.array(scaled), 2.0 * (n + 1) * (n + 3) * 2.0**-53


def exact_side(corners: Sequence[Sequence[int]], point: Sequence[int]) -> int:
    """On which side of the hyperplane through n points another one is: 1, -1, or 0 if on it or if there is none."""
    value = determinant([[*corner, 1] for corner in (*corners, point)])
    return (value > 0) - (value < 0)


def determinant(matrix: Sequence[Sequence[int]]) -> int:
    """By elimination in integers (Bareiss)."""
    rows, sign, last = [list(row) for row in matrix], 1, 1
    for k in range(len(rows) - 1):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // last
        last = rows[k][k]
    return sign * rows[-1][-1]


@kernel(nogil=True)
def _survey(
    columns: Any,
    corners: Any,
    on: Any,
    weights: Any,
    alone: Any,
    most: int,
    slack: float,
    state: Any,
    level: Any,
    memory: Any,
    chosen: Any,
    above: Any,
    below: Any,
    n_left: Any,
    steps: int,
) -> Any:
    """Continue with the choice of points in ``state``, -1 after the last; how many were found, and looked at."""
    n, n_rows = len(state), columns.shape[1]
    full = (1 << (n + 1)) - 1
    minors, sizes = memory[0], memory[1]
    normal, values = np.empty(n + 1), np.empty(_ROWS)
    wrong = np.zeros((2, 2), np.int64)  # class, and above or below
    n_found, n_done = 0, 0
    while n_done < steps and n_found < len(chosen) and state[0] >= 0:
        n_done += 1
        _expand(corners, state, level[0], minors, sizes)
        error = 0.0
        for c in range(n + 1):
            normal[c] = minors[full ^ (1 << c)] * _sign(full, c)
            error += sizes[full ^ (1 << c)]
        error = error * slack + (_UNDERFLOW if slack else 0.0)
        wrong[:] = 0
        is_open, start = bool(slack > 0.0 or normal.any()), 0  # exact zeros: the points are dependent
        while is_open and start < n_rows:
            size = min(_ROWS, n_rows - start)
            _evaluate(normal, columns, start, size, values)
            for p in range(size):
                row = start + p
                wrong[on[row], 0] += weights[row] * (values[p] > error)
                wrong[on[row], 1] += weights[row] * (values[p] < -error)
            start += size
            is_open = False
            for k in range(len(alone)):
                one = alone[k, 0] * wrong[0, 0] + alone[k, 1] * wrong[1, 1]
                other = alone[k, 0] * wrong[0, 1] + alone[k, 1] * wrong[1, 0]
                is_open = is_open or min(one, other) <= most
        if is_open:
            chosen[n_found] = state
            n_left[n_found] = n_rows
            above[n_found] = 0
            below[n_found] = 0
            for start in range(0, n_rows, _ROWS):
                size = min(_ROWS, n_rows - start)
                _evaluate(normal, columns, start, size, values)
                for p in range(size):
                    bit = np.uint64(1) << np.uint64(p)
                    if values[p] > error:
                        above[n_found, start // _ROWS] |= bit
                        n_left[n_found] -= 1
                    elif values[p] < -error:
                        below[n_found, start // _ROWS] |= bit
                        n_left[n_found] -= 1
            n_found += 1
        level[0] = _advance(state, corners.shape[1])
    return n_found, n_done


@kernel(nogil=True, inline="always")
def _evaluate(normal: Any, columns: Any, start: int, size: int, values: Any) -> None:
    values[:size] = normal[-1]
    for c in range(len(normal) - 1):
        slope = normal[c]
        for p in range(size):
            values[p] += slope * columns[c, start + p]


@kernel(nogil=True)
def _sign(mask: int, c: int) -> float:
    """Of column c when the last row is expanded: -1 for every later column."""
    later, sign = mask >> (c + 1), 1.0
    while later:
        sign *= -1.0 if later & 1 else 1.0
        later >>= 1
    return sign


@kernel(nogil=True)
def _expand(corners: Any, state: Any, level: int, minors: Any, sizes: Any) -> None:
    """Determinants of the first points in some columns, and their sizes; those of ``level`` points are kept."""
    n = len(state)
    minors[0] = sizes[0] = 1.0
    for mask in range(1, (1 << (n + 1)) - 1):
        count = 0
        for c in range(n + 1):
            count += mask >> c & 1
        if count <= level:
            continue
        point = state[count - 1]
        minor, size = 0.0, 0.0
        for c in range(n + 1):
            if mask >> c & 1:
                rest = mask ^ (1 << c)
                minor += _sign(mask, c) * corners[c, point] * minors[rest]
                size += abs(corners[c, point]) * sizes[rest]
        minors[mask], sizes[mask] = minor, size


@kernel(nogil=True)
def _advance(state: Any, n_points: int) -> int:
    """The next choice of points; how many of the first ones are as before."""
    n = len(state)
    place = n - 1
    while place >= 0 and state[place] == n_points - n + place:
        place -= 1
    if place < 0:
        state[0] = -1
        return 0
    state[place] += 1
    for later in range(place + 1, n):
        state[later] = state[later - 1] + 1
    return place
