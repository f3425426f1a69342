"""Weights that satisfy all constraints, by a small program over the weights alone; or the conflicting constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.problem.constraint import Constraints, Row
from stepnet.problem.constraint_rows import add_halves, add_row, add_used
from stepnet.problem.problem import Problem
from stepnet.solvers.backends.base import Task
from stepnet.solvers.backends.highs import Highs
from stepnet.solvers.model import ModelBuilder

_SECONDS = 10.0
_TINY = 1e-7
_HUGE = 1e9


def feasible_weights(problem: Problem, rng: np.random.Generator | None = None) -> list[Floats]:
    """Weights of every layer that the constraints admit, for the scaled rows; random ones with ``rng``.

    Raises
    ------
    InvalidInputError
        If there are none; it names constraints that exclude each other.
    """
    constraints, rows = problem.constraints, problem.scaled_rows()
    weights = _weights(problem, rows, constraints, rng)
    if weights is not None:
        return weights
    clashing = rows
    for row in rows:  # drop whatever the conflict does not need
        fewer = [other for other in clashing if other is not row]
        if _weights(problem, fewer, constraints, None) is None:
            clashing = fewer
    names = list(dict.fromkeys(row.name for row in clashing))
    if constraints.has_limits and _weights(problem, clashing, Constraints(tuple(clashing)), None) is not None:
        limits = constraints.total_limit if constraints.total_limit is not None else constraints.layer_limits
        names.append(f"sparsity={limits!r}")
    domains = ", ".join(domain.name for domain in problem.architecture.domains)
    raise InvalidInputError(
        f"no network satisfies these constraints together, with {domains} weights: {'; '.join(names)}. "
        f"Drop or loosen one of them."
    )


def _weights(
    problem: Problem, rows: Sequence[Row], constraints: Constraints, rng: np.random.Generator | None
) -> list[Floats] | None:
    architecture, model = problem.architecture, ModelBuilder()
    inputs = [len(problem.scaling.factor), *architecture.widths[:-1]]
    columns, limits = [], []
    for k, (width, n_inputs, domain) in enumerate(zip(architecture.widths, inputs, architecture.domains, strict=True)):
        lower, upper, shape = domain.lower, domain.upper, (width, n_inputs)
        if problem.loss.reads_values and k == len(inputs) - 1:
            upper = problem.loss.bound or (_HUGE if constraints.has_limits else np.inf)
            lower = -upper
        cost = 0.0 if rng is None or upper > _HUGE else rng.normal(size=shape) / max(1.0, upper)
        columns.append(model.add_columns(f"w{k + 1}", shape, lower, upper, cost=cost, integer=domain.is_integer))
        add_halves(model, f"b{k + 1}", columns[-1], domain)
        limits.append((lower, upper))
    if constraints.has_limits:
        add_used(model, columns, limits, constraints)
    for row in rows:
        add_row(model, columns, row)
    if not rows and not constraints.has_limits:
        model.add_rows([(columns[0].reshape(1, -1), 1.0)])
    outcome = Highs().solve(Task(model.build(), time_limit=_SECONDS))
    if outcome.point is None:
        return None
    found = [outcome.point[block] for block in columns]
    return [
        domain.nearest(np.where(np.abs(one) < _TINY, 0.0, one))
        for one, domain in zip(found, architecture.domains, strict=True)
    ]
