"""Gurobi: MILP and products of variables. Its free licence allows 2000 variables and 2000 rows."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from stepnet.errors import Answer, SolverError
from stepnet.solvers.backends.base import Backend, Outcome, Statuses, Task, run_stoppable, too_large_for_floats
from stepnet.solvers.model import Model

_SIZE_LIMIT, _LICENCE_ERRORS = 10010, (10009, 10032)


class Gurobi(Backend):
    name = "gurobi"
    title = "Gurobi"
    package = "gurobipy"
    extra = "gurobi"
    statuses: ClassVar[Statuses] = {"optimal": (2,), "infeasible": (3, 4), "stopped": (7, 8, 9, 10, 11, 13)}

    def accepts(self, model: Model) -> Answer:
        return too_large_for_floats(model)

    def solve(self, task: Task) -> Outcome:
        self.require()
        import gurobipy

        try:
            with gurobipy.Env(params={"OutputFlag": 0}) as environment, gurobipy.Model(env=environment) as solver:
                columns = _fill(solver, task.model)
                _set_options(solver, task)
                if task.start is not None:
                    columns.Start = task.start
                run_stoppable(lambda: solver.optimize(_watcher(gurobipy, task)), solver.terminate, task)
                status = self.status_of(solver.Status)
                if status == "infeasible":
                    return Outcome("infeasible", math.inf)
                if solver.SolCount == 0:
                    return Outcome(status, solver.ObjBound)
                return Outcome(status, solver.ObjBound, np.array(columns.X, dtype=np.float64), solver.ObjVal)
        except gurobipy.GurobiError as error:
            raise SolverError(_explain(error, task.model)) from error


def _explain(error: Any, model: Model) -> str:
    if error.errno == _SIZE_LIMIT:
        return (
            f"this program has {model.n_columns} variables and {model.n_rows} rows, more than Gurobi's free licence "
            f"allows (2000 of each, 200 variables with products). Use solver='highs', or a full Gurobi licence."
        )
    if error.errno in _LICENCE_ERRORS:
        return f"Gurobi has no valid licence here ({error}). Use solver='highs', or install a licence."
    return f"Gurobi failed: {error}. Try solver='highs'."


def _fill(solver: Any, model: Model) -> Any:
    kinds = np.where(model.integer, "I", "C")
    columns = solver.addMVar(model.n_columns, lb=model.lower, ub=model.upper, obj=model.cost, vtype=kinds)
    solver.ObjCon = model.offset
    if model.has_squares:
        squares = sparse.diags_array(model.squares).tocsr()
        solver.setObjective(columns @ squares @ columns + model.cost @ columns + model.offset)
    is_quadratic = np.zeros(model.n_rows, dtype=bool)
    is_quadratic[model.products.rows] = True
    for i in np.flatnonzero(is_quadratic):
        _add_quadratic_row(solver, columns, model, int(i))
    matrix = sparse.csr_matrix(model.matrix)
    for bound, sense in ((model.row_lower, ">"), (model.row_upper, "<")):
        used = np.isfinite(bound) & ~is_quadratic
        if used.any():
            solver.addMConstr(matrix[used], columns, sense, bound[used])
    return columns


def _add_quadratic_row(solver: Any, columns: Any, model: Model, i: int) -> None:
    variables = columns.tolist()
    products = model.products
    part = slice(model.matrix.indptr[i], model.matrix.indptr[i + 1])
    linear = zip(model.matrix.indices[part], model.matrix.data[part], strict=True)
    expression = sum(float(value) * variables[c] for c, value in linear)
    for p in np.flatnonzero(products.rows == i):
        first, second = variables[products.first[p]], variables[products.second[p]]
        expression = expression + float(products.coefficients[p]) * first * second
    if math.isfinite(model.row_lower[i]):
        solver.addQConstr(expression >= float(model.row_lower[i]))
    if math.isfinite(model.row_upper[i]):
        solver.addQConstr(expression <= float(model.row_upper[i]))


def _set_options(solver: Any, task: Task) -> None:
    options: dict[str, float] = {"Threads": task.threads, "Seed": task.seed, "MIPGap": task.gap, "NonConvex": 2}
    if math.isfinite(task.time_limit):
        options["TimeLimit"] = task.time_limit
    if task.tolerance is not None:
        for name in ("FeasibilityTol", "IntFeasTol", "OptimalityTol"):
            options[name] = max(task.tolerance, 1e-9)
    for name, value in options.items():
        solver.setParam(name, value)


def _watcher(gurobipy: Any, task: Task) -> Any:
    codes = gurobipy.GRB.Callback

    def watch(solver: Any, where: int) -> None:
        if where == codes.MIPSOL:
            point = np.array(solver.cbGetSolution(solver.getVars()), dtype=np.float64)
            task.on_solution(point, solver.cbGet(codes.MIPSOL_OBJ))
        elif where == codes.MIP:
            task.on_bound(solver.cbGet(codes.MIP_OBJBND))

    return watch
