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
def _mark_full(literals: Any, most: int, is_full: Any) -> None:
    """Which features have as many rules as they may."""
    is_full[:] = False
    for j in range(len(literals)):
        if literals[j] >= 0:
            count = 0
            for i in range(len(literals)):
                count += literals[i] >= 0 and literals[i] // 2 == literals[j] // 2
            is_full[literals[j] // 2] = count >= most


@kernel(nogil=True)
def divide(
    table: Any, gates: Any, limits: Any, per_feature: int, boxes: Any, size: int, found: Any, count: Any, most_work: int
) -> Any:
    """Divide boxes, the best first, for about ``most_work`` operations or until a scorecard within the limits is found.

    Returns the number of boxes, the bound (-1: no box is left), the loss of the scorecard (-1: none was found) and
    whether there is no room for more boxes. ``found`` becomes its gate, literals and cuts; ``count`` grows by
    the boxes that were looked at.
    """
    n_rows, n_features = len(table.on), len(table.order)
    gains, is_full = np.empty(n_rows, np.int64), np.empty(n_features, np.bool_)
    n_literals = len(table.ranks)
    per_box = n_rows * (n_features + 2)
    work = 0
    literals = np.empty(boxes.literals.shape[1], np.int64)
    lows, highs = literals.copy(), literals.copy()
    while size > 0 and work < most_work:
        if size + n_literals >= len(boxes.keys):
            return size, boxes.keys[0] // _DEPTHS, -1, True
        bound = boxes.keys[0] // _DEPTHS
        slot, size = _pop(boxes, size)
        gate = boxes.gates[slot]
        if bound > limits[gate]:
            continue
        points, threshold, n_rules = gates.points[gate], gates.thresholds[gate], gates.sizes[gate]
        depth = boxes.depths[slot] + 1
        literals[:] = boxes.literals[slot]
        lows[:] = boxes.lows[slot]
        highs[:] = boxes.highs[slot]
        split, width = -1, 0
        for j in range(n_rules - 1):
            if literals[j] < 0:
                split = j
                break
            undecided = table.below[literals[j], highs[j]] - table.below[literals[j], lows[j]]
            if highs[j] > lows[j] and undecided >= width:
                split, width = j, undecided
        if split < 0:  # a single choice of cuts: its loss is known exactly
            off, _ = lost(table, points, threshold, n_rules, literals, lows, highs, gains)
            _mark_full(literals[: n_rules - 1], per_feature, is_full)
            gain, literal, cut = scan(table, gains, _first_feature(points, n_rules, literals), is_full)
            if literal < 0 or off + gain > limits[gate]:
                continue  # the box of a gate of one rule has not been looked at before
            found[0] = gate
            for j in range(n_rules - 1):
                found[1 + 2 * j], found[2 + 2 * j] = literals[j], table.cuts[literals[j], lows[j]]
            found[2 * n_rules - 1], found[2 * n_rules] = literal, cut
            return size, bound, off + gain, False
        is_new = literals[split] < 0
        begin, end = 0, 2
        if is_new:
            end = n_literals
            if split > 0 and points[split] == points[split - 1]:
                begin = literals[split - 1]
            _mark_full(literals[: n_rules - 1], per_feature, is_full)
        low, high = lows[split], highs[split]
        for child in range(begin, end):
            if is_new:
                if is_full[child // 2] or table.n_cuts[child] == 0:
                    continue
                literals[split], lows[split], highs[split] = child, 0, table.n_cuts[child] - 1
            elif child == 0:
                lows[split], highs[split] = low, (low + high) // 2
            else:
                lows[split], highs[split] = (low + high) // 2 + 1, high
            off, least = lost(table, points, threshold, n_rules, literals, lows, highs, gains)
            work += n_rows * n_rules
            count[0] += 1
            if least <= limits[gate]:
                work += per_box
                full = is_full.copy()
                _mark_full(literals[: n_rules - 1], per_feature, full)
                gain, literal, cut = scan(table, gains, _first_feature(points, n_rules, literals), full)
                least = max(off + gain, bound)
                if literal >= 0 and least <= limits[gate]:
                    key = least * _DEPTHS + max(0, _DEPTHS - 1 - depth)
                    size = push(boxes, size, key, gate, depth, literals, lows, highs)
    return size, boxes.keys[0] // _DEPTHS if size else -1, -1, False
