"""SCIP: MILP, and products of variables (Lemma 1)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from stepnet.errors import Answer
from stepnet.model.arithmetic import Floats
from stepnet.solvers.backends.base import Backend, Outcome, Statuses, Task, too_large_for_floats
from stepnet.solvers.model import Model


class Scip(Backend):
    name = "scip"
    title = "SCIP"
    package = "pyscipopt"
    extra = "scip"
    statuses: ClassVar[Statuses] = {
        "optimal": ("optimal", "gaplimit"),
        "infeasible": ("infeasible", "inforunbd"),
        "stopped": ("timelimit", "userinterrupt", "sollimit", "nodelimit", "memlimit"),
    }

    def accepts(self, model: Model) -> Answer:
        return too_large_for_floats(model)

    def version(self) -> str:
        import pyscipopt

        solver = pyscipopt.Model()
        return f"{solver.getMajorVersion()}.{solver.getMinorVersion()}.{solver.getTechVersion()}"

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
        errors: list[BaseException] = []
        watcher = _watcher(pyscipopt, task, columns, errors)
        solver.includeEventhdlr(watcher, "stepnet", "reports solutions and bounds, and stops the solver")
        # In the caller's thread: in another one SCIP 10 crashes occasionally.
        solver.optimize()
        if errors:
            raise errors[0]
        status = self.status_of(solver.getStatus())
        if status == "infeasible":
            return Outcome("infeasible", math.inf)
        if solver.getNSols() == 0:
            return Outcome(status, solver.getDualbound())
        best = solver.getBestSol()
        return Outcome(status, solver.getDualbound(), _point(solver, best, columns), solver.getSolObjVal(best))


def _set_options(solver: Any, task: Task) -> None:
    solver.hideOutput()
    solver.setParam("misc/catchctrlc", False)
    solver.setParam("timing/clocktype", 2)  # wall time
    if math.isfinite(task.time_limit):
        solver.setParam("limits/time", float(task.time_limit))
    # SCIP divides the gap by the smaller of loss and bound, we by the loss.
    solver.setParam("limits/gap", task.gap / (1 - task.gap) if task.gap < 1 else 1e20)
    solver.setParam("randomization/randomseedshift", task.seed)
    solver.setParam("parallel/maxnthreads", max(1, task.threads))
    if task.tolerance is not None:
        # Below 1e-7 SCIP asks more of its LP solver than floats allow, which then complains on the terminal.
        solver.setParam("numerics/feastol", max(task.tolerance, 1e-7))


def _fill(pyscipopt: Any, solver: Any, model: Model) -> list[Any]:
    columns = [
        solver.addVar(lb=lower, ub=upper, obj=cost, vtype="I" if integer else "C")
        for lower, upper, cost, integer in zip(
            model.lower.tolist(), model.upper.tolist(), model.cost.tolist(), model.integer.tolist(), strict=True
        )
    ]
    solver.addObjoffset(model.offset)
    for c in np.flatnonzero(model.squares).tolist():
        square = solver.addVar(lb=0.0, obj=float(model.squares[c]))
        solver.addCons(square >= columns[c] * columns[c])
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


def _watcher(pyscipopt: Any, task: Task, columns: list[Any], errors: list[BaseException]) -> Any:
    """Reports, and checks whether to stop, after every LP, node, presolving round and better solution."""
    kinds = pyscipopt.SCIP_EVENTTYPE
    best = kinds.BESTSOLFOUND
    caught = (best, kinds.NODESOLVED, kinds.LPSOLVED, kinds.PRESOLVEROUND)

    class Watcher(pyscipopt.Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            for kind in caught:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            for kind in caught:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            try:
                task.on_bound(self.model.getDualbound())
                if event.getType() == best:
                    solution = self.model.getBestSol()
                    task.on_solution(_point(self.model, solution, columns), self.model.getSolObjVal(solution))
                if errors or task.should_stop():
                    self.model.interruptSolve()
            except BaseException as error:
                errors.append(error)
                self.model.interruptSolve()

    return Watcher()


def _point(solver: Any, solution: Any, columns: list[Any]) -> Floats:
    return np.array([solver.getSolVal(solution, column) for column in columns], dtype=np.float64)
