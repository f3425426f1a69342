"""Gates of scorecards: which points and thresholds give different answers.

Rules point either way, so points are positive; and only the Boolean function of the rules matters. Of all points and
thresholds with the same function, the smallest points are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.scores.card import Card
from stepnet.scores.form import Form

MOST_RULES = 6  # with more there are too many gates to enumerate


@dataclass(frozen=True)
class Total:
    """On where the points reach the threshold; points in falling order."""

    points: tuple[int, ...]
    threshold: int

    @property
    def rank(self) -> tuple[int, int, int]:
        """As that of a card."""
        return len(self.points), sum(self.points), max(self.points)


class Gates(NamedTuple):
    """Gates for kernels, padded with zeros."""

    points: NDArray[np.int64]
    thresholds: NDArray[np.int64]
    sizes: NDArray[np.int64]


def totals_of(form: Form) -> list[Total]:
    """All gates that depend on each of their 1 to ``n_rules`` rules, in the order of preference."""
    return [one for size in range(1, form.n_rules + 1) for one in _of_size(size, form.points)]


def for_kernels(totals: list[Total]) -> Gates:
    most = max(len(one.points) for one in totals)
    points = np.array([one.points + (0,) * (most - len(one.points)) for one in totals], dtype=np.int64)
    sizes = np.array([len(one.points) for one in totals], dtype=np.int64)
    return Gates(points, np.array([one.threshold for one in totals], dtype=np.int64), sizes)


def simplest(card: Card, form: Form) -> Card:
    """The card with the smallest points that gives the same answers; without rules that never matter."""
    size = len(card.rules)
    if not 1 <= size <= MOST_RULES:
        return card
    order = sorted(range(size), key=lambda j: -card.rules[j].points)
    table = _cube(size) @ np.array([card.rules[j].points for j in order]) >= card.threshold
    needed = [j for j in range(size) if _needs(table, j)]
    if len(needed) < size:
        spare = [order[j] for j in range(size) if j not in needed]
        kept = tuple(rule for j, rule in enumerate(card.rules) if j not in spare)
        return simplest(Card(kept, card.threshold), form) if kept else Card((), int(not table[0]))
    total = _by_table(size, form.points).get(table.tobytes())
    if total is None:
        return card
    rules = [replace(card.rules[j], points=points) for j, points in zip(order, total.points, strict=True)]
    return Card(tuple(rules), total.threshold)


def _of_size(size: int, most: int) -> tuple[Total, ...]:
    return tuple(sorted(_by_table(size, most).values(), key=lambda one: one.rank))


@cache
def _by_table(size: int, most: int) -> dict[bytes, Total]:
    found: dict[bytes, Total] = {}
    cube = _cube(size)
    for points in sorted(combinations_with_replacement(range(most, 0, -1), size), key=lambda one: (sum(one), one)):
        sums = cube @ np.array(points)
        for threshold in range(1, sum(points) + 1):
            table = sums >= threshold
            if table.tobytes() not in found and _needs_all(table, size):
                found[table.tobytes()] = Total(points, threshold)
    return found


def _cube(size: int) -> NDArray[np.int64]:
    return np.arange(2**size)[:, None] >> np.arange(size) & 1


def _needs_all(table: NDArray[np.bool_], size: int) -> bool:
    return all(_needs(table, j) for j in range(size))


def _needs(table: NDArray[np.bool_], j: int) -> bool:
    """Whether a function depends on its input ``j``."""
    return bool((table != table[np.arange(len(table)) ^ (1 << j)]).any())
