"""Robust neurons: how they are built depends on the shape of the uncertainty set."""

from __future__ import annotations

from stepnet.constructions.linear_neuron import LinearRows
from stepnet.constructions.robust_rows import RobustRows
from stepnet.constructions.round_neuron import RoundRows
from stepnet.problem.problem import Problem


def robust_rows(problem: Problem) -> RobustRows:
    """The rows of a problem, with the construction that its set allows."""
    if problem.perturbations.is_round:
        return RoundRows(problem)
    form = problem.perturbations.dual_form(problem.dataset.n_features)
    return RobustRows(problem) if form is None else LinearRows(problem, form)
