"""Thinning: the fewest non-zero weights among networks of the proven loss, by a second program."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.errors import NotAcceptedError
from stepnet.formulations.tight import Tight
from stepnet.methods.journal import logger
from stepnet.methods.programs import attempt
from stepnet.methods.run import Run
from stepnet.solvers.backends.registry import backend_for

_SLACK = 1e-5  # of a row or a weight


def thin(run: Run, solver: str) -> None:
    """If requested, and if the loss is proven: find the fewest non-zero weights with this loss."""
    if not run.problem.constraints.fewest or not run.is_proven or run.must_stop() or run.network is None:
        return
    run.announce("fewest weights")
    (encoding,) = Tight().encode(run.problem)
    unit = run.problem.accuracy.unit
    limit = (run.loss + run.problem.accuracy.tolerance) / unit + _SLACK
    model = encoding.model.with_objective_at_most(math.floor(limit) if run.problem.accuracy.step else limit)
    cost = np.zeros(model.n_columns)
    for columns in encoding.used:
        cost[columns] = 1.0
    model = replace(model, cost=cost, offset=0.0)
    try:
        backend = backend_for(solver, model)
    except NotAcceptedError as refusal:
        logger.warning("the fewest weights are not known: %s", refusal)
        return
    outcome = attempt(run, backend, encoding, model, start=encoding.start(run.network))
    if math.isfinite(outcome.bound) and encoding.is_safe:
        run.fewest = Bound(max(0, math.ceil(outcome.bound - _SLACK)), encoding.scope)
    if outcome.point is not None:
        run.thin(encoding.decode(outcome.point))
