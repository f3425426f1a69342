"""Two hidden layers that attain the cover bound at any radius, if they are wide enough.

The rows of a lightest cover are given up. No perturbation makes two of the other rows equal if their classes differ, so
for every such pair some neuron is stably on for one row and stably off for the other. The first layer has enough
neurons to separate all pairs. For each row of class 1 the second layer has the AND of the row's stable literals: it
holds for every perturbation of the row and fails for every perturbation of a row of class 0. Rows that share enough
literals share an AND. The output is the OR, or its complement with the classes exchanged.
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
    """Offer the networks for both classes that fit into the architecture."""
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
    """Few neurons that separate every pair of rows of different classes, chosen greedily."""
    y = problem.dataset.y[kept]
    i, j = np.repeat(kept[y == 1], (y == 0).sum()), np.tile(kept[y == 0], (y == 1).sum())
    if not 0 < len(i) <= _MOST_PAIRS:
        return None
    open_pairs = np.flatnonzero(~_separates(pool.sides, i, j).any(axis=1))
    while len(open_pairs):
        pair = np.array([i[open_pairs[0]], j[open_pairs[0]]])
        found = pool.rows.widest(pair, np.array([1.0, -1.0]))
        if found is None or budget.stop_reason:
            return None
        is_separated = _separates(pool.add(found[1]), i[open_pairs], j[open_pairs])[:, 0]
        if not is_separated[0]:
            return None  # their sets nearly touch
        open_pairs = open_pairs[~is_separated]
    table = _separates(pool.sides, i, j)
    chosen: list[int] = []
    left = np.ones(len(i), dtype=bool)
    while left.any():
        chosen.append(int(table[left].sum(axis=0).argmax()))
        left &= ~table[:, chosen[-1]]
    for number in list(chosen):  # later ones may have made earlier ones superfluous
        others = [one for one in chosen if one != number]
        if table[:, others].any(axis=1).all():
            chosen = others
    return np.array(chosen)


def _separates(sides: Sides, i: Ints, j: Ints) -> Bools:
    """Whether a neuron is stably on for one row of a pair and stably off for the other (pairs × neurons)."""
    table = np.zeros((len(i), sides.shape[1]), dtype=bool)
    for first in range(0, sides.shape[1], _CHUNK):
        a, b = sides[i, first : first + _CHUNK], sides[j, first : first + _CHUNK]
        table[:, first : first + _CHUNK] = (a != FREE) & (b != FREE) & (a != b)
    return table


def _terms(mine: Sides, others: Sides) -> list[Sides]:
    """ANDs of literals: 1 if a neuron must be on, 0 if it must be off, FREE if it does not matter."""
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
    for width in widths[2:]:  # one bit, passed on to the output
        layers.append(padded_layer(width, gather, threshold))
        gather, threshold = np.eye(1, width), np.array([0.5])
    return Network(tuple(layers))
