"""Robust votes: one hidden layer of neurons that each keep their side for some rows, and a weighted vote.

A neuron handles a row if it is on for class 1, or off for class 0, wherever the row is moved. Votes v >= 0 with
Σ v = 1 and a threshold θ decide all rows in the worst case if the neurons that handle a row weigh enough:

    class 1:  Σ_{j handles i} v_j >= θ + ρ          class 0:  Σ_{j handles i} v_j >= 1 - θ + ρ          with ρ > 0.

The largest ρ is a linear program over the neurons. Its multipliers say what a neuron should handle that would help: the
next one is the best of a weighted linear program, or of a small mixed-integer one. If even the best does not help, no
width passes by this reasoning, and the row that is hardest to satisfy is given up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.arithmetic import Floats
from stepnet.bounds.overlaps import Cover
from stepnet.errors import SolverFailure
from stepnet.limits import Budget
from stepnet.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.search.stable import StableNeurons
from stepnet.uncertainty.programs import minimise

_ENOUGH = 1e-7  # ρ
_GAIN = 1e-6  # of a neuron over the price of one
_MOST_ROWS = 60  # for the mixed-integer program
_PROGRAM_SECONDS = 5.0


def offer_votes(
    problem: Problem, pool: StableNeurons, cover: Cover, budget: Budget, offer: Callable[[Network], float]
) -> None:
    """Offer networks that get ever more rows right in the worst case, beginning with all rows that no cover needs."""
    kept = np.flatnonzero(~cover.rows)
    while len(kept) and not budget.stop_reason:
        votes = _best_votes(pool, kept, budget)
        if votes is None:
            return
        if votes.lead > _ENOUGH:
            network = _within_width(pool, kept, votes, problem.architecture.hidden[0])
            if network is not None:
                offer(network)
            return
        # Rows with multipliers cannot be met together: give up the one that costs most for its weight.
        strain = votes.prices / problem.dataset.weights[kept]
        kept = np.delete(kept, int(strain.argmax()))


class _Votes(NamedTuple):
    """The lead ρ, the votes of all neurons, the threshold, and the multipliers of the rows and of Σ v = 1."""

    lead: float
    votes: Floats
    threshold: float
    prices: Floats
    price: float


def _best_votes(pool: StableNeurons, kept: NDArray[np.int64], budget: Budget) -> _Votes | None:
    """Add neurons until the votes have a lead or no neuron helps."""
    is_exhausted = False
    while True:
        columns = np.arange(pool.handled.shape[1])
        votes = _solve(pool, kept, columns)
        if votes is None or votes.lead > _ENOUGH or is_exhausted or budget.stop_reason:
            return votes
        is_exhausted = not _price(pool, kept, votes, budget)


def _solve(pool: StableNeurons, kept: NDArray[np.int64], columns: NDArray[np.int64]) -> _Votes | None:
    """Variables v, θ, ρ."""
    handled = pool.handled[np.ix_(kept, columns)].astype(np.float64)
    is_one = pool.y[kept] == 1
    m, k = handled.shape
    rows = np.hstack([handled, np.where(is_one, -1.0, 1.0)[:, None], -np.ones((m, 1))])
    total = np.concatenate([np.ones(k), [0.0, 0.0]])
    rows = np.vstack([rows, total, -total])
    least = np.concatenate([np.where(is_one, 0.0, 1.0), [1.0, -1.0]])
    low, high = np.concatenate([np.zeros(k), [-1.0, -2.0]]), np.concatenate([np.ones(k), [2.0, 2.0]])
    try:
        answer = minimise(np.concatenate([np.zeros(k + 1), [-1.0]]), rows, least, low, high)
    except SolverFailure:
        return None
    if answer.point is None:
        return None
    price = float(answer.rows[m + 1] - answer.rows[m])
    return _Votes(float(answer.point[-1]), answer.point[:k], float(answer.point[k]), answer.rows[:m], price)


def _price(pool: StableNeurons, kept: NDArray[np.int64], votes: _Votes, budget: Budget) -> bool:
    """Add a neuron whose handled rows are worth more than its price; whether there is one."""
    wanted = np.flatnonzero(votes.prices > 1e-12)
    rows, prices = kept[wanted], votes.prices[wanted]
    if not len(rows):
        return False
    neuron = pool.rows.hinge(rows, prices)
    if neuron is not None:
        pool.add(neuron)
        if _is_worth(pool, rows, prices, votes.price):
            return True
    if len(rows) > _MOST_ROWS:
        return False
    found = pool.rows.heaviest(rows, prices, min(_PROGRAM_SECONDS, budget.remaining))
    if found is None:
        return False
    pool.add(found[2])
    return _is_worth(pool, rows, prices, votes.price)


def _is_worth(pool: StableNeurons, rows: NDArray[np.int64], prices: Floats, price: float) -> bool:
    """Whether the newest neuron is."""
    return bool(prices @ pool.handled[rows, -1] > price + _GAIN)


def _within_width(pool: StableNeurons, kept: NDArray[np.int64], votes: _Votes, width: int) -> Network | None:
    """The vote as a network; where it has too many neurons, without the least important as long as there is a lead."""
    columns = np.flatnonzero(votes.votes > 1e-9)
    best = _solve(pool, kept, columns)
    while best is not None and best.lead > _ENOUGH:
        used = best.votes > 1e-9
        columns, shares = columns[used], best.votes[used]
        if len(columns) <= width:
            return _network(pool, columns, shares, best.threshold, width)
        for weakest in np.argsort(shares).tolist():
            fewer = np.delete(columns, weakest)
            best = _solve(pool, kept, fewer)
            if best is not None and best.lead > _ENOUGH:
                columns = fewer
                break
        else:
            return None
    return None


def _network(pool: StableNeurons, columns: NDArray[np.int64], votes: Floats, threshold: float, width: int) -> Network:
    n = pool.X.shape[1]
    weights, thresholds, out = np.zeros((width, n)), np.ones(width), np.zeros((1, width))
    weights[: len(columns)], thresholds[: len(columns)] = pool.weights[columns], pool.thresholds[columns]
    out[0, : len(columns)] = votes
    return Network((Layer(weights, thresholds), Layer(out, np.array([threshold]))))
