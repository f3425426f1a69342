"""Pair tree: branch and bound over pairs of cones, for two neurons below AND or OR; depth first, in turns.

What prunes a pair is in ``pair_game.py``. A pair that is still open has one of its cones divided, on an edge as for one
neuron. Where the rows that a neuron can still decide span fewer dimensions than its cone has corners, its facets are
enough: the values of these rows at any point of the cone are also those at a point of a facet (Carathéodory).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.provers.corners import (
    BETTER,
    DEEP,
    DONE,
    IS_QUIET,
    LEAF,
    MOST_GENERATIONS,
    N_CONES,
    N_LOGGED,
    PAUSED,
    STEPS,
    STUCK,
    TINY,
    TOP,
    UNIT,
    best_edge,
    copy,
    halve,
    mix,
    widest_part,
    write,
)
from stepnet.provers.pair_game import BOTH, EITHER, FIRST, SECOND, Pairs, Room, decide, places, play, play_part, size_of
from stepnet.runtime.compiling import kernel

FACETS = -2  # entry of a log: the facets of the first neuron's cone; -3: of the second neuron's
DEEP_NEURON = 4  # place of a counter: the neuron whose rows may span few dimensions
_LESS = 0.25  # how much a row counts that is lost only by both, where to divide
_INWARD = 2.0**-20  # how far from a facet to the middle of its cone
_FLAT = 1e-9  # of the largest value, what is left of values that depend on others


class PairTree(NamedTuple):
    """The pairs of cones that are still open, a stack; as in ``Pairs``, with the number of the pair before."""

    values: Floats
    corners: Floats
    widths: Ints
    generations: Ints  # pair, neuron
    rows: Ints
    groups: Ints
    lost: Ints
    counters: Ints
    found: Floats  # the neurons of a turn that ends with BETTER, as shares of rays
    part: Pairs
    room: Room

    @classmethod
    def of(cls, values: Floats, is_either: Bools) -> PairTree:
        """All pairs of cones of a fan, regardless of their order. ``values`` are of rays and rows."""
        n_rays, n_rows = values.shape
        n = n_rays - 1
        depth, widest = 2 * MOST_GENERATIONS + 3 * n_rays**2, widest_part(n)
        order = np.argsort(~is_either, kind="stable")
        sizes = [0, int(is_either.sum()), n_rows - int(is_either.sum()), 0]
        part = Pairs(
            np.empty((2, widest, n_rows)), np.empty((2, widest, n_rays)), np.zeros(2, np.int64), np.zeros(2),
            np.empty(n_rows, np.int64), np.empty(n_rows), np.zeros(4, np.int64),
        )  # fmt: skip
        tree = cls(
            np.empty((depth, 2, n, n_rows)), np.empty((depth, 2, n, n_rays)), np.full((depth, 2), n, np.int64),
            np.zeros((depth, 2), np.int64), np.empty((depth, n_rows), np.int64), np.zeros((depth, 4), np.int64),
            np.zeros(depth, np.int64), np.zeros(5, np.int64), np.zeros((2, n_rays)), part, Room.of(n, n_rows),
        )  # fmt: skip
        pairs = [(a, b) for a in range(n_rays) for b in range(a, n_rays)]
        for place, pair in enumerate(reversed(pairs)):
            tree.rows[place], tree.groups[place] = order, sizes
            for neuron, left_out in enumerate(pair):
                kept = [ray for ray in range(n_rays) if ray != left_out]
                tree.values[place, neuron] = values[kept][:, order]
                tree.corners[place, neuron] = np.eye(n_rays)[kept]
        tree.counters[TOP] = len(pairs)
        return tree

    @property
    def is_done(self) -> bool:
        return int(self.counters[TOP]) == 0

    @property
    def deep_rows(self) -> tuple[Ints, int]:
        """The rows that a neuron can still decide, and its corners, after a turn that ends with DEEP."""
        last, neuron = self.counters[TOP] - 1, int(self.counters[DEEP_NEURON])
        sizes = self.groups[last]
        begin, end = (0, sizes[:SECOND].sum()) if neuron == 0 else (sizes[FIRST], sizes.sum())
        return self.rows[last, begin:end], int(self.widths[last, neuron])


@kernel(nogil=True, error_model="numpy")
def advance_pairs(tree: Any, weights: Any, target: int, most: int, flats: Any, ranks: Any, log: Any) -> int:
    """Continue for about ``most`` operations; pairs that lose at least ``target`` are pruned. How the turn ended.

    ``flats`` are rows that are known to span few dimensions together, and ``ranks`` how many. Into ``log`` go the pairs
    in the order of their work: LEAF, or how they were divided; nothing if it is empty.
    """
    counters, room, work = tree.counters, tree.room, 0
    while counters[TOP] > 0:
        if work >= most or (len(log) and counters[N_LOGGED] == len(log)):
            return PAUSED
        s = counters[TOP] - 1
        for j in range(2):
            room.errors[j] = (tree.generations[s, j] + 2) * UNIT
        for i in range(size_of(tree.groups[s])):
            room.units[i] = weights[tree.rows[s, i]]
        pair = Pairs(
            tree.values[s], tree.corners[s], tree.widths[s], room.errors, tree.rows[s], room.units, tree.groups[s]
        )
        work += 24 * (pair.widths[0] + pair.widths[1]) * (size_of(pair.groups) + 20)
        tree.lost[s] += int(decide(pair, room))
        is_quiet = counters[IS_QUIET] == 1
        counters[IS_QUIET] = 0
        answer = 1
        if tree.lost[s] < target:
            need = float(target - tree.lost[s])
            answer = play(pair, room, need, is_quiet)
            found = pair
            if answer == 0:
                work += 24 * (pair.widths[0] + pair.widths[1]) * (size_of(pair.groups) + 20)
                answer = play_part(pair, tree.part, room, need, is_quiet)
                found = tree.part
            if answer == 2:
                for j in range(2):
                    mix(found.corners[j], found.widths[j], room.mixture[j], tree.found[j])
                return BETTER
        if answer == 1:
            counters[N_CONES] += 1
            counters[TOP] -= 1
            write(log, counters, LEAF)
            continue
        entry = _divide_flat(tree, s, pair, flats, ranks, is_quiet)
        if entry == -1:
            return DEEP
        if entry == 0:
            entry = _divide(tree, s, pair)
        if entry == 0:
            return STUCK
        counters[N_CONES] += 1
        write(log, counters, entry)
    return DONE


@kernel(nogil=True, error_model="numpy")
def _divide_flat(tree: Any, s: int, pair: Any, flats: Any, ranks: Any, is_quiet: bool) -> int:
    """Facets of a cone take its place if its rows span fewer dimensions than it has corners: an entry of the log.

    0 if they do not; -1 if that has to be found out.
    """
    for j in range(2):
        begin, end = places(pair.groups, j)
        n = pair.widths[j]
        if n == 1 or not _seem_flat(pair.values[j], n, begin, end, tree.room.table):
            continue
        if end - begin < n or _are_flat(pair.rows[begin:end], flats, ranks, n - 1):
            _take_facets(tree, s, j)
            return FACETS - j
        if not is_quiet:
            tree.counters[DEEP_NEURON] = j
            return -1
    return 0


@kernel(nogil=True)
def _take_facets(tree: Any, s: int, neuron: int) -> None:
    """Put the facets of a cone in its place: without the last corner, and above it those without another one."""
    n = tree.widths[s, neuron]
    begin, end = places(tree.groups[s], neuron)
    for c in range(tree.corners.shape[3]):
        total = 0.0
        for v in range(n):
            total += tree.corners[s, neuron, v, c]
        for v in range(n):  # neurons to propose are not on the boundary, where rows that count as right may be wrong
            tree.corners[s, neuron, v, c] += _INWARD * (total / n - tree.corners[s, neuron, v, c])
    for left_out in range(n - 2, -1, -1):
        t = tree.counters[TOP]
        _copy(tree, s, t)
        for v in range(left_out, n - 1):
            copy(tree.values[s, neuron, v + 1], tree.values[t, neuron, v], begin, end)
            copy(tree.corners[s, neuron, v + 1], tree.corners[t, neuron, v], 0, tree.corners.shape[3])
        tree.widths[t, neuron] = n - 1
        tree.counters[TOP] += 1
    tree.widths[s, neuron] = n - 1


@kernel(nogil=True)
def _are_flat(rows: Any, flats: Any, ranks: Any, most: int) -> bool:
    """Whether it is known that rows span at most so many dimensions."""
    for k in range(len(ranks)):
        if ranks[k] <= most:
            is_inside = True
            for row in rows:
                if not flats[k, row]:
                    is_inside = False
                    break
            if is_inside:
                return True
    return False


@kernel(nogil=True, error_model="numpy")
def _seem_flat(values: Any, n: int, begin: int, end: int, table: Any) -> bool:
    """Whether the values at some corners seem to follow from those at others, by elimination."""
    size = end - begin
    for v in range(n):
        for i in range(size):
            table[v, i] = values[v, begin + i]
    for i in range(size):
        largest = TINY
        for v in range(n):
            largest = max(largest, abs(table[v, i]))
        for v in range(n):
            table[v, i] /= largest
    for k in range(n):
        largest, pivot, column = _FLAT, -1, 0
        for v in range(k, n):
            for i in range(size):
                if abs(table[v, i]) > largest:
                    largest, pivot, column = abs(table[v, i]), v, i
        if pivot < 0:
            return True
        for i in range(size):
            table[k, i], table[pivot, i] = table[pivot, i], table[k, i]
        for v in range(k + 1, n):
            factor = table[v, column] / table[k, column]
            for i in range(size):
                table[v, i] -= factor * table[k, i]
    return False


@kernel(nogil=True)
def _copy(tree: Any, s: int, t: int) -> None:
    size = size_of(tree.groups[s])
    for j in range(2):
        for v in range(tree.widths[s, j]):
            copy(tree.values[s, j, v], tree.values[t, j, v], 0, size)
            copy(tree.corners[s, j, v], tree.corners[t, j, v], 0, tree.corners.shape[3])
    copy(tree.rows[s], tree.rows[t], 0, size)
    copy(tree.widths[s], tree.widths[t], 0, 2)
    copy(tree.generations[s], tree.generations[t], 0, 2)
    copy(tree.groups[s], tree.groups[t], 0, 4)
    tree.lost[t] = tree.lost[s]


@kernel(nogil=True)
def _divide(tree: Any, s: int, pair: Any) -> int:
    """Divide a cone on the edge that decides most: neuron, edge and place as a number; 0 if none can be divided."""
    groups, importance, n = pair.groups, tree.room.buffer, tree.corners.shape[2]
    size, best, neuron, first, second, step = size_of(groups), -1.0, 0, 0, 0, 0
    copy(pair.units, importance, 0, size)
    begin = groups[FIRST] + groups[EITHER]
    for i in range(begin, begin + groups[BOTH]):
        importance[i] *= _LESS
    for j in range(2):
        begin, end = places(groups, j)
        if pair.widths[j] > 1:
            score, a, b, place = best_edge(pair.values[j], pair.widths[j], begin, end, importance)
            if score > best:
                best, neuron, first, second, step = score, j, a, b, place
    if size == 0 or best < 0.0 or tree.generations[s, neuron] == MOST_GENERATIONS:
        return 0
    begin, end = places(groups, neuron)
    _copy(tree, s, s + 1)
    halve(
        tree.values[s, neuron], tree.corners[s, neuron], tree.values[s + 1, neuron], tree.corners[s + 1, neuron],
        begin, end, first, second, step,
    )  # fmt: skip
    tree.generations[s, neuron] += 1
    tree.generations[s + 1, neuron] += 1
    tree.counters[TOP] += 1
    entry: int = ((neuron * n + first) * n + second) * STEPS + step
    return entry
