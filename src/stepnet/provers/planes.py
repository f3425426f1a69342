"""Planes: the hyperplanes through points that may lead to a small enough loss.

Rows strictly on the wrong side of a hyperplane are lost; those on it count as right, since a small rotation or a
division within it may still get them right. What is lost so far rules out almost all hyperplanes, before anything else
is computed of them. Sums are integers, and a point whose side rounding leaves in doubt counts as right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.provers.sides import largest_error
from stepnet.runtime.compiling import kernel

_AT_ONCE = 20_000_000  # points looked at between two checks of the clock
_MOST_FOUND = 50_000  # hyperplanes per block
_CHUNK = 64  # points between two looks at what is lost so far


def promising(
    points: Any,
    weights: NDArray[np.int64],
    alone: NDArray[np.int64],
    most: Callable[[], int],
    accuracy: int,
    should_stop: Callable[[], bool],
) -> Iterator[NDArray[np.int64]]:
    """Numbers of as many points as there are dimensions, in blocks: those whose hyperplane may lose at most ``most()``.

    ``weights`` has the weight of both classes at every point. A row of ``alone`` has for both classes 1 if the rows
    that a neuron gets wrong are lost, otherwise 0.
    """
    n_points, n = points.shape
    columns = np.ascontiguousarray(points.T)
    state, found = np.arange(n), np.empty((_MOST_FOUND, n), dtype=np.int64)
    steps, error = max(1, _AT_ONCE // (n_points * n)), largest_error(n, accuracy)
    while state[0] >= 0 and not should_stop():
        n_found = _continue(columns, weights, alone, most(), error, state, found, steps)
        if n_found:
            yield found[:n_found].copy()


@kernel(nogil=True)
def _continue(
    columns: Any, weights: Any, alone: Any, most: int, error: float, state: Any, found: Any, steps: int
) -> int:
    """Continue from the points in ``state``, which is -1 at the end; how many hyperplanes were found."""
    n, n_points = columns.shape
    n_masks = 1 << n
    counts = np.zeros(n_masks, np.int64)
    for mask in range(1, n_masks):
        counts[mask] = counts[mask >> 1] + (mask & 1)
    minors, normal, values = np.empty(n_masks), np.empty(n), np.empty(_CHUNK)
    n_found = 0
    for _ in range(steps):
        if state[0] < 0 or n_found == len(found):
            break
        base = state[0]
        minors[0] = 1.0
        for mask in range(1, n_masks - 1):
            point = state[counts[mask]]
            minor = 0.0
            for c in range(n):
                if mask >> c & 1:
                    rest = mask ^ (1 << c)
                    term = (columns[c, point] - columns[c, base]) * minors[rest]
                    minor += -term if counts[rest >> c] % 2 else term
            minors[mask] = minor
        spans = error > 0.0
        for c in range(n):
            normal[c] = minors[(n_masks - 1) ^ (1 << c)]
            if counts[(n_masks - 1) >> (c + 1)] % 2:
                normal[c] = -normal[c]
            spans = spans or normal[c] != 0.0
        off_above, off_below, on_above, on_below = 0, 0, 0, 0
        is_open, start = spans, 0
        while is_open and start < n_points:
            size = min(_CHUNK, n_points - start)
            values[:size] = 0.0
            for c in range(n):
                slope, origin, column = normal[c], columns[c, base], columns[c, start : start + size]
                for p in range(size):
                    values[p] += slope * (column[p] - origin)
            off, on = weights[0, start : start + size], weights[1, start : start + size]
            for p in range(size):
                is_above, is_below = values[p] > error, values[p] < -error
                off_above += off[p] if is_above else 0
                off_below += off[p] if is_below else 0
                on_above += on[p] if is_above else 0
                on_below += on[p] if is_below else 0
            start += size
            is_open = False
            for k in range(len(alone)):
                one = alone[k, 0] * off_above + alone[k, 1] * on_below
                other = alone[k, 0] * off_below + alone[k, 1] * on_above
                is_open = is_open or min(one, other) <= most
        if is_open:
            found[n_found] = state
            n_found += 1
        _advance(state, n_points)
    return n_found


@kernel(nogil=True)
def _advance(state: Any, n_points: int) -> None:
    """The next choice of points, in lexicographic order; -1 in the first place after the last one."""
    n = len(state)
    place = n - 1
    while place >= 0 and state[place] == n_points - n + place:
        place -= 1
    if place < 0:
        state[0] = -1
        return
    state[place] += 1
    for later in range(place + 1, n):
        state[later] = state[later - 1] + 1
