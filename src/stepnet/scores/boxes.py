"""Boxes: branch and bound over the cuts of the rules below a gate.

A box fixes the literals of some rules and an interval of cuts for each. A row beside an interval is surely on or off;
the others may be either, and so may all rows for rules without a literal. A row is lost for sure if it is misclassified
whatever these are. The last rule of a gate has no interval: the best of all its literals and cuts is found by one scan
of every feature. The box with the least such loss is divided next, so that this loss bounds that of all scorecards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.runtime.compiling import kernel

ANY = 0  # the threshold of a gate that stands for every function of its rules
_DEPTHS = 64  # of boxes with the same loss, the deepest one comes first


class Boxes(NamedTuple):
    """A heap of boxes, the one with the smallest key first."""

    keys: NDArray[np.int64]
    slots: NDArray[np.int64]  # where the box of a key is stored
    free: NDArray[np.int64]  # slots without a box
    gates: NDArray[np.int64]
    depths: NDArray[np.int64]
    literals: NDArray[np.int64]  # slots × rules, -1 for none
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]

    @classmethod
    def empty(cls, n_boxes: int, n_rules: int) -> Boxes:
        shape = (n_boxes, max(1, n_rules - 1))
        keys, slots, gates, depths = np.zeros((4, n_boxes), np.int64)
        literals, lows, highs = np.zeros((3, *shape), np.int64)
        return cls(keys, slots, np.arange(n_boxes), gates, depths, literals - 1, lows, highs)

    def grown(self, n_boxes: int) -> Boxes:
        """With room for more."""
        larger, old = Boxes.empty(n_boxes, self.literals.shape[1] + 1), len(self.keys)
        for mine, theirs in zip(self, larger, strict=True):
            theirs[:old] = mine
        return larger


@kernel(nogil=True)
def push(boxes: Any, size: int, key: int, gate: int, depth: int, literals: Any, lows: Any, highs: Any) -> int:
    """Add a box; the number of boxes then."""
    slot = boxes.free[size]
    boxes.gates[slot] = gate
    boxes.depths[slot] = depth
    boxes.literals[slot] = literals
    boxes.lows[slot] = lows
    boxes.highs[slot] = highs
    place = size
    while place > 0:
        parent = (place - 1) // 2
        if boxes.keys[parent] <= key:
            break
        boxes.keys[place] = boxes.keys[parent]
        boxes.slots[place] = boxes.slots[parent]
        place = parent
    boxes.keys[place] = key
    boxes.slots[place] = slot
    return size + 1


@kernel(nogil=True)
def _pop(boxes: Any, size: int) -> Any:
    """Take the first box off; its slot, which is free now, and the number of boxes then."""
    slot = boxes.slots[0]
    size -= 1
    key, moved = boxes.keys[size], boxes.slots[size]
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and boxes.keys[child + 1] < boxes.keys[child]:
            child += 1
        if boxes.keys[child] >= key:
            break
        boxes.keys[place] = boxes.keys[child]
        boxes.slots[place] = boxes.slots[child]
        place = child
    boxes.keys[place] = key
    boxes.slots[place] = moved
    boxes.free[size] = slot
    return slot, size


@kernel(nogil=True)
def lost(table: Any, points: Any, threshold: int, size: int, literals: Any, lows: Any, highs: Any, gains: Any) -> Any:
    """The weight lost for sure if the last rule is off, and if it is as it should be for each row.

    ``gains`` becomes what each row costs more if the last rule is on.
    """
    n_fixed, free = 0, 0
    for j in range(size - 1):
        if literals[j] < 0:
            free += points[j]
        else:
            n_fixed = j + 1
    last = points[size - 1]
    off, least = 0, 0
    for row in range(len(table.on)):
        low, high = 0, free
        for j in range(n_fixed):
            literal = literals[j]
            rank = table.ranks[literal, row]
            if rank >= table.cuts[literal, highs[j]]:
                low += points[j]
                high += points[j]
            elif rank >= table.cuts[literal, lows[j]]:
                high += points[j]
        weight = table.weights[row]
        if table.on[row]:
            if_off = weight if high < threshold else 0
            if_on = weight if high + last < threshold else 0
            least += if_on
        else:
            if_off = weight if low >= threshold else 0
            if_on = weight if low + last >= threshold else 0
            least += if_off
        off += if_off
        gains[row] = if_on - if_off
    return off, least


@kernel(nogil=True)
def scan(table: Any, gains: Any, first: int, is_full: Any) -> Any:
    """The least sum of gains of the rows where a rule is on, its literal and its cut; features from ``first`` on."""
    best, literal, cut = np.int64(2**62), -1, 0
    n_rows = len(gains)
    total = np.int64(0)
    for row in range(n_rows):
        total += gains[row]
    for feature in range(first, len(table.order)):
        if is_full[feature]:
            continue
        below = np.int64(0)
        for place in range(n_rows):
            row = table.order[feature, place]
            below += gains[row]
            if table.ends[feature, place]:
                if below < best:
                    best, literal = below, 2 * feature + 1
                    cut = table.ranks[2 * feature + 1, row]
                if total - below < best:
                    best, literal = total - below, 2 * feature
                    cut = table.ranks[2 * feature, row] + 1
    return best, literal, cut


@kernel(nogil=True)
def _first_feature(points: Any, size: int, literals: Any) -> Any:
    """Rules of equal points are ordered by their features."""
    if size > 1 and points[size - 1] == points[size - 2] and literals[size - 2] >= 0:
        return literals[size - 2] // 2
    return 0


@kernel(nogil=True)
def _uses(literals: Any, feature: int) -> int:
    """How many rules look at a feature."""
    count = 0
    for literal in literals:
        count += literal >= 0 and literal // 2 == feature
    return count


@kernel(nogil=True)
def _mark_full(literals: Any, most: int, is_full: Any) -> None:
    """Which features have as many rules as they may."""
    is_full[:] = False
    for literal in literals:
        if literal >= 0:
            is_full[literal // 2] = _uses(literals, literal // 2) >= most


@kernel(nogil=True)
def _price(
    table: Any, gates: Any, gate: int, per_feature: int, limit: int, literals: Any, lows: Any, highs: Any, room: Any
) -> Any:
    """The loss of a box with the best last rule, its literal and its cut; a literal of -1 if it is above the limit."""
    gains, is_full = room
    points, size = gates.points[gate], gates.sizes[gate]
    if gates.thresholds[gate] == ANY:
        _mark_full(literals[: size - 1], per_feature, is_full)
        loss = _least_of_any(table, size, literals, lows, highs, gains, is_full, literals[size - 2] // 2)
        return loss, (0 if loss <= limit else -1), 0
    off, least = lost(table, points, gates.thresholds[gate], size, literals, lows, highs, gains)
    if least > limit:
        return least, -1, 0
    _mark_full(literals[: size - 1], per_feature, is_full)
    gain, literal, cut = scan(table, gains, _first_feature(points, size, literals), is_full)
    return off + gain, (literal if off + gain <= limit else -1), cut


@kernel(nogil=True)
def _least_of_any(
    table: Any, size: int, literals: Any, lows: Any, highs: Any, patterns: Any, is_full: Any, first: int
) -> int:
    """The least loss of any function of the rules, whatever the last one is: the lighter class of every pattern.

    Only rows that are decided count. Features of the last rule come from ``first`` on.
    """
    weights = np.zeros((2 ** (size - 1), 2, 2), np.int64)  # pattern, last rule off or on, class
    start = np.zeros((2 ** (size - 1), 2), np.int64)
    total = 0
    for row in range(len(table.on)):
        pattern = 0
        for j in range(size - 1):
            literal = literals[j]
            if literal < 0 or table.cuts[literal, lows[j]] <= table.ranks[literal, row] < table.cuts[literal, highs[j]]:
                pattern = -1
                break
            pattern |= (table.ranks[literal, row] >= table.cuts[literal, highs[j]]) << j
        patterns[row] = pattern
        if pattern >= 0:
            start[pattern, np.int64(table.on[row])] += table.weights[row]
    for pattern in range(len(start)):
        total += min(start[pattern, 0], start[pattern, 1])
    best = total
    for feature in range(max(first, 0), len(table.order)):
        if is_full[feature]:
            continue
        weights[:, 0] = 0
        weights[:, 1] = start
        loss = total
        for place in range(len(patterns)):
            row = table.order[feature, place]
            pattern = patterns[row]
            if pattern >= 0:
                own, code = weights[pattern], np.int64(table.on[row])
                loss -= min(own[0, 0], own[0, 1]) + min(own[1, 0], own[1, 1])
                own[0, code] += table.weights[row]
                own[1, code] -= table.weights[row]
                loss += min(own[0, 0], own[0, 1]) + min(own[1, 0], own[1, 1])
            if table.ends[feature, place]:
                best = min(best, loss)
    return best


@kernel(nogil=True)
def _split_of(table: Any, size: int, literals: Any, lows: Any, highs: Any) -> int:
    """The first rule without a literal, or else the one with the most undecided rows; -1 if all is decided."""
    split, most = -1, 0
    for j in range(size - 1):
        if literals[j] < 0:
            return j
        undecided = table.below[literals[j], highs[j]] - table.below[literals[j], lows[j]]
        if highs[j] > lows[j] and undecided >= most:
            split, most = j, undecided
    return split


@kernel(nogil=True)
def _narrowed(table: Any, child: int, split: int, is_new: bool, box: Any, literals: Any, lows: Any, highs: Any) -> bool:
    """Make one part of a box (literals, lows and highs); whether there is such a part."""
    low, high = box
    if is_new:
        literals[split], lows[split], highs[split] = child, 0, table.n_cuts[child] - 1
        return bool(table.n_cuts[child] > 0)
    middle = (low + high) // 2
    lows[split], highs[split] = (low, middle) if child == 0 else (middle + 1, high)
    return True


@kernel(nogil=True)
def divide(
    table: Any, gates: Any, limits: Any, per_feature: int, boxes: Any, size: int, found: Any, count: Any, most_work: int
) -> Any:
    """Divide boxes, the best first, for about ``most_work`` operations or until a scorecard within the limits is found.

    Returns the number of boxes, the bound (-1: no box is left), the loss of the scorecard (-1: none was found) and
    whether there is no room for more boxes. ``found`` becomes its gate, literals and cuts; ``count`` grows by
    the boxes that were looked at.
    """
    n_literals, n_rows = table.ranks.shape
    room = np.empty(n_rows, np.int64), np.empty(len(table.order), np.bool_)
    work, per_box = 0, n_rows * (len(table.order) + 4)
    literals = np.empty(boxes.literals.shape[1], np.int64)
    lows, highs = literals.copy(), literals.copy()
    while size > 0 and work < most_work:
        bound = boxes.keys[0] // _DEPTHS
        if size + n_literals >= len(boxes.keys):
            return size, bound, -1, True
        slot, size = _pop(boxes, size)
        gate, depth = boxes.gates[slot], boxes.depths[slot] + 1
        limit, n_rules = limits[gate], gates.sizes[gate]
        if bound > limit:
            continue
        literals[:], lows[:], highs[:] = boxes.literals[slot], boxes.lows[slot], boxes.highs[slot]
        split = _split_of(table, n_rules, literals, lows, highs)
        if split < 0:  # a single choice of cuts: its loss is known exactly
            loss, literal, cut = _price(table, gates, gate, per_feature, limit, literals, lows, highs, room)
            if literal < 0:
                continue  # the box of a gate of one rule has not been looked at before
            found[0], found[2 * n_rules - 1], found[2 * n_rules] = gate, literal, cut
            for j in range(n_rules - 1):
                found[1 + 2 * j], found[2 + 2 * j] = literals[j], table.cuts[literals[j], lows[j]]
            return size, bound, loss, False
        is_new = literals[split] < 0
        begin, end = 0, n_literals if is_new else 2
        if is_new and split > 0 and gates.points[gate, split] == gates.points[gate, split - 1]:
            begin = literals[split - 1]
        box = lows[split], highs[split]
        for child in range(begin, end):
            if not _narrowed(table, child, split, is_new, box, literals, lows, highs):
                continue
            if is_new and _uses(literals, child // 2) > per_feature:
                continue
            count[0] += 1
            work += per_box
            loss, literal, _ = _price(table, gates, gate, per_feature, limit, literals, lows, highs, room)
            if literal >= 0:
                key = max(loss, bound) * _DEPTHS + max(0, _DEPTHS - 1 - depth)
                size = push(boxes, size, key, gate, depth, literals, lows, highs)
    return size, boxes.keys[0] // _DEPTHS if size else -1, -1, False
