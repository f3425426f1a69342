"""Pairs of rows of different classes that perturbations can make equal: no network gets both right.

The rows that a network gets right in the worst case contain no such pair, so the rows it gets wrong cover all pairs,
and the weight of the lightest cover is a bound on the loss. For two classes it is a minimum cut; for more classes the
fractional cover is half of one, and a bound too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from stepnet.model.arithmetic import Bools
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.uncertainty.sets import Pairs

_MOST_ROWS = 4_000  # the first rows are representative, and their cost is a bound for all
_MOST_DOUBTS = 2_000  # pairs that are checked with rationals, or by one program each
_CHUNK = 4_000_000  # differences at a time
_LARGEST_FLOW = 2**30


@dataclass(frozen=True)
class Cover:
    """The weight of the lightest cover, its rows (for two classes), and the pairs."""

    value: float
    rows: Bools
    pairs: Pairs


def lightest_cover(problem: Problem, should_stop: Callable[[], bool] = lambda: False) -> Cover:
    """Of all pairs of rows of different classes that perturbations can make equal.

    If it must stop, of those found so far: their cover is a bound, too.
    """
    dataset = problem.dataset
    pairs = meeting_pairs(problem, should_stop)
    if not pairs.size:
        return Cover(0.0, np.zeros(dataset.n_rows, dtype=bool), pairs)
    if len(np.unique(dataset.y)) == 2:
        return _cut(dataset, pairs)
    # With every row once on each side, half of the minimum cut is the lightest fractional cover.
    m = dataset.n_rows
    both = np.hstack([pairs, pairs[::-1]])
    twice = Dataset(np.zeros((2 * m, 1)), np.repeat([0, 1], m), np.tile(dataset.weights, 2))
    cover = _cut(twice, both + np.array([[0], [m]]), dataset)
    return Cover(cover.value / 2, cover.rows[:m] & cover.rows[m:], pairs)


def meeting_pairs(problem: Problem, should_stop: Callable[[], bool] = lambda: False) -> Pairs:
    """Pairs of rows of different classes that perturbations can make equal; some of them if it must stop."""
    uncertainty, dataset = problem.perturbations, problem.dataset
    X, y, radii = dataset.X[:_MOST_ROWS].astype(np.float64), dataset.y[:_MOST_ROWS], problem.radii[:_MOST_ROWS]
    found, size = [], max(1, _CHUNK // max(1, X.size))
    for first in range(0, len(X), size):
        part = slice(first, first + size)
        i, j = np.nonzero(uncertainty.may_meet(X[part, None] - X[None], radii[part, None] + radii[None]))
        i = i + first
        keep = (i < j) & (y[i] != y[j])
        found.append(np.vstack([i[keep], j[keep]]))
        if should_stop():
            break
    pairs = np.hstack(found)
    meets = uncertainty.surely_meet(X, radii, pairs)
    doubtful = np.flatnonzero(~meets)
    known = uncertainty.meet_on_a_grid(X, radii, pairs[:, doubtful])
    if known is not None:
        meets[doubtful] = known
        return pairs[:, meets]
    for number in doubtful[:_MOST_DOUBTS].tolist():  # with fewer pairs the bound is weaker, but valid
        if should_stop():
            break
        i, j = pairs[:, number]
        point = uncertainty.common_point(X[i], X[j], radii[i], radii[j])
        meets[number] = point is not None and all(uncertainty.contains(X[k], point, radii[k]) for k in (i, j))
    return pairs[:, meets]


def _cut(dataset: Dataset, pairs: Pairs, of: Dataset | None = None) -> Cover:
    """The minimum cut of source - rows of class 0 - rows of class 1 - sink, with row weights as capacities."""
    m, step = dataset.n_rows, (of or dataset).granularity
    total = dataset.total_weight
    if not step or total / step > _LARGEST_FLOW:
        step = total / _LARGEST_FLOW * 2
    capacities = np.floor(dataset.weights / step * (1 + 1e-15)).astype(np.int64)  # down: it stays a bound
    capacities = np.where(capacities * step > dataset.weights, capacities - 1, capacities).astype(np.int32)
    zeros = dataset.y[pairs[0]] == dataset.y.min()
    left, right = np.where(zeros, pairs[0], pairs[1]), np.where(zeros, pairs[1], pairs[0])
    lefts, rights = np.unique(left), np.unique(right)
    source, sink = m, m + 1
    starts = np.concatenate([np.full(len(lefts), source), left, rights])
    ends = np.concatenate([lefts, right, np.full(len(rights), sink)])
    sizes = np.concatenate([capacities[lefts], np.full(len(left), _LARGEST_FLOW, dtype=np.int32), capacities[rights]])
    graph = sparse.csr_array((sizes.astype(np.int32), (starts, ends)), shape=(m + 2, m + 2))
    flow = maximum_flow(graph, source, sink)
    residual = sparse.csr_array(graph - flow.flow)
    residual.eliminate_zeros()
    reached = np.zeros(m + 2, dtype=bool)
    reached[breadth_first_order(residual, source, return_predecessors=False)] = True
    rows = np.zeros(m, dtype=bool)
    rows[lefts], rows[rights] = ~reached[lefts], reached[rights]
    return Cover(math.floor(flow.flow_value) * step, rows, pairs)
