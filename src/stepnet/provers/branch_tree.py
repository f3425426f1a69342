"""Branch tree: branch and bound over which rows a neuron gets right, depth first, in turns.

A neuron is a ray x = (w, -t), and row i is right where a_i·x > 0, a_i = ±(x_i, 1). Taking sides on some rows leaves a
cone of neurons. Rows S on which none is taken, rows R that are right and rows W that are wrong are a *clause* if

    Σ_{S, R} l_i a_i = Σ_W l_i a_i   for some l >= 0 that are not all 0 on S and R:

then no neuron of the cone gets all rows of S right. Each clause is paid for by its rows S, the same amount by each, and
no row pays more than its weight: the sum of all amounts is lost besides the rows that are wrong by choice. The clauses
of all cones are kept, since one holds wherever the sides of R and W are taken (R may be open): few new ones are needed.

A limit on errors, Σ c_i [row i is wrong] <= b, is paid for in the same way: a cone is pruned where its clauses show
that more than b is lost in the weights c, or too much in weights that add up the loss and the limit.

The row to branch on is the one that is wrong by most for the neuron of the rows that the clauses leave over: where it
must be right, that neuron must move far; where it is wrong, it is paid for.

Coordinates are floats in [-1, 1], each rounded once. A clause of as many rows as there are coordinates, plus one, is
certain if its shares are positive beyond all rounding; others are left to rational arithmetic.

What is learned and done can be logged: ``branch_log`` describes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.provers.branch_clauses import N_LOGGED, Clauses, learn, pay, pay_known, sorted_clause
from stepnet.provers.certain import is_certain
from stepnet.provers.limits import Limit
from stepnet.provers.nearest import nearest
from stepnet.runtime.compiling import kernel

PAUSED, DONE, BETTER, DOUBTFUL, FULL = 0, 1, 2, 3, 4  # how a turn ends
_OPEN, _PRUNED = 5, 6  # what becomes of a cone, besides BETTER and DOUBTFUL
DEPTH, N_CONES, IS_QUIET, LOST, N_FOUND = 0, 1, 2, 3, 4  # places of the counters; N_LOGGED is the next
LEAF = -2  # what begins a record of the log, unless it is a clause or a row to branch on
_NEAR = 1e-14  # squared distance to 0 below which rows may be a clause
_RIGHT = 1e-12  # value of a row that seems to be right, relative to the neuron's length
_MOST = 2**62  # of a sum of weights
_STEPS = 20  # through all columns, to find a clause
_PAGE = 1 << 16  # of the log, besides the room for what one cone may add


class BranchTree(NamedTuple):
    """The present cone, and the ones that are still open."""

    values: Floats  # row, coordinate
    scales: Floats  # 1 / length of a row
    sides: Ints  # 1 right, -1 wrong, 0 not taken
    trail: Ints  # the rows on which sides are taken, in order
    is_second: Bools  # whether it is the second side that is tried
    counters: Ints
    clauses: Clauses
    found_rows: Ints  # of a turn that ends with DOUBTFUL: rows that may be a clause
    found_point: Floats  # of a turn that ends with BETTER: a neuron in coordinates
    limits: Ints  # limit, row: what a wrong row counts
    left: Ints  # of each limit, besides the rows that are wrong by choice
    log: Ints  # records; no room if nothing is logged

    @classmethod
    def of(
        cls, values: Floats, clauses: Clauses, limits: Sequence[Limit] = (), *, is_logged: bool = False
    ) -> BranchTree:
        m, n = values.shape
        return cls(
            np.ascontiguousarray(values),
            1.0 / np.sqrt((values**2).sum(axis=1)),
            np.zeros(m, np.int64),
            np.zeros(m, np.int64),
            np.zeros(m, np.bool_),
            np.zeros(6, np.int64),
            clauses,
            np.zeros(n + 1, np.int64),
            np.zeros(n),
            np.array([one.coefficients for one in limits], np.int64).reshape(len(limits), m),
            np.array([one.most for one in limits], np.int64),
            np.zeros(_PAGE + _record_room(m, n, len(clauses.sizes), len(limits)) if is_logged else 0, np.int64),
        )

    def learn(self, rows: Ints, sides: Ints) -> None:
        """Keep a clause that was proven elsewhere."""
        order = np.argsort(sides, kind="stable")
        learn(self, rows[order], sides[order], len(rows))


class _Work(NamedTuple):
    """Room for one cone."""

    columns: Floats  # coordinate, column: rows with their sides, taken ones first; at last 1 where one must be right
    rows: Ints  # of the columns
    left: Ints  # of the weight of each row
    fewest: Ints  # how many rows pay with it for a clause, at the least; 0: it pays for none
    at: Floats  # the values of the rows for the neuron of those that are left over
    n_free: Ints  # rows that pay for each clause; -1: it does not hold here
    order: Ints  # clauses, those of few rows first
    sums: Ints  # of the loss and a limit, for each row
    paid: Ints  # numbers of the clauses that were paid for, in order; how many there are comes last


@kernel(nogil=True, error_model="numpy")
def advance(tree: Any, weights: Any, target: int, most: int) -> int:
    """Continue for about ``most`` operations; neurons that lose at least ``target`` are pruned. How the turn ended."""
    m, n = tree.values.shape
    work = _Work(
        np.empty((n + 1, m)), np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m),
        np.empty(len(tree.clauses.sizes), np.int64), np.empty(len(tree.clauses.sizes), np.int64), np.empty(m, np.int64),
        np.zeros(len(tree.clauses.sizes) + m + 1, np.int64),
    )  # fmt: skip
    counters, spent = tree.counters, 0
    room = _record_room(m, n, len(tree.clauses.sizes), len(tree.left))
    while spent < most and (len(tree.log) == 0 or counters[N_LOGGED] + room <= len(tree.log)):
        need = target - counters[LOST]
        is_quiet = counters[IS_QUIET] == 1
        counters[IS_QUIET] = 0
        answer, account = _PRUNED, _account_by_choice(tree)
        work.paid[-1] = 0
        if need > 0 and account == 0:
            answer, n_asked = _bound(tree, weights, need, is_quiet, True, work, most // (_STEPS * m * n))
            for k in range(2 * len(tree.left)):
                if answer == _OPEN and (k % 2 == 1 or _breaks(tree, k // 2, work)):
                    account = k + 1
                    answer, n_more = _bound_limit(tree, weights, need, k, is_quiet, work, most // (_STEPS * m * n))
                    n_asked += n_more
            spent += n_asked * _STEPS * m * n
        spent += 10 * len(tree.clauses.sizes) + 10 * m
        if answer in (BETTER, DOUBTFUL, PAUSED):
            counters[IS_QUIET] = is_quiet
            return int(answer)
        row = _most_wrong(tree, work) if answer == _OPEN else -1
        if answer == _OPEN and row < 0:
            return FULL
        counters[N_CONES] += 1
        _log_cone(tree, row, account if need > 0 else 0, work)
        if row >= 0:
            _take(tree, weights, row)
        elif not _turn_back(tree, weights):
            return DONE
    return PAUSED


@kernel(nogil=True)
def _record_room(n_rows: int, n_coordinates: int, n_known: int, n_limits: int) -> int:
    """What one cone logs at most: each new clause uses up a row in its account."""
    return (1 + 2 * n_limits) * n_rows * (n_coordinates + 3) + n_known + n_rows + 4


@kernel(nogil=True)
def _log_cone(tree: Any, row: int, account: int, work: Any) -> None:
    """The row to branch on, or a leaf: its account, how many clauses are paid for, and their numbers."""
    if len(tree.log) == 0:
        return
    place, n_paid = tree.counters[N_LOGGED], work.paid[-1]
    tree.log[place] = row
    if row < 0:
        tree.log[place], tree.log[place + 1], tree.log[place + 2] = LEAF, account, n_paid
        tree.log[place + 3 : place + 3 + n_paid] = work.paid[:n_paid]
    tree.counters[N_LOGGED] += 1 if row >= 0 else 3 + n_paid


@kernel(nogil=True)
def _take(tree: Any, weights: Any, row: int) -> None:
    """The cone where a row is wrong comes first: its loss soon leaves little to prove."""
    depth = tree.counters[DEPTH]
    tree.trail[depth], tree.is_second[depth], tree.sides[row] = row, False, -1
    tree.counters[DEPTH] += 1
    tree.counters[LOST] += weights[row]
    for k in range(len(tree.left)):
        tree.left[k] -= tree.limits[k, row]


@kernel(nogil=True)
def _turn_back(tree: Any, weights: Any) -> bool:
    """To the next open cone; False if there is none."""
    counters = tree.counters
    while counters[DEPTH] > 0:
        last = counters[DEPTH] - 1
        row = tree.trail[last]
        if not tree.is_second[last]:
            counters[LOST] -= weights[row]
            for k in range(len(tree.left)):
                tree.left[k] += tree.limits[k, row]
            tree.is_second[last], tree.sides[row] = True, 1
            return True
        tree.sides[row] = 0
        counters[DEPTH] -= 1
    return False


@kernel(nogil=True)
def _most_wrong(tree: Any, work: Any) -> int:
    """The row to branch on; those that must be wrong anyway only if there are no others; -1 if all are taken."""
    best, value = -1, np.inf
    for is_forced in (False, True):
        for i in range(len(tree.sides)):
            if tree.sides[i] == 0 and (work.fewest[i] == 1) == is_forced:
                scaled = work.at[i] * tree.scales[i]
                if scaled < value:
                    best, value = i, scaled
        if best >= 0:
            break
    return best


@kernel(nogil=True)
def _account_by_choice(tree: Any) -> int:
    """The account of a limit that rows that are wrong by choice break; 0 if they break none."""
    account = 0
    for k in range(len(tree.left)):
        account = 2 * k + 1 if tree.left[k] < 0 else account
    return account


@kernel(nogil=True)
def _breaks(tree: Any, k: int, work: Any) -> bool:
    """Whether the neuron of the rows that are left over seems to break a limit."""
    counted = 0
    for i in range(len(tree.sides)):
        counted += tree.limits[k, i] if tree.sides[i] >= 0 and work.at[i] <= 0.0 else 0
    return bool(counted > tree.left[k])


@kernel(nogil=True, error_model="numpy")
def _bound_limit(tree: Any, weights: Any, need: int, place: int, is_quiet: bool, work: Any, most: int) -> Any:
    """The same as ``_bound`` for what no better neuron reaches: a limit, or with an odd place the loss and it together.

    A better neuron loses at most need - 1 and counts at most what is left, so the sum of both, each times the other's
    largest value, is at most twice the product.
    """
    k = place // 2
    left = tree.left[k]
    if place % 2 == 0:
        return _bound(tree, tree.limits[k], left + 1, is_quiet, False, work, most)
    of_loss, of_limit = max(left, 1), max(need - 1, 1)
    total = 0.0
    for i in range(len(weights)):
        total += float(of_loss) * weights[i] + float(of_limit) * tree.limits[k, i]
    if total + float(of_loss) * need + float(of_limit) * left >= _MOST:
        return _OPEN, 0
    for i in range(len(weights)):
        work.sums[i] = of_loss * weights[i] + of_limit * tree.limits[k, i]
    return _bound(tree, work.sums, of_loss * (need - 1) + of_limit * left + 1, is_quiet, False, work, most)


@kernel(nogil=True, error_model="numpy")
def _bound(tree: Any, weights: Any, need: int, is_quiet: bool, proposes: bool, work: Any, most: int) -> Any:
    """What becomes of the present cone if it may not lose ``need`` more; how often new clauses were asked for.

    BETTER only if neurons may be proposed. PAUSED if that was more often than ``most``: those found so far are known
    next time.
    """
    work.at[:] = 0.0
    work.fewest[:] = 0
    total = pay_known(tree, weights, need, work)
    if total >= need:
        return _PRUNED, 0
    size, n_taken = _fill(tree, work)
    n_asked = 0
    while size > 0:
        n_asked += 1
        distance, chosen, difference = nearest(work.columns, size, n_taken)
        if distance > _NEAR:
            break
        if not is_certain(work.columns, chosen):
            if is_quiet:  # rational arithmetic did not prove it either
                return _OPEN, n_asked
            for j in range(len(chosen)):
                tree.found_rows[j] = work.rows[chosen[j]]
            tree.counters[N_FOUND] = len(chosen)
            return DOUBTFUL, n_asked
        rows, sides, n_free = sorted_clause(tree, work.rows, chosen)
        number = learn(tree, rows, sides, len(rows))
        if n_free == 0:
            work.paid[0], work.paid[-1] = number, 1
            return _PRUNED, n_asked
        total += pay(tree.sides, work, rows, n_free, number)
        if total >= need:
            return _PRUNED, n_asked
        size = _leave_out_paid(work, size, n_taken)
        if n_asked > most:
            return PAUSED, n_asked
    if size == 0:
        return _OPEN, n_asked
    work.at[:] = -np.dot(tree.values, difference[:-1])
    loss, low = 0, _RIGHT * np.sqrt(np.sum(difference[:-1] ** 2))
    for i in range(len(tree.sides)):
        loss += weights[i] if work.at[i] <= low else 0
    is_admitted = proposes
    for k in range(len(tree.left)):
        is_admitted = is_admitted and not _breaks(tree, k, work)
    if not is_quiet and is_admitted and loss < need + tree.counters[LOST]:
        tree.found_point[:] = -difference[:-1]
        return BETTER, n_asked
    return _OPEN, n_asked


@kernel(nogil=True)
def _fill(tree: Any, work: Any) -> Any:
    """The columns of the rows that are taken, then of those that can still pay: how many, and how many are taken."""
    n, size = tree.values.shape[1], 0
    for is_free in (False, True):
        for i in range(len(tree.sides)):
            side = tree.sides[i]
            if (side == 0) == is_free and not (is_free and work.left[i] == 0):
                sign = -1.0 if side < 0 else 1.0
                for q in range(n):
                    work.columns[q, size] = sign * tree.values[i, q]
                work.columns[n, size] = 0.0 if side < 0 else 1.0
                work.rows[size] = i
                size += 1
        if not is_free:
            n_taken = size
    return size, n_taken


@kernel(nogil=True)
def _leave_out_paid(work: Any, size: int, n_taken: int) -> int:
    """Rows that have paid all of their weight, but are not taken, leave the columns: how many columns are left."""
    kept = n_taken
    for c in range(n_taken, size):
        if work.left[work.rows[c]] > 0:
            work.rows[kept] = work.rows[c]
            for q in range(len(work.columns)):
                work.columns[q, kept] = work.columns[q, c]
            kept += 1
    return kept
