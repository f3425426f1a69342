"""SCIP: MILP, and products of variables (Lemma 1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stepnet.arithmetic import Floats
from stepnet.backends.base import GRACE_SECONDS, Backend, Outcome, Status, Task, run_stoppable
from stepnet.errors import SolverFailure
from stepnet.milp.model import Model

_STATUS: dict[str, Status] = {
    "optimal": "optimal",
    "gaplimit": "optimal",
    "infeasible": "infeasible",
    "inforunbd": "infeasible",
    "timelimit": "stopped",
    "userinterrupt": "stopped",
    "sollimit": "stopped",
    "nodelimit": "stopped",
    "memlimit": "stopped",
}


class Scip(Backend):
    name = "scip"
    title = "SCIP"
    package = "pyscipopt"
    extra = "scip"

    def version(self) -> str:
        import pyscipopt

        solver = pyscipopt.Model()
        return ".".join(
            str(part) for part in (solver.getMajorVersion(), solver.getMinorVersion(), solver.getTechVersion())
        )

    def solve(self, task: Task) -> Outcome:
        self.require()
        import pyscipopt

        solver = pyscipopt.Model()
        columns = _fill(pyscipopt, solver, task.model)
        _set_options(solver, task)
        if task.start is not None:
            solution = solver.createSol()
            for column, value in zip(columns, task.start.tolist(), strict=True):
                solver.setSolVal(solution, column, value)
            solver.addSol(solution, free=True)
        solver.includeEventhdlr(_watcher(pyscipopt, task, columns), "stepnet", "reports solutions and bounds")
        if not run_stoppable(solver.optimizeNogil, solver.interruptSolve, task, grace=GRACE_SECONDS):
            return Outcome("stopped", -math.inf)
        return _outcome(solver, columns)


def _set_options(solver: Any, task: Task) -> None:
    solver.hideOutput()
    solver.setParam("misc/catchctrlc", False)
    solver.setParam("timing/clocktype", 2)  # wall time
    if math.isfinite(task.time_limit):
        solver.setParam("limits/time", float(task.time_limit))
    # SCIP divides the gap by the smaller of the two sides, we by the loss.
    solver.setParam("limits/gap", task.gap / (1 - task.gap) if task.gap < 1 else 1e20)
    solver.setParam("randomization/randomseedshift", task.seed)
    solver.setParam("parallel/maxnthreads", max(1, task.threads))
    if task.tolerance is not None:
        # Below 1e-7 SCIP asks its LP solver for more than floats give, which complains on the terminal.
        solver.setParam("numerics/feastol", max(task.tolerance, 1e-7))


def _fill(pyscipopt: Any, solver: Any, model: Model) -> list[Any]:
    columns = [
        solver.addVar(lb=lower, ub=upper, obj=cost, vtype="I" if integer else "C")
        for lower, upper, cost, integer in zip(
            model.lower.tolist(), model.upper.tolist(), model.cost.tolist(), model.integer.tolist(), strict=True
        )
    ]
    solver.addObjoffset(model.offset)
    quadratic: dict[int, list[Any]] = {}
    products = model.products
    for i, a, b, value in zip(products.rows, products.first, products.second, products.coefficients, strict=True):
        quadratic.setdefault(int(i), []).append(float(value) * columns[a] * columns[b])
    starts, indices, values = model.matrix.indptr, model.matrix.indices, model.matrix.data
    for i in range(model.n_rows):
        part = slice(starts[i], starts[i + 1])
        terms = [v * columns[c] for c, v in zip(indices[part].tolist(), values[part].tolist(), strict=True)]
        expression = pyscipopt.quicksum(terms + quadratic.get(i, []))
        low, high = float(model.row_lower[i]), float(model.row_upper[i])
        if math.isfinite(low) and math.isfinite(high):
            solver.addCons((expression >= low) <= high)
        else:
            solver.addCons(expression >= low if math.isfinite(low) else expression <= high)
    return columns


def _watcher(pyscipopt: Any, task: Task, columns: list[Any]) -> Any:
    best = pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND
    node = pyscipopt.SCIP_EVENTTYPE.NODESOLVED

    class Watcher(pyscipopt.Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            self.model.catchEvent(best, self)
            self.model.catchEvent(node, self)

        def eventexit(self) -> None:
            self.model.dropEvent(best, self)
            self.model.dropEvent(node, self)

        def eventexec(self, event: Any) -> None:
            task.on_bound(self.model.getDualbound())
            if event.getType() == best:
                solution = self.model.getBestSol()
                task.on_solution(_point(self.model, solution, columns), self.model.getSolObjVal(solution))

    return Watcher()


def _point(solver: Any, solution: Any, columns: list[Any]) -> Floats:
    return np.array([solver.getSolVal(solution, column) for column in columns], dtype=np.float64)


def _outcome(solver: Any, columns: list[Any]) -> Outcome:
    name = solver.getStatus()
    if name not in _STATUS:
        raise SolverFailure(f"SCIP ended with status {name!r}; try solver='highs'.")
    status = _STATUS[name]
    if status == "infeasible":
        return Outcome("infeasible", math.inf)
    bound = solver.getDualbound()
    if solver.getNSols() == 0:
        return Outcome(status, bound)
    solution = solver.getBestSol()
    return Outcome(status, bound, _point(solver, solution, columns), solver.getSolObjVal(solution))
