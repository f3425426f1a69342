"""Robust votes: one hidden layer of neurons that are stable for some rows, and a weighted vote.

A neuron handles a row if it is on for class 1, or off for class 0, for every perturbation of the row. Votes v >= 0 with
Σ v = 1 and a threshold θ decide all rows in the worst case if the neurons that handle a row have enough votes:

    class 1:  Σ_{j handles i} v_j >= θ + ρ          class 0:  Σ_{j handles i} v_j >= 1 - θ + ρ          with ρ > 0.

The largest ρ is a linear program over the neurons. Its multipliers price the rows, and the next neuron is found by a
linear program with these prices, or by a small mixed-integer one. If even the best neuron does not help, no width
suffices for a vote of this kind. A program with slacks chooses, at the start, which rows to give up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stepnet.bounds.overlaps import Cover
from stepnet.constructions.stable import StableNeurons, padded_layer
from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.uncertainty.programs import attempted

_ENOUGH = 1e-7  # ρ
_GAIN = 1e-6  # by which a neuron must exceed its price
_MOST_ROWS = 40  # for the mixed-integer program
_PROGRAM_SECONDS = 5.0
_SHAKEN = 2  # random weightings of each kind
_THRIFT = 1e-3  # the cost of a vote, relative to the heaviest row


def offer_votes(
    problem: Problem, pool: StableNeurons, cover: Cover, budget: Budget, offer: Callable[[Network], float]
) -> None:
    """Offer networks that get more and more rows right in the worst case, at best all rows outside the cover."""
    wanted = np.flatnonzero(~cover.rows)
    half = budget.until((budget.elapsed + budget.time_limit) / 2)
    kept = _satisfied(problem, pool, wanted, half)
    left = np.setdiff1d(wanted, kept)
    left = left[np.argsort(-problem.dataset.weights[left], kind="stable")]
    for row in [None, *left.tolist()]:
        rows = kept if row is None else np.sort(np.append(kept, row))
        votes = _best_votes(pool, rows, half if row is None else budget)
        if votes is not None and votes.lead > _ENOUGH:
            kept = rows
            network = _within_width(pool, rows, votes, problem.architecture.hidden[0])
            if network is not None:
                offer(network)
        if budget.stop_reason:
            return


def _satisfied(problem: Problem, pool: StableNeurons, rows: Ints, budget: Budget) -> Ints:
    """The rows that a vote with slacks decides, with neurons added as long as they help.

    The linear program min ε Σ v + Σ weight_i ξ_i with leads of 1 - ξ_i has its cost in all difficult rows, which gives
    better multipliers than the largest lead.
    """
    best, satisfied = np.inf, rows[:0]
    while True:
        found = _solve_with_slacks(pool, rows, problem.dataset.weights[rows])
        if found is None:
            return satisfied
        slacks, prices, price = found
        missed = float(problem.dataset.weights[rows[slacks >= 1 - 1e-9]].sum())
        if missed < best:
            best, satisfied = missed, rows[slacks < 1 - 1e-9]
        if missed == 0 or budget.stop_reason or not _price(pool, rows, prices, price, budget):
            return satisfied


def _solve_with_slacks(pool: StableNeurons, kept: Ints, weights: Floats) -> tuple[Floats, Floats, float] | None:
    """The slacks, the multipliers of the rows, and the price of a neuron."""
    handled = pool.handled[kept].astype(np.float64)
    is_one = pool.y[kept] == 1
    m, k = handled.shape
    rows = np.hstack([handled - ~is_one[:, None], np.where(is_one, -1.0, 1.0)[:, None], np.eye(m)])
    cost = np.concatenate([np.full(k, _THRIFT), [0.0], weights / weights.max()])
    low = np.concatenate([np.zeros(k), [-np.inf], np.zeros(m)])
    found = attempted(cost, rows, np.ones(m), low, np.full(k + 1 + m, np.inf))
    if found is None:
        return None
    point, prices = found
    return point[k + 1 :], prices, _THRIFT + float(prices[~is_one].sum())


class _Votes(NamedTuple):
    """The lead ρ, the votes of all neurons, the threshold, and the multipliers of the rows and of Σ v = 1."""

    lead: float
    votes: Floats
    threshold: float
    prices: Floats
    price: float


def _best_votes(pool: StableNeurons, kept: Ints, budget: Budget) -> _Votes | None:
    """Add neurons until the votes have a lead or no neuron helps."""
    is_exhausted = False
    while True:
        votes = _solve(pool, kept, np.arange(pool.sides.shape[1]))
        if votes is None or votes.lead > _ENOUGH or is_exhausted or budget.stop_reason:
            return votes
        is_exhausted = not _price(pool, kept, votes.prices, votes.price, budget)


def _solve(pool: StableNeurons, kept: Ints, columns: Ints) -> _Votes | None:
    """Variables v, θ, ρ."""
    handled = pool.handled[np.ix_(kept, columns)].astype(np.float64)
    is_one = pool.y[kept] == 1
    m, k = handled.shape
    rows = np.hstack([handled, np.where(is_one, -1.0, 1.0)[:, None], -np.ones((m, 1))])
    total = np.concatenate([np.ones(k), [0.0, 0.0]])
    rows = np.vstack([rows, total, -total])
    least = np.concatenate([np.where(is_one, 0.0, 1.0), [1.0, -1.0]])
    low, high = np.concatenate([np.zeros(k), [-1.0, -2.0]]), np.concatenate([np.ones(k), [2.0, 2.0]])
    found = attempted(np.concatenate([np.zeros(k + 1), [-1.0]]), rows, least, low, high)
    if found is None:
        return None
    point, prices = found
    return _Votes(float(point[-1]), point[:k], float(point[k]), prices[:m], float(prices[m + 1] - prices[m]))


def _price(pool: StableNeurons, kept: Ints, multipliers: Floats, price: float, budget: Budget) -> bool:
    """Add neurons whose handled rows are worth more than their price; returns whether there are any.

    By linear programs with the multipliers as weights; these are extreme and not unique, so some programs smooth or
    randomise them. If none helps, by a mixed-integer program, which finds the best neuron.
    """
    wanted = np.flatnonzero(multipliers > 1e-12)
    rows, prices = kept[wanted], multipliers[wanted]
    if not len(rows):
        return False
    rng = np.random.default_rng(pool.sides.shape[1])
    shared = multipliers + multipliers.mean()
    trials = [(rows, prices), (kept, shared)]
    trials += [(rows, prices * rng.exponential(size=len(rows))) for _ in range(_SHAKEN)]
    trials += [(kept, shared * rng.exponential(size=len(kept))) for _ in range(_SHAKEN)]
    n_found = sum(
        _is_worth(pool, pool.rows.hinge(*trial), rows, prices, price) for trial in trials if not budget.stop_reason
    )
    if n_found or len(rows) > _MOST_ROWS or budget.stop_reason:
        return n_found > 0
    found = pool.rows.heaviest(rows, prices, min(_PROGRAM_SECONDS, budget.remaining / 20))
    return found is not None and _is_worth(pool, found[2], rows, prices, price)


def _is_worth(pool: StableNeurons, neuron: Layer | None, rows: Ints, prices: Floats, price: float) -> bool:
    """Add a neuron; returns whether it is worth more than its price."""
    if neuron is None:
        return False
    sides = pool.add(neuron)
    return bool(prices @ (sides[rows, 0] == pool.y[rows]) > price + _GAIN)


def _within_width(pool: StableNeurons, kept: Ints, votes: _Votes, width: int) -> Network | None:
    """The vote as a network; if it has too many neurons, without the least important while a lead remains."""
    columns = np.flatnonzero(votes.votes > 1e-9)
    best = _solve(pool, kept, columns)
    while best is not None and best.lead > _ENOUGH:
        used = best.votes > 1e-9
        columns, shares = columns[used], best.votes[used]
        if len(columns) <= width:
            out = np.zeros((1, width))
            out[0, : len(columns)] = shares
            hidden = padded_layer(width, pool.weights[columns], pool.thresholds[columns])
            return Network((hidden, Layer(out, np.array([best.threshold]))))
        for weakest in np.argsort(shares).tolist():
            fewer = np.delete(columns, weakest)
            best = _solve(pool, kept, fewer)
            if best is not None and best.lead > _ENOUGH:
                columns = fewer
                break
        else:
            return None
    return None
