"""CP-SAT (OR-Tools): all-integer programs, that is, discrete weights on integer data."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from stepnet.errors import YES, Answer
from stepnet.model.arithmetic import Floats
from stepnet.solvers.backends.base import Backend, Outcome, Statuses, Task, run_stoppable
from stepnet.solvers.model import Model

_LARGEST = 1 << 40


class CpSat(Backend):
    name = "cpsat"
    title = "CP-SAT"
    package = "ortools"
    extra = "cpsat"
    statuses: ClassVar[Statuses] = {
        "optimal": ("OPTIMAL",),
        "infeasible": ("INFEASIBLE",),
        "stopped": ("FEASIBLE", "UNKNOWN"),
    }

    def accepts(self, model: Model) -> Answer:
        if model.is_bilinear or not model.is_integral:
            return Answer(
                "CP-SAT accepts only integer variables and integer coefficients. Use weights='ternary' on integer "
                "data, or solver='highs'."
            )
        if np.abs(model.matrix.data).max(initial=0.0) > _LARGEST:
            return Answer(
                "CP-SAT accepts coefficients up to 2^40; round the data to fewer digits or use solver='highs'."
            )
        return YES

    def solve(self, task: Task) -> Outcome:
        self.require()
        from ortools.sat.python import cp_model

        program, columns = _fill(cp_model, task.model)
        if task.start is not None:
            for column, value in zip(columns, task.start, strict=True):
                program.add_hint(column, round(float(value)))
        solver = cp_model.CpSolver()
        parameters = solver.parameters
        parameters.num_workers = max(1, task.threads)
        parameters.random_seed = task.seed
        parameters.relative_gap_limit = task.gap
        parameters.catch_sigint_signal = False
        parameters.cp_model_presolve = False  # implications need none; small programs take half the time without it
        if math.isfinite(task.time_limit):
            parameters.max_time_in_seconds = float(task.time_limit)
        factor = _cost_factor(task.model)
        solver.best_bound_callback = lambda bound: task.on_bound(bound / factor + task.model.offset)
        answer: list[Any] = []
        watcher = _watcher(cp_model, task, columns)
        run_stoppable(lambda: answer.append(solver.solve(program, watcher)), solver.stop_search, task)
        name = solver.status_name(answer[0])
        status = self.status_of(name)
        if status == "infeasible":
            return Outcome("infeasible", math.inf)
        bound = solver.best_objective_bound / factor + task.model.offset
        if name == "UNKNOWN":
            return Outcome(status, bound)
        point = np.array([solver.value(column) for column in columns], dtype=np.float64)
        return Outcome(status, bound, point, float(task.model.cost @ point) + task.model.offset)


def _fill(cp_model: Any, model: Model) -> tuple[Any, list[Any]]:
    """The program, with implications for conditions: there the term of the bit, its big-M, is a constant."""
    program = cp_model.CpModel()
    columns = [
        program.new_int_var(int(lower), int(upper), name)
        for lower, upper, name in zip(model.lower, model.upper, model.names, strict=True)
    ]
    starts, indices = model.matrix.indptr.tolist(), model.matrix.indices.tolist()
    values = model.matrix.data.astype(np.int64).tolist()
    bits, bit_values = model.conditions.bits.tolist(), model.conditions.values.tolist()
    conditions = dict(zip(model.conditions.rows.tolist(), zip(bits, bit_values, strict=True), strict=True))
    bounds = zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)
    for i, (low, high) in enumerate(bounds):
        terms = dict(zip(indices[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]], strict=True))
        bit, value = conditions.get(i, (None, 0))
        constant = terms.pop(bit, 0) * value
        expression = cp_model.LinearExpr.weighted_sum([columns[c] for c in terms], list(terms.values()))
        lower = int(low) - constant if math.isfinite(low) else cp_model.INT32_MIN * (1 << 20)
        upper = int(high) - constant if math.isfinite(high) else cp_model.INT32_MAX * (1 << 20)
        row = program.add_linear_constraint(expression, lower, upper)
        if bit is not None:
            row.only_enforce_if(columns[bit] if value else ~columns[bit])
    costed = np.flatnonzero(model.cost)
    costs = np.floor(model.cost[costed] * _cost_factor(model)).astype(np.int64).tolist()
    program.minimize(cp_model.LinearExpr.weighted_sum([columns[c] for c in costed], costs))
    return program, columns


def _cost_factor(model: Model) -> float:
    """By which costs are multiplied to be integers; what is left is rounded down, so that bounds stay valid.

    That requires variables with a cost to be non-negative.
    """
    if (model.cost == np.round(model.cost)).all():
        return 1.0
    return 2.0**44 / float(np.abs(model.cost).sum())


def _watcher(cp_model: Any, task: Task, columns: list[Any]) -> Any:
    class Watcher(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            point: Floats = np.array([self.value(column) for column in columns], dtype=np.float64)
            task.on_solution(point, float(task.model.cost @ point) + task.model.offset)

    return Watcher()
