"""Moves: the best rule in place of another one, with its points and the threshold, for the fewest errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.runtime.compiling import kernel
from stepnet.scores.boxes import scan


@kernel(nogil=True)
def points_without(table: Any, rules: Any, j: int, totals: Any) -> int:
    """The points of every row from all rules but ``j`` (literal, cut, points); the most points. No points: no rule."""
    most = 0
    totals[:] = 0
    for i in range(len(rules)):
        literal, cut, points = rules[i]
        if i != j and points > 0:
            most += points
            for row in range(len(totals)):
                if table.ranks[literal, row] >= cut:
                    totals[row] += points
    return most


@kernel(nogil=True)
def best_rule(table: Any, rules: Any, j: int, points: int, per_feature: int, best: int, found: Any) -> int:
    """The least loss below ``best`` with another rule ``j``; ``found`` becomes its literal, cut, points, threshold.

    It may have no points, which is to leave it out.
    """
    n_rows, n_features = len(table.on), len(table.order)
    totals, gains = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    is_full = np.zeros(n_features, np.bool_)
    for feature in range(n_features):
        count = 0
        for i in range(len(rules)):
            count += i != j and rules[i, 2] > 0 and rules[i, 0] // 2 == feature
        is_full[feature] = count >= per_feature
    most = points_without(table, rules, j, totals)
    for own in range(points + 1):
        for threshold in range(most + own + 2 if own == 0 else most + own + 1):
            if own > 0 and threshold == 0:
                continue
            off, least = 0, 0
            for row in range(n_rows):
                weight = table.weights[row]
                is_on = table.on[row]
                if_off = weight if (totals[row] >= threshold) != is_on else 0
                if_on = weight if (totals[row] + own >= threshold) != is_on else 0
                off += if_off
                least += min(if_off, if_on)
                gains[row] = if_on - if_off
            if own == 0:
                if off < best:
                    best = off
                    found[0], found[1], found[2], found[3] = 0, 1, 0, threshold
            elif least < best:
                gain, literal, cut = scan(table, gains, 0, is_full)
                if literal >= 0 and off + gain < best:
                    best = off + gain
                    found[0], found[1], found[2], found[3] = literal, cut, own, threshold
    return best
