"""Outer approximation: squares in the objective for a solver that accepts none.

Squares are bounded below by tangents, the program is solved, and tangents are added at its point and
at the best reals for the same integers. The linear optimum is a lower bound, the true objective of the
points an upper one; they meet, since no integer solution occurs twice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.solvers.backends.base import Outcome, Task

_FIRST = 9  # tangents per square at the start
_CLOSE = 1e-7  # in the objective: the two bounds have met


def solve_by_tangents(task: Task, solve: Callable[[Task], Outcome]) -> Outcome:
    """Solve a program with squares by ``solve``, which solves linear ones."""
    model, end = task.model, time.perf_counter() + task.time_limit
    squared = np.flatnonzero(model.squares)
    places = np.linspace(model.lower[squared], model.upper[squared], _FIRST)
    best, objective, bound = task.start, math.inf if task.start is None else model.objective(task.start), -math.inf

    def lifted(point: Floats) -> Floats:
        return np.append(point, point[squared] ** 2)

    def found(point: Floats, _: float) -> None:
        task.on_solution(point[: model.n_columns], model.objective(point[: model.n_columns]))

    while True:
        part = replace(
            task,
            model=model.with_tangents(places),
            start=None if best is None else lifted(best),
            time_limit=end - time.perf_counter(),
            on_solution=found,
        )
        outcome = solve(part)
        bound = max(bound, outcome.bound)
        if outcome.point is not None:
            raw = outcome.point[: model.n_columns]
            better = task.refine(raw)
            for point in (raw, better):
                if model.objective(point) < objective:
                    best, objective = point, model.objective(point)
            places = np.vstack([places, raw[squared], better[squared]])
        is_met = bound >= objective - max(_CLOSE, task.gap * abs(objective))
        if outcome.status != "optimal" or is_met:
            return Outcome(outcome.status, bound, best, objective)
        if time.perf_counter() >= end or task.should_stop():
            return Outcome("stopped", bound, best, objective)
