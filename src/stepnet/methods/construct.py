"""Networks for uncertain rows, built by linear programs: one robust neuron, votes of robust neurons, literals."""

from __future__ import annotations

import math

import numpy as np

from stepnet.bounds.overlaps import Cover
from stepnet.constructions.linear import embedded
from stepnet.constructions.literals import offer_literals
from stepnet.constructions.stable import StableNeurons
from stepnet.constructions.votes import offer_votes
from stepnet.methods.run import Run

_MOST_NUMBERS = 2_000_000  # in a program over all rows


def construct(run: Run, cover: Cover, share: float) -> None:
    """Offer what can be built within a share of the remaining time."""
    problem = run.problem
    architecture, dataset = problem.architecture, problem.dataset
    is_large = dataset.n_rows * (dataset.n_rows + dataset.n_features) > _MOST_NUMBERS
    if not problem.has_plain_steps or architecture.threshold != "neuron" or is_large:
        return
    left = run.budget.remaining
    budget = run.budget.until(run.budget.elapsed + share * left if math.isfinite(left) else math.inf)
    pool = StableNeurons(problem)
    if not pool.rows.answer:
        run.note("robust neurons", pool.rows.answer.reason)
    run.stage = "robust linear separation"
    kept = np.flatnonzero(~cover.rows)
    if len(np.unique(dataset.y[kept])) == 2:
        neuron = pool.rows.hinge(kept, dataset.weights[kept])
        if neuron is not None:
            run.offer(embedded(neuron, architecture))
    if not run.is_over and len(architecture.hidden) == 1:
        run.stage = "robust votes"
        offer_votes(problem, pool, cover, budget, run.offer)
    if not run.is_over and len(architecture.hidden) > 1:
        run.stage = "robust literals"
        offer_literals(problem, pool, cover, budget, run.offer)
