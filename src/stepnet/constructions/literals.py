"""Two hidden layers that reach the cover bound at any radius, if they are wide enough.

Rows of a lightest cover are given up. Of the others no two of different classes can be moved to one point, so for every
such pair there is a neuron that is stably on for one and stably off for the other. The first layer has enough of them
to tell all pairs apart. For each row of class 1 the second layer has the AND of the row's stable literals, which holds
wherever the row is moved and fails wherever a row of class 0 is; rows that share enough literals share the AND.
The output is the OR. With the classes exchanged the output is its opposite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.bounds.overlaps import Cover
from stepnet.constructions.stable import StableNeurons, padded_layer
from stepnet.model.arithmetic import Bools, Ints
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.uncertainty.hyperplanes import FREE, Sides

_MOST_PAIRS = 20_000
_CHUNK = 500  # neurons at a time


def offer_literals(
    problem: Problem, pool: StableNeurons, cover: Cover, budget: Budget, offer: Callable[[Network], float]
) -> None:
    """Offer the networks of both classes that fit into the architecture."""
    kept = np.flatnonzero(~cover.rows)
    chosen = _neurons(problem, pool, kept, budget)
    if chosen is None or len(chosen) > problem.architecture.hidden[0]:
        return
    sides = pool.sides[:, chosen]
    for code in (1, 0):
        mine, others = kept[problem.dataset.y[kept] == code], kept[problem.dataset.y[kept] != code]
        terms = _terms(sides[mine], sides[others])
        if len(terms) <= problem.architecture.hidden[1]:
            offer(_network(problem.architecture, pool, chosen, terms, code))


def _neurons(problem: Problem, pool: StableNeurons, kept: Ints, budget: Budget) -> Ints | None:
    """Few neurons that tell every pair of different classes apart: greedy, most pairs first."""
    y = problem.dataset.y[kept]
    i, j = np.repeat(kept[y == 1], (y == 0).sum()), np.tile(kept[y == 0], (y == 1).sum())
    if not 0 < len(i) <= _MOST_PAIRS:
        return None
    open_pairs = np.flatnonzero(~_tells_apart(pool.sides, i, j).any(axis=1))
    while len(open_pairs):
        pair = np.array([i[open_pairs[0]], j[open_pairs[0]]])
        found = pool.rows.widest(pair, np.array([1.0, -1.0]))
        if found is None or budget.stop_reason:
            return None
        told = _tells_apart(pool.add(found[1]), i[open_pairs], j[open_pairs])[:, 0]
        if not told[0]:
            return None  # they all but touch
        open_pairs = open_pairs[~told]
    table = _tells_apart(pool.sides, i, j)
    chosen: list[int] = []
    left = np.ones(len(i), dtype=bool)
    while left.any():
        chosen.append(int(table[left].sum(axis=0).argmax()))
        left &= ~table[:, chosen[-1]]
    for number in list(chosen):  # early ones may have become superfluous
        others = [one for one in chosen if one != number]
        if table[:, others].any(axis=1).all():
            chosen = others
    return np.array(chosen)


def _tells_apart(sides: Sides, i: Ints, j: Ints) -> Bools:
    """Pairs × neurons."""
    parts = []
    for first in range(0, sides.shape[1], _CHUNK):
        part = sides[:, first : first + _CHUNK]
        parts.append((part[i] != FREE) & (part[j] != FREE) & (part[i] != part[j]))
    return np.hstack(parts) if parts else np.zeros((len(i), 0), dtype=bool)


def _terms(mine: Sides, others: Sides) -> list[Sides]:
    """ANDs of literals: 1 a neuron that must be on, 0 one that must be off, FREE one that does not matter."""
    terms: list[Sides] = []
    for row in mine:
        for number, term in enumerate(terms):
            common = np.where(term == row, term, FREE).astype(np.int8)
            if _excludes(common, others):
                terms[number] = common
                break
        else:
            terms.append(row)
    return terms


def _excludes(term: Sides, others: Sides) -> bool:
    """Whether every other row stably fails one of the literals."""
    fails = (term != FREE) & (others != FREE) & (others != term)
    return bool(fails.any(axis=1).all())


def _network(architecture: Architecture, pool: StableNeurons, chosen: Ints, terms: list[Sides], code: int) -> Network:
    widths = architecture.widths
    layers = [padded_layer(widths[0], pool.weights[chosen], pool.thresholds[chosen])]
    literals = np.array(terms)
    weights = np.zeros((len(terms), widths[0]))
    weights[:, : len(chosen)] = np.where(literals == 1, 1.0, np.where(literals == 0, -1.0, 0.0))
    layers.append(padded_layer(widths[1], weights, (literals == 1).sum(axis=1) - 0.5))
    gather = np.zeros((1, widths[1]))
    gather[0, : len(terms)] = 1.0 if code == 1 else -1.0
    threshold = np.array([0.5 if code == 1 else -0.5])
    for width in widths[2:]:  # one bit, handed on to the output
        layers.append(padded_layer(width, gather, threshold))
        gather, threshold = np.eye(1, width), np.array([0.5])
    return Network(tuple(layers))
