"""Pair game: what holds for all pairs of neurons of two cones, below AND or OR; kernels.

A row of the class of which a single wrong neuron is enough (of AND: class 1) is called *either*, one of the other class
*both*. In the notation of ``cone_tree.py``, h_j = -a_i·x_j / M_ij <= [neuron j is wrong on row i], and so

    either   y_1 h_1 + y_2 h_2 <= [row i is lost]   for y_1, y_2 >= 0 with y_1 + y_2 <= 1
    both     y (h_1 + h_2 - 1) <= [row i is lost]   for 0 <= y <= 1

Once a neuron is decided on a row throughout its cone, the row is lost, never lost, or up to the other neuron alone.
Sums of these bounds are a linear function on one cone plus one on the other, so no pair loses less than the sum of
their least values at corners. Multipliers come from a game of both cones' corners against the rows; then the parts of
the cones where pairs may be better are asked once more. The bounds on errors are those of one neuron.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stepnet.model.arithmetic import Floats, Ints
from stepnet.provers.corners import (
    GROWN,
    ROUNDS,
    UNIT,
    copy,
    cut,
    dot,
    fill,
    find_range,
    find_values,
    play_against,
    widest_part,
)
from stepnet.runtime.compiling import kernel

FIRST, EITHER, BOTH, SECOND = 0, 1, 2, 3  # groups of rows: by whom they can still be lost
_RIGHT, _LOST = 4, 5


class Pairs(NamedTuple):
    """A pair of cones, or of parts of them: rows are in the order of their groups, and neurons have their place in it.

    The rows that the first neuron can still decide come first, those of the second one last; EITHER and BOTH are in
    the middle. ``groups`` are their sizes.
    """

    values: Floats  # neuron, corner, place
    corners: Floats  # neuron, corner, share of each ray of the fan; rounded, for proposals only
    widths: Ints  # neuron: how many corners
    errors: Floats  # neuron: of its values
    rows: Ints  # place
    units: Floats  # place: what the row weighs
    groups: Ints


class Room(NamedTuple):
    """Room to work in, per neuron and place, or per neuron and corner."""

    low: Floats
    high: Floats
    at: Floats
    costs: Floats
    shares: Floats
    counts: Floats
    units: Floats  # place
    errors: Floats  # neuron
    buffer: Floats  # place
    kinds: Ints  # place
    order: Ints  # place
    least: Floats
    mixture: Floats
    total: Floats
    sums: Floats  # the least bound of each neuron, and what is to be subtracted
    largest: Floats  # neuron: gain of a corner in this round
    table: Floats  # corner, place

    @classmethod
    def of(cls, n: int, n_rows: int) -> Room:
        widest = widest_part(n)
        low, high, at, costs, shares, counts = (np.empty((2, n_rows)) for _ in range(6))
        least, mixture, total = (np.empty((2, widest)) for _ in range(3))
        return cls(
            low, high, at, costs, shares, counts, np.empty(n_rows), np.empty(2), np.empty(n_rows),
            np.empty(n_rows, np.int64), np.empty(n_rows, np.int64), least, mixture, total, np.empty(3), np.empty(2),
            np.empty((n, n_rows)),
        )  # fmt: skip


@kernel(nogil=True)
def size_of(groups: Any) -> int:
    """How many rows can still be lost and need not be."""
    size: int = groups[FIRST] + groups[EITHER] + groups[BOTH] + groups[SECOND]
    return size


@kernel(nogil=True)
def places(groups: Any, neuron: int) -> Any:
    """Where the rows that a neuron can still decide begin and end."""
    return (0, size_of(groups) - groups[SECOND]) if neuron == 0 else (groups[FIRST], size_of(groups))


@kernel(nogil=True)
def decide(pair: Any, room: Any) -> float:
    """Keep the rows that can still be lost and need not be, by their groups; what the others lose."""
    groups, kinds, order = pair.groups, room.kinds, room.order
    size, group, group_end, lost = size_of(groups), FIRST, groups[FIRST], 0.0
    for j in range(2):
        begin, end = places(groups, j)
        find_range(pair.values[j], pair.widths[j], begin, end, room.low[j], room.high[j])
    for i in range(size):
        while i >= group_end:
            group += 1
            group_end += groups[group]
        first = _status(room, pair.errors, 0, i) if group != SECOND else 0
        second = _status(room, pair.errors, 1, i) if group != FIRST else 0
        kinds[i] = _kind(group, first, second)
        if kinds[i] == _LOST:
            lost += pair.units[i]
    kept, is_same = 0, True
    for group in range(4):
        groups[group] = -kept
        for i in range(size):
            if kinds[i] == group:
                is_same = is_same and i == kept
                order[kept] = i
                kept += 1
        groups[group] += kept
    if not is_same:
        _arrange(pair, room, kept)
    return lost


@kernel(nogil=True)
def _status(room: Any, errors: Any, neuron: int, place: int) -> int:
    """1 if the neuron is right on a row throughout its cone, -1 if it is wrong, 0 if neither is certain."""
    if room.high[neuron, place] <= -errors[neuron]:
        return -1
    return 1 if room.low[neuron, place] > errors[neuron] else 0


@kernel(nogil=True)
def _kind(group: int, first: int, second: int) -> int:
    """The group of a row of a group, given what is certain of the neurons that can still decide it."""
    if group in (FIRST, SECOND):
        status = first + second  # the other one is 0
        return group if status == 0 else (_RIGHT if status > 0 else _LOST)
    if first == 0 and second == 0:
        return group
    ends = -1 if group == EITHER else 1  # what decides the row if it is true of one neuron
    if first == ends or second == ends:
        return _LOST if group == EITHER else _RIGHT
    if first == 0:
        return FIRST
    if second == 0:
        return SECOND
    return _RIGHT if group == EITHER else _LOST


@kernel(nogil=True)
def _arrange(pair: Any, room: Any, size: int) -> None:
    """Bring the rows that are kept into their order."""
    for j in range(2):
        begin, end = places(pair.groups, j)
        for v in range(pair.widths[j]):
            _permute(pair.values[j, v], room, begin, end)
        _permute(room.low[j], room, begin, end)
    _permute(pair.units, room, 0, size)
    for i in range(size):
        room.kinds[i] = pair.rows[room.order[i]]
    copy(room.kinds, pair.rows, 0, size)


@kernel(nogil=True)
def _permute(line: Any, room: Any, begin: int, end: int) -> None:
    for i in range(begin, end):
        room.buffer[i] = line[room.order[i]]
    copy(room.buffer, line, begin, end)


@kernel(nogil=True)
def most_below(pair: Any, need: float) -> float:
    """What can be lost if that is less than ``need``, at most: whole numbers, and nothing if every row is too heavy."""
    for i in range(size_of(pair.groups)):
        if pair.units[i] < need:
            return need - 1.0
    return 0.0


@kernel(nogil=True, error_model="numpy")
def play(pair: Any, room: Any, need: float, is_quiet: bool) -> int:
    """Rows against the corners of both cones: 1 if no pair loses less than ``need``, 2 if the mixtures seem to.

    Otherwise 0, and ``least`` are bounds at the corners of each cone, ``sums`` their least ones and a constant.
    """
    groups, constant, r, most = pair.groups, 0.0, 0, most_below(pair, need)
    for j in range(2):
        begin, end = places(groups, j)
        error = pair.errors[j]
        for i in range(begin, end):
            room.costs[j, i] = pair.units[i] / (max(error - room.low[j, i], error) * GROWN)
            room.counts[j, i] = 0.0
        fill(room.mixture[j], 0, pair.widths[j], 1.0 / pair.widths[j])
        fill(room.total[j], 0, pair.widths[j], 0.0)
    while r < ROUNDS:
        r += 1
        for j in range(2):
            begin, end = places(groups, j)
            find_values(pair.values[j], pair.widths[j], begin, end, room.mixture[j], room.at[j])
        wrong, relaxed, subtracted = _answer(pair, room)
        if wrong < need and not is_quiet:
            return 2
        constant += subtracted
        bound = -constant
        for j in range(2):
            begin, end = places(groups, j)
            largest, smallest = 0.0, np.inf
            for v in range(pair.widths[j]):
                gain = -dot(room.shares[j], pair.values[j, v], begin, end)
                room.total[j, v] += gain
                largest, smallest = max(largest, abs(gain)), min(smallest, room.total[j, v])
            bound += smallest
            room.largest[j] = largest
        if bound > r * most and _bounds(pair, room, r) > most:
            return 1
        if relaxed <= most:
            break
        for j in range(2):
            play_against(room.mixture[j], pair.widths[j], room.total[j], room.largest[j], r)
    _bounds(pair, room, r)
    return 0


@kernel(nogil=True)
def _answer(pair: Any, room: Any) -> Any:
    """The rows' best multipliers against the mixtures: what is lost there, by the relaxation, and a constant of it."""
    groups = pair.groups
    first, both, second = groups[FIRST], groups[FIRST] + groups[EITHER], places(groups, 0)[1]
    wrong, relaxed = _answer_alone(pair.units, room, 0, 0, first)
    others = _answer_alone(pair.units, room, 1, second, second + groups[SECOND])
    wrong, relaxed = wrong + others[0], relaxed + others[1]
    units, costs_1, costs_2, at_1, at_2 = pair.units, room.costs[0], room.costs[1], room.at[0], room.at[1]
    shares_1, shares_2, counts_1, counts_2 = room.shares[0], room.shares[1], room.counts[0], room.counts[1]
    for i in range(first, both):
        one, other = -costs_1[i] * at_1[i], -costs_2[i] * at_2[i]
        larger = max(one, other)
        is_one = larger >= 0.0 and one >= other
        is_other = larger >= 0.0 and one < other
        wrong += units[i] if larger >= 0.0 else 0.0
        relaxed += max(larger, 0.0)
        shares_1[i] = costs_1[i] if is_one else 0.0
        shares_2[i] = costs_2[i] if is_other else 0.0
        counts_1[i] += 1.0 if is_one else 0.0
        counts_2[i] += 1.0 if is_other else 0.0
    subtracted = 0.0
    for i in range(both, second):
        one, other = -costs_1[i] * at_1[i], -costs_2[i] * at_2[i]
        gain = one + other - units[i]
        wrong += units[i] if min(one, other) >= 0.0 else 0.0
        relaxed += max(gain, 0.0)
        shares_1[i] = costs_1[i] if gain > 0.0 else 0.0
        shares_2[i] = costs_2[i] if gain > 0.0 else 0.0
        counts_1[i] += 1.0 if gain > 0.0 else 0.0
        subtracted += units[i] if gain > 0.0 else 0.0
    return wrong, relaxed, subtracted


@kernel(nogil=True)
def _answer_alone(units: Any, room: Any, neuron: int, begin: int, end: int) -> Any:
    """The same for rows that are up to one neuron."""
    at, costs, shares, counts = room.at[neuron], room.costs[neuron], room.shares[neuron], room.counts[neuron]
    wrong = relaxed = 0.0
    for i in range(begin, end):
        is_wrong = at[i] <= 0.0
        wrong += units[i] if is_wrong else 0.0
        shares[i] = costs[i] if is_wrong else 0.0
        counts[i] += 1.0 if is_wrong else 0.0
        relaxed -= shares[i] * at[i]
    return wrong, relaxed


@kernel(nogil=True)
def _bounds(pair: Any, room: Any, r: int) -> float:
    """What the multipliers of some rounds, on average, prove at the corners; the least of that."""
    groups, shares = pair.groups, room.shares
    both, second = groups[FIRST] + groups[EITHER], places(groups, 0)[1]
    subtracted, unit = 0.0, (size_of(groups) + 16) * UNIT
    for i in range(both, second):
        room.counts[1, i] = room.counts[0, i]
        subtracted += pair.units[i] * (room.counts[0, i] / r)
    room.sums[2] = subtracted * (1.0 + unit)
    for j in range(2):
        begin, end = places(groups, j)
        weight, smallest = 0.0, np.inf
        for i in range(begin, end):
            shares[j, i] = room.costs[j, i] * (room.counts[j, i] / r)
            weight += shares[j, i]
        slack = (pair.errors[j] + unit) * weight * GROWN
        for v in range(pair.widths[j]):
            room.least[j, v] = -dot(shares[j], pair.values[j, v], begin, end) - slack
            smallest = min(smallest, room.least[j, v])
        room.sums[j] = smallest
    bound: float = room.sums[0] + room.sums[1] - room.sums[2]
    return bound


@kernel(nogil=True)
def play_part(pair: Any, part: Any, room: Any, need: float, is_quiet: bool) -> int:
    """The same about the parts of both cones where pairs may lose less than ``need``; 0 if these are all of them."""
    limit, is_cut = most_below(pair, need) + room.sums[2], False
    for j in range(2):
        begin, end = places(pair.groups, j)
        n, other = pair.widths[j], room.sums[1 - j]
        allowed = limit - other + 2.0 * (abs(limit) + abs(other)) * UNIT
        if room.sums[j] > allowed:  # only rounding can bring this about
            return 0
        width = cut(
            pair.values[j], pair.corners[j], n, begin, end, room.least[j], allowed, part.values[j], part.corners[j]
        )
        is_cut = is_cut or width > 0
        part.errors[j] = pair.errors[j] + (UNIT if width > 0 else 0.0)
        part.widths[j] = width if width > 0 else n
        if width == 0:
            for v in range(n):
                copy(pair.values[j, v], part.values[j, v], begin, end)
                copy(pair.corners[j, v], part.corners[j, v], 0, pair.corners.shape[2])
    if not is_cut:
        return 0
    size = size_of(pair.groups)
    copy(pair.rows, part.rows, 0, size)
    copy(pair.units, part.units, 0, size)
    copy(pair.groups, part.groups, 0, 4)
    need -= decide(part, room)
    return 1 if need <= 0.0 else play(part, room, need, is_quiet)
