"""Limits on the errors of rows as rows of a program.

Σ_i a_i e^i <= b,    where e^i is a column of the program, or 1 minus one
"""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Bools
from stepnet.problem.problem import Problem
from stepnet.solvers.model import ModelBuilder, Variables

_LARGEST = 1e4  # coefficient, for solvers that count in floats


def add_limits(model: ModelBuilder, problem: Problem, errors: Variables, is_complement: Bools | None = None) -> None:
    """All limits; where ``is_complement``, the column of a row is 1 minus its error."""
    flipped = np.zeros(len(errors), dtype=bool) if is_complement is None else is_complement
    for one in problem.constraints.inequalities:
        coefficients, most = one.scaled(_LARGEST)
        used = np.flatnonzero(coefficients)
        signed = np.where(flipped, -coefficients, coefficients)
        most -= float(coefficients[flipped].sum())
        if len(used):
            model.add_rows([(errors[None, used], signed[None, used])], upper=most)


def must_be_exact(problem: Problem) -> Bools:
    """Rows whose error must not be claimed where there is none: some limit is easier to meet with it."""
    exact = np.zeros(problem.dataset.n_rows, dtype=bool)
    for one in problem.constraints.inequalities:
        exact |= np.asarray(one.coefficients < 0, dtype=bool)
    return exact
