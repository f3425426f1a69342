"""Corners: what values at the corners of a cone of neurons say about all of it; kernels for one neuron and for two.

A cone is the values of rows at its corners, an array with one line per corner. Of a line only the places from
``begin`` to ``end`` count. A value of 0 is exact, as values at rays can be; all others are floats with an error. So a
row is wrong throughout a cone if all of its values are below minus the error or 0. If all are above it or 0, some of
them not 0, it is wrong at most where it is 0, and counts as right: that can only lower a bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.runtime.compiling import kernel

PAUSED, DONE, BETTER, DEEP, STUCK = 0, 1, 2, 3, 4  # how a turn ends
TOP, N_CONES, IS_QUIET, N_LOGGED = 0, 1, 2, 3  # places of the counters of a tree
LEAF = -1  # entry of a log: a cone that is pruned
MOST_GENERATIONS = 300
STEPS = 1024  # of an edge
ROUNDS = 8  # of a game
UNIT = 2.0**-52
GROWN = 1.0 + 2.0**-50  # more than some roundings
TINY = 2.0**-900  # less than any error
_FINE = 2.0**30  # steps of an edge where a part of a cone ends


@kernel(nogil=True)
def write(log: Any, counters: Any, entry: int) -> None:
    if len(log):
        log[counters[N_LOGGED]] = entry
        counters[N_LOGGED] += 1


@kernel(nogil=True)
def fill(line: Any, begin: int, end: int, value: float) -> None:
    """As a loop: numba compiles assignments to slices for seconds."""
    for i in range(begin, end):
        line[i] = value


@kernel(nogil=True)
def copy(source: Any, target: Any, begin: int, end: int) -> None:
    for i in range(begin, end):
        target[i] = source[i]


@kernel(nogil=True)
def find_range(values: Any, width: int, begin: int, end: int, low: Any, high: Any) -> None:
    """The least and the largest value of every row at the corners where it is not 0."""
    for i in range(begin, end):
        low[i], high[i] = np.inf, -np.inf
    for v in range(width):
        for i in range(begin, end):
            value = values[v, i]
            low[i] = min(low[i], value if value != 0.0 else np.inf)
            high[i] = max(high[i], value if value != 0.0 else -np.inf)


@kernel(nogil=True)
def find_values(values: Any, width: int, begin: int, end: int, mixture: Any, at: Any) -> None:
    """The values at a mixture of the corners."""
    fill(at, begin, end, 0.0)
    for v in range(width):
        share = mixture[v]
        for i in range(begin, end):
            at[i] += share * values[v, i]


@kernel(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def dot(left: Any, right: Any, begin: int, end: int) -> float:
    """In any order: the bound on its error holds for all."""
    total = 0.0
    for i in range(begin, end):
        total += left[i] * right[i]
    return total


@kernel(nogil=True)
def mix(corners: Any, width: int, mixture: Any, found: Any) -> None:
    fill(found, 0, len(found), 0.0)
    for v in range(width):
        for c in range(len(found)):
            found[c] += mixture[v] * corners[v, c]


@kernel(nogil=True, error_model="numpy")
def play_against(mixture: Any, width: int, total: Any, largest: float, r: int) -> None:
    """The next mixture of corners, after ``r`` rounds in which rows have gained ``total`` at each of them."""
    smallest, normal = np.inf, 0.0
    for v in range(width):
        smallest = min(smallest, total[v])
    for v in range(width):
        mixture[v] = np.exp(-2.0 * (total[v] - smallest) / (largest * np.sqrt(r) + 1e-300))
        normal += mixture[v]
    for v in range(width):
        mixture[v] /= normal


@kernel(nogil=True)
def between(one: float, other: float, t: float) -> float:
    """(1 - t) · one + t · other, where 0 says that both are exactly 0: a sum that vanishes by rounding becomes tiny."""
    value = (1.0 - t) * one + t * other
    return value if value != 0.0 or (one == 0.0 and other == 0.0) else TINY


@kernel(nogil=True, error_model="numpy")
def cut(
    values: Any, corners: Any, n: int, begin: int, end: int, least: Any, limit: float, part: Any, part_corners: Any
) -> int:
    """The part of a cone where a bound may be at most ``limit``, given the bounds at the corners: its width, or 0.

    Its corners are those of the cone with a small enough bound, and a point beyond the end of it on every edge to
    another one. 0 if it is the whole cone.
    """
    width = n_bad = 0
    for v in range(n):
        n_bad += least[v] > limit
    if n_bad == 0:
        return 0
    for v in range(n):
        if least[v] <= limit:
            copy(values[v], part[width], begin, end)
            copy(corners[v], part_corners[width], 0, corners.shape[1])
            width += 1
            for b in range(n):
                if least[b] > limit:
                    t = np.ceil((limit - least[v]) / (least[b] - least[v]) * _FINE + 1.0) / _FINE
                    t = min(t, 1.0)
                    for i in range(begin, end):
                        part[width, i] = between(values[v, i], values[b, i], t)
                    for c in range(corners.shape[1]):
                        part_corners[width, c] = (1.0 - t) * corners[v, c] + t * corners[b, c]
                    width += 1
    return width


@kernel(nogil=True)
def widest_part(n: int) -> int:
    """The most corners of a part of a cone of n corners."""
    return n + (n // 2) * (n - n // 2)


@kernel(nogil=True, error_model="numpy")
def best_edge(values: Any, n: int, begin: int, end: int, importance: Any) -> Any:
    """The edge whose division decides most: its score, its corners and the step where to divide it."""
    scales = np.empty(end)
    for i in range(begin, end):
        low = high = values[0, i]
        for v in range(1, n):
            low, high = min(low, values[v, i]), max(high, values[v, i])
        scales[i] = importance[i] / max(high - low, UNIT)
    best, first, second, place = -1.0, 0, 1, 0.5
    for a in range(n):
        for b in range(a + 1, n):
            score, where = 0.0, 0.0
            for i in range(begin, end):
                one, other = values[a, i], values[b, i]
                if one * other < 0.0:
                    gain = scales[i] * abs(one - other)
                    score += gain
                    where += gain * (one / (one - other))
            if score > best:
                best, first, second = score, a, b
                place = where / score if score > 0.0 else 0.5
    return best, first, second, min(max(int((0.05 + 0.9 * place) * STEPS + 0.5), 1), STEPS - 1)


@kernel(nogil=True)
def halve(
    values: Any, corners: Any, values_above: Any, corners_above: Any, begin: int, end: int,
    first: int, second: int, step: int,
) -> None:  # fmt: skip
    """Move a corner of a cone, and the other one of its copy, to where their edge is divided.

    What is left of the cone itself is the half at the second corner.
    """
    t = step / STEPS
    for i in range(begin, end):
        middle = between(values[first, i], values[second, i], t)
        values[first, i] = middle
        values_above[second, i] = middle
    for c in range(corners.shape[1]):
        middle = (1.0 - t) * corners[first, c] + t * corners[second, c]
        corners[first, c] = middle
        corners_above[second, c] = middle
