"""Branch clauses: those that a branch tree has learned, and what they cost a cone; see ``branch_tree``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stepnet.model.arithmetic import Ints
from stepnet.runtime.compiling import kernel

CLAUSE = -1  # what begins the record of a clause in the log
N_LOGGED = 5  # place of a counter of the tree
_COUNT, _NEXT, _LEARNED = 0, 1, 2  # of the clauses
_FEWEST_CLAUSES = 400  # that are kept; as many as rows if these are more


class Clauses(NamedTuple):
    """The latest clauses, the last index being the place in one; rows that must be wrong come first."""

    rows: Ints
    sides: Ints
    sizes: Ints
    numbers: Ints  # in the order in which they were learned
    counters: Ints  # how many there are, the place of the next one, and how many were ever learned

    @classmethod
    def of(cls, n_rows: int, n_coordinates: int) -> Clauses:
        shape = (max(_FEWEST_CLAUSES, n_rows), n_coordinates + 1)
        rows, sides = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        return cls(rows, sides, np.zeros(shape[0], np.int64), np.zeros(shape[0], np.int64), np.zeros(3, np.int64))


@kernel(nogil=True)
def pay_known(tree: Any, weights: Any, need: int, work: Any) -> int:
    """Pay for known clauses that hold in the present cone, those of few rows first; ``need`` if that is impossible."""
    clauses, sides = tree.clauses, tree.sides
    n_known = clauses.counters[_COUNT]
    work.paid[-1] = 0
    ends = np.zeros(clauses.rows.shape[1] + 2, np.int64)
    for c in range(n_known):
        n_free = 0
        for j in range(clauses.sizes[c]):
            side = sides[clauses.rows[c, j]]
            if side == -clauses.sides[c, j] or (side == 0 and clauses.sides[c, j] < 0):
                n_free = -1
                break
            n_free += side == 0
        if n_free == 0:
            work.paid[0], work.paid[-1] = clauses.numbers[c], 1
            return need
        work.n_free[c] = n_free
        ends[n_free + 1] += n_free > 0
    for f in range(1, len(ends)):
        ends[f] += ends[f - 1]
    n_here = ends[-1]
    for c in range(n_known):
        if work.n_free[c] > 0:
            work.order[ends[work.n_free[c]]] = c
            ends[work.n_free[c]] += 1
    work.left[:] = weights
    total = 0
    for place in range(n_here):
        c = work.order[place]
        total += pay(sides, work, clauses.rows[c, : clauses.sizes[c]], work.n_free[c], clauses.numbers[c])
        if total >= need:
            break
    return total


@kernel(nogil=True)
def pay(sides: Any, work: Any, rows: Any, n_free: int, number: int) -> int:
    """Pay for a clause with its rows that are not taken: as much as is left of the lightest."""
    amount = -1
    for row in rows:
        if sides[row] == 0 and (amount < 0 or work.left[row] < amount):
            amount = work.left[row]
    if amount > 0:
        work.paid[work.paid[-1]] = number
        work.paid[-1] += 1
        for row in rows:
            if sides[row] == 0:
                work.left[row] -= amount
                work.fewest[row] = n_free if work.fewest[row] == 0 else min(work.fewest[row], n_free)
    return amount


@kernel(nogil=True)
def sorted_clause(tree: Any, numbers: Any, chosen: Any) -> Any:
    """The rows of a clause, with their sides, those that must be wrong first; how many are not taken."""
    rows, sides = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
    size, n_free = 0, 0
    for is_wrong in (True, False):
        for c in chosen:
            side = tree.sides[numbers[c]]
            if (side < 0) == is_wrong:
                rows[size], sides[size] = numbers[c], -1 if is_wrong else 1
                size += 1
                n_free += side == 0
    return rows, sides, n_free


@kernel(nogil=True)
def learn(tree: Any, rows: Any, sides: Any, size: int) -> int:
    """Keep a clause in place of the oldest one; its number."""
    clauses = tree.clauses
    place = clauses.counters[_NEXT]
    clauses.rows[place, :size], clauses.sides[place, :size], clauses.sizes[place] = rows, sides, size
    clauses.counters[_NEXT] = (place + 1) % len(clauses.sizes)
    clauses.counters[_COUNT] = max(clauses.counters[_COUNT], place + 1)
    number = clauses.counters[_LEARNED]
    clauses.numbers[place] = number
    clauses.counters[_LEARNED] += 1
    if len(tree.log):
        begin = tree.counters[N_LOGGED]
        tree.log[begin], tree.log[begin + 1] = CLAUSE, size
        tree.log[begin + 2 : begin + 2 + size] = 2 * rows[:size] + (sides[:size] > 0)
        tree.counters[N_LOGGED] += 2 + size
    return int(number)
