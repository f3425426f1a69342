"""Cone tree: branch and bound over simplicial cones of neurons, depth first, in turns.

A neuron is a ray x = (w, -t), row i has the value a_i·x with a_i = ±(x_i, 1), and is wrong where that is not positive.
Values are linear, so those at the corners of a cone say what holds throughout:

    max over corners <= 0                  row i is wrong in the whole cone
    -a_i·x / M_i <= [row i is wrong at x]  where M_i >= -min over corners of a_i·x, M_i > 0

For multipliers 0 <= y_i <= 1 the sum Σ c_i y_i (-a_i·x) / M_i of a cone's undecided rows is linear, so no x in the cone
loses less than its least value at a corner. A game of few rounds between rows and corners finds good multipliers.
Neurons better than a target are where that sum is small enough: the part of the cone where it is has smaller M_i,
and is asked once more. A cone that is still open is divided on an edge.

Corners are exact: (1 - t) a + t b with t a multiple of 2^-10. Their values are floats that carry an error, at most
(generations + 2) · 2^-52 since all of them are within [-1, 1]; every comparison that prunes allows for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stepnet.model.arithmetic import Floats, Ints
from stepnet.provers.corners import (
    BETTER,
    DEEP,
    DONE,
    GROWN,
    IS_QUIET,
    LEAF,
    MOST_GENERATIONS,
    N_CONES,
    N_LOGGED,
    PAUSED,
    ROUNDS,
    STEPS,
    STUCK,
    TOP,
    UNIT,
    best_edge,
    copy,
    cut,
    dot,
    fill,
    find_range,
    find_values,
    halve,
    mix,
    play_against,
    widest_part,
    write,
)
from stepnet.runtime.compiling import kernel

BY_THEMSELVES = -2  # entry of a log: a cone that is pruned by its undecided rows; less the number of their search
_DEEP, _EVERY = 40, 5  # generations from which rows are asked by themselves, and how often


class ConeTree(NamedTuple):
    """The cones that are still open, a stack; the last index of values is the place in ``rows``.

    ``rows`` are those that were undecided when the cone was made; what the others lose is ``lost``.
    """

    values: Floats  # cone, corner, row
    rows: Ints  # cone, row
    sizes: Ints
    lost: Ints
    generations: Ints
    corners: Floats  # cone, corner, share of each ray of the fan; rounded, for proposals only
    counters: Ints
    found: Floats  # the neuron of a turn that ends with BETTER, as shares of rays

    @classmethod
    def of(cls, values: Floats) -> ConeTree:
        """The cones of a fan: each has all of its rays but one. ``values`` are of rays and rows."""
        n_rays, n_rows = values.shape
        n, depth = n_rays - 1, MOST_GENERATIONS + n_rays + 2
        tree = cls(
            np.empty((depth, n, n_rows)),
            np.empty((depth, n_rows), np.int64),
            np.zeros(depth, np.int64),
            np.zeros(depth, np.int64),
            np.zeros(depth, np.int64),
            np.empty((depth, n, n_rays)),
            np.zeros(4, np.int64),
            np.zeros(n_rays),
        )
        for place, left_out in enumerate(reversed(range(n_rays))):
            kept = [ray for ray in range(n_rays) if ray != left_out]
            tree.values[place], tree.corners[place] = values[kept], np.eye(n_rays)[kept]
            tree.rows[place], tree.sizes[place] = np.arange(n_rows), n_rows
        tree.counters[TOP] = n_rays
        return tree

    @property
    def is_done(self) -> bool:
        return int(self.counters[TOP]) == 0

    @property
    def undecided(self) -> Ints:
        """The rows of the last cone, after a turn that ends with DEEP."""
        last = self.counters[TOP] - 1
        return np.sort(self.rows[last, : self.sizes[last]])

    @property
    def lost_so_far(self) -> int:
        return int(self.lost[self.counters[TOP] - 1])


@kernel(nogil=True, error_model="numpy")
def advance(tree: Any, weights: Any, target: int, most: int, log: Any) -> int:
    """Continue for about ``most`` operations; neurons that lose at least ``target`` are pruned. How the turn ended.

    Into ``log`` go the cones in the order of their work: LEAF, or how they were divided; nothing if it is empty.
    """
    n, n_rows = tree.corners.shape[1], tree.rows.shape[1]
    widest = widest_part(n)
    low, high, at = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    costs, shares, counts, units = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    part, part_corners = np.empty((widest, n_rows)), np.empty((widest, n + 1))
    least, mixture, total = np.empty(widest), np.empty(widest), np.empty(widest)
    counters, work = tree.counters, 0
    while counters[TOP] > 0:
        if work >= most or (len(log) and counters[N_LOGGED] == len(log)):
            return PAUSED
        s = counters[TOP] - 1
        values, corners, rows = tree.values[s], tree.corners[s], tree.rows[s]
        error = (tree.generations[s] + 2) * UNIT
        size, lost = _decide(values, rows, tree.sizes[s], weights, error, low, high)
        tree.sizes[s], tree.lost[s] = size, tree.lost[s] + lost
        work += 8 * n * (size + 20)
        is_quiet = counters[IS_QUIET] == 1
        counters[IS_QUIET] = 0
        is_pruned = tree.lost[s] >= target
        if not is_pruned:
            for i in range(size):
                units[i] = weights[rows[i]]
            need = float(target - tree.lost[s])
            answer = _play(
                values, n, size, units, low, need, error, costs, shares, counts, at, least, mixture, total, is_quiet
            )
            work += 16 * n * (size + 20)
            if answer == 0:
                width = cut(values, corners, n, 0, size, least, need - 1.0, part, part_corners)
                if width > 0:
                    n_part, part_need = _decide_part(part, width, size, units, need, error + UNIT, low, high)
                    work += 16 * width * (n_part + 20)
                    answer = 1 if part_need <= 0 else _play(
                        part, width, n_part, units, low, part_need, error + UNIT,
                        costs, shares, counts, at, least, mixture, total, is_quiet,
                    )  # fmt: skip
                    if answer == 2:
                        mix(part_corners, width, mixture, tree.found)
            elif answer == 2:
                mix(corners, n, mixture, tree.found)
            if answer == 2:
                return BETTER
            is_pruned = answer == 1
        if not is_pruned:
            generation = tree.generations[s]
            if not is_quiet and generation >= _DEEP and (generation - _DEEP) % _EVERY == 0:
                return DEEP
            if generation == MOST_GENERATIONS or size == 0:
                return STUCK
        counters[N_CONES] += 1
        if is_pruned:
            write(log, counters, LEAF)
            counters[TOP] -= 1
        else:
            for i in range(size):
                units[i] = weights[rows[i]]
            write(log, counters, _divide(tree, s, size, units))
    return DONE


@kernel(nogil=True)
def _decide(values: Any, rows: Any, size: int, weights: Any, error: float, low: Any, high: Any) -> Any:
    """Keep the rows that are undecided: how many there are, and what those lose that are wrong at all corners."""
    find_range(values, len(values), 0, size, low, high)
    kept, lost = 0, 0
    for i in range(size):
        if high[i] <= -error:
            lost += weights[rows[i]]
        elif low[i] <= error:
            rows[kept], low[kept], high[kept] = rows[i], low[i], high[i]
            if kept < i:
                for v in range(len(values)):
                    values[v, kept] = values[v, i]
            kept += 1
    return kept, lost


@kernel(nogil=True, error_model="numpy")
def _play(
    values: Any, width: int, size: int, units: Any, low: Any, need: float, error: float,
    costs: Any, shares: Any, counts: Any, at: Any, least: Any, mixture: Any, total: Any, is_quiet: bool,
) -> int:  # fmt: skip
    """Rows against corners: 1 if no neuron between the corners loses less than ``need``, 2 if ``mixture`` seems to.

    Otherwise 0, and ``least`` is a bound at each corner: they are interpolated between.
    """
    for i in range(size):
        costs[i] = units[i] / (max(error - low[i], error) * GROWN)
        counts[i] = 0.0
    fill(mixture, 0, width, 1.0 / width)
    fill(total, 0, width, 0.0)
    for r in range(1, ROUNDS + 1):
        find_values(values, width, 0, size, mixture, at)
        wrong, relaxed = 0.0, 0.0
        for i in range(size):
            is_wrong = at[i] <= 0.0
            wrong += units[i] if is_wrong else 0.0
            shares[i] = costs[i] if is_wrong else 0.0
            counts[i] += 1.0 if is_wrong else 0.0
            relaxed -= shares[i] * at[i]
        if wrong < need and not is_quiet:
            return 2
        largest, smallest = 0.0, np.inf
        for v in range(width):
            gain = -dot(shares, values[v], 0, size)
            total[v] += gain
            largest = max(largest, abs(gain))
            smallest = min(smallest, total[v])
        if (
            smallest > r * (need - 1.0)
            and _bounds(values, width, size, costs, counts, r, error, shares, least) > need - 1.0
        ):
            return 1
        if relaxed <= need - 1.0 or r == ROUNDS:
            break
        play_against(mixture, width, total, largest, r)
    _bounds(values, width, size, costs, counts, r, error, shares, least)
    return 0


@kernel(nogil=True)
def _bounds(
    values: Any, width: int, size: int, costs: Any, counts: Any, r: int, error: float, shares: Any, least: Any
) -> float:
    """What the multipliers of some rounds, on average, prove at each corner; the least of that."""
    weight = 0.0
    for i in range(size):
        shares[i] = costs[i] * (counts[i] / r)
        weight += shares[i]
    slack = (error + (size + 8) * UNIT) * weight * GROWN
    smallest = np.inf
    for v in range(width):
        least[v] = -dot(shares, values[v], 0, size) - slack
        smallest = min(smallest, least[v])
    return smallest


@kernel(nogil=True)
def _decide_part(part: Any, width: int, size: int, units: Any, need: float, error: float, low: Any, high: Any) -> Any:
    """Keep the rows that are undecided in a part of a cone: how many there are, and what they still need to lose."""
    find_range(part, width, 0, size, low, high)
    kept = 0
    for i in range(size):
        if high[i] <= -error:
            need -= units[i]
        elif low[i] <= error:
            units[kept], low[kept] = units[i], low[i]
            for v in range(width):
                part[v, kept] = part[v, i]
            kept += 1
    return kept, need


@kernel(nogil=True, error_model="numpy")
def _divide(tree: Any, s: int, size: int, units: Any) -> int:
    """Divide a cone on the edge that decides most: two cones take its place. The edge and the place, as a number."""
    values, corners, n = tree.values[s], tree.corners[s], tree.corners.shape[1]
    _, first, second, step = best_edge(values, n, 0, size, units)
    for v in range(n):
        copy(values[v], tree.values[s + 1, v], 0, size)
        copy(corners[v], tree.corners[s + 1, v], 0, n + 1)
    copy(tree.rows[s], tree.rows[s + 1], 0, size)
    halve(values, corners, tree.values[s + 1], tree.corners[s + 1], 0, size, first, second, step)
    tree.sizes[s + 1], tree.lost[s + 1] = size, tree.lost[s]
    tree.generations[s] += 1
    tree.generations[s + 1] = tree.generations[s]
    tree.counters[TOP] += 1
    edge: int = (first * n + second) * STEPS + step
    return edge
