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
from stepnet.runtime.compiling import kernel

PAUSED, DONE, BETTER, DEEP, STUCK = 0, 1, 2, 3, 4  # how a turn ends
LEAF, BY_THEMSELVES = -1, -2  # entries of a log: a cone that is pruned; by its undecided rows: -2 less their number
TOP, N_CONES, IS_QUIET, N_LOGGED = 0, 1, 2, 3  # places of the counters
MOST_GENERATIONS = 300
STEPS = 1024  # of an edge
_DEEP, _EVERY = 40, 5  # generations from which rows are asked by themselves, and how often
_ROUNDS = 8
_UNIT = 2.0**-52
_GROWN = 1.0 + 2.0**-50  # more than some roundings
_FINE = 2.0**30  # steps of an edge where a part of a cone ends


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
    widest = n + (n // 2) * (n - n // 2)
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
        error = (tree.generations[s] + 2) * _UNIT
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
                width, n_part, part_need = _cut(
                    values, corners, n, rows, size, units, need, error, least, part, part_corners, low, high
                )
                if width > 0:
                    work += 16 * width * (n_part + 20)
                    answer = 1 if part_need <= 0 else _play(
                        part, width, n_part, units, low, part_need, error + _UNIT,
                        costs, shares, counts, at, least, mixture, total, is_quiet,
                    )  # fmt: skip
                    if answer == 2:
                        _mix(part_corners, width, mixture, tree.found)
            elif answer == 2:
                _mix(corners, n, mixture, tree.found)
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
            _write(log, counters, LEAF)
            counters[TOP] -= 1
        else:
            edge = _divide(tree, s, size, weights)
            _write(log, counters, edge)
    return DONE


@kernel(nogil=True)
def _write(log: Any, counters: Any, entry: int) -> None:
    if len(log):
        log[counters[N_LOGGED]] = entry
        counters[N_LOGGED] += 1


@kernel(nogil=True)
def _decide(values: Any, rows: Any, size: int, weights: Any, error: float, low: Any, high: Any) -> Any:
    """Keep the rows that are undecided: how many there are, and what those lose that are wrong at all corners."""
    _range(values, len(values), size, low, high)
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


@kernel(nogil=True)
def _range(values: Any, width: int, size: int, low: Any, high: Any) -> None:
    low[:size] = values[0, :size]
    high[:size] = values[0, :size]
    for v in range(1, width):
        for i in range(size):
            low[i] = min(low[i], values[v, i])
            high[i] = max(high[i], values[v, i])


@kernel(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _dot(left: Any, right: Any, size: int) -> float:
    """In any order: the bound on its error holds for all."""
    total = 0.0
    for i in range(size):
        total += left[i] * right[i]
    return total


@kernel(nogil=True)
def _mix(corners: Any, width: int, mixture: Any, found: Any) -> None:
    found[:] = 0.0
    for v in range(width):
        for c in range(len(found)):
            found[c] += mixture[v] * corners[v, c]


@kernel(nogil=True, error_model="numpy")
def _play(
    values: Any, width: int, size: int, units: Any, low: Any, need: float, error: float,
    costs: Any, shares: Any, counts: Any, at: Any, least: Any, mixture: Any, total: Any, is_quiet: bool,
) -> int:  # fmt: skip
    """Rows against corners: 1 if no neuron between the corners loses less than ``need``, 2 if ``mixture`` seems to.

    Otherwise 0, and ``least`` is a bound at each corner: they are interpolated between.
    """
    for i in range(size):
        costs[i] = units[i] / (max(error - low[i], error) * _GROWN)
        counts[i] = 0.0
    mixture[:width] = 1.0 / width
    total[:width] = 0.0
    for r in range(1, _ROUNDS + 1):
        at[:size] = 0.0
        for v in range(width):
            share = mixture[v]
            for i in range(size):
                at[i] += share * values[v, i]
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
            gain = -_dot(shares, values[v], size)
            total[v] += gain
            largest = max(largest, abs(gain))
            smallest = min(smallest, total[v])
        if (
            smallest > r * (need - 1.0)
            and _bounds(values, width, size, costs, counts, r, error, shares, least) > need - 1.0
        ):
            return 1
        if relaxed <= need - 1.0 or r == _ROUNDS:
            break
        normal = 0.0
        for v in range(width):
            mixture[v] = np.exp(-2.0 * (total[v] - smallest) / (largest * np.sqrt(r) + 1e-300))
            normal += mixture[v]
        mixture[:width] /= normal
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
    slack = (error + (size + 8) * _UNIT) * weight * _GROWN
    smallest = np.inf
    for v in range(width):
        least[v] = -_dot(shares, values[v], size) - slack
        smallest = min(smallest, least[v])
    return smallest


@kernel(nogil=True)
def _cut(
    values: Any, corners: Any, n: int, rows: Any, size: int, units: Any, need: float, error: float, least: Any,
    part: Any, part_corners: Any, low: Any, high: Any,
) -> Any:  # fmt: skip
    """The part of a cone where neurons may lose less than ``need``: how many corners and rows it has, what it needs.

    Its corners are those of the cone with a small enough bound, and a point beyond the end of it on every edge to
    another one. No corners if it is the whole cone.
    """
    limit, width = need - 1.0, 0
    n_bad = 0
    for v in range(n):
        if least[v] > limit:
            n_bad += 1
    if n_bad == 0:
        return 0, 0, need
    for v in range(n):
        if least[v] <= limit:
            part[width, :size] = values[v, :size]
            part_corners[width] = corners[v]
            width += 1
            for b in range(n):
                if least[b] > limit:
                    t = np.ceil((limit - least[v]) / (least[b] - least[v]) * _FINE + 1.0) / _FINE
                    t = min(t, 1.0)
                    for i in range(size):
                        part[width, i] = (1.0 - t) * values[v, i] + t * values[b, i]
                    for c in range(n + 1):
                        part_corners[width, c] = (1.0 - t) * corners[v, c] + t * corners[b, c]
                    width += 1
    _range(part, width, size, low, high)
    kept = 0
    for i in range(size):
        if high[i] <= -(error + _UNIT):
            need -= units[i]
        elif low[i] <= error + _UNIT:
            units[kept], low[kept] = units[i], low[i]
            for v in range(width):
                part[v, kept] = part[v, i]
            kept += 1
    return width, kept, need


@kernel(nogil=True, error_model="numpy")
def _divide(tree: Any, s: int, size: int, weights: Any) -> int:
    """Divide a cone on the edge that decides most: two cones take its place. The edge and the place, as a number."""
    values, corners, rows, n = tree.values[s], tree.corners[s], tree.rows[s], tree.corners.shape[1]
    scales = np.empty(size)
    for i in range(size):
        low = high = values[0, i]
        for v in range(1, n):
            low, high = min(low, values[v, i]), max(high, values[v, i])
        scales[i] = weights[rows[i]] / max(high - low, _UNIT)
    best, first, second, place = -1.0, 0, 1, 0.5
    for a in range(n):
        for b in range(a + 1, n):
            score, crossed, where = 0.0, 0.0, 0.0
            for i in range(size):
                one, other = values[a, i], values[b, i]
                if one * other < 0.0:
                    gain = scales[i] * abs(one - other)
                    score += gain
                    crossed += gain
                    where += gain * (one / (one - other))
            if score > best:
                best, first, second = score, a, b
                place = where / crossed if crossed > 0.0 else 0.5
    step = min(max(int((0.05 + 0.9 * place) * STEPS + 0.5), 1), STEPS - 1)
    t = step / STEPS
    values_above, rows_above = tree.values[s + 1], tree.rows[s + 1]
    for v in range(n):
        values_above[v, :size] = values[v, :size]
    rows_above[:size] = rows[:size]
    tree.corners[s + 1] = corners
    for i in range(size):
        middle = (1.0 - t) * values[first, i] + t * values[second, i]
        values[first, i] = middle  # below: the half at the second corner, which comes later
        values_above[second, i] = middle
    for c in range(n + 1):
        middle = (1.0 - t) * corners[first, c] + t * corners[second, c]
        corners[first, c] = middle
        tree.corners[s + 1, second, c] = middle
    tree.sizes[s + 1], tree.lost[s + 1] = size, tree.lost[s]
    tree.generations[s] += 1
    tree.generations[s + 1] = tree.generations[s]
    tree.counters[TOP] += 1
    edge: int = (first * n + second) * STEPS + step
    return edge
