"""One neuron that keeps its side wherever rows are moved: how it is built depends on the shape of the set."""

from __future__ import annotations

from stepnet.constructions.linear_neuron import LinearRows
from stepnet.constructions.robust_rows import RobustRows
from stepnet.constructions.round_neuron import RoundRows
from stepnet.problem.problem import Problem
from stepnet.uncertainty.sets import Uncertainty


def robust_rows(problem: Problem) -> RobustRows:
    """The rows of a problem, with the programs that its set allows."""
    assert isinstance(problem.uncertainty, Uncertainty)
    if problem.uncertainty.is_round:
        return RoundRows(problem)
    form = problem.uncertainty.dual_form(problem.dataset.n_features)
    return RobustRows(problem) if form is None else LinearRows(problem, form)
