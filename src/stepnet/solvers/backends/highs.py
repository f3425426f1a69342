"""HiGHS: the default solver. MILP, no products; squares in the objective by outer approximation."""

from __future__ import annotations

import math
import threading
from typing import Any, ClassVar

import numpy as np

from stepnet.errors import Answer
from stepnet.model.arithmetic import Floats
from stepnet.solvers.backends.base import Backend, Outcome, Statuses, Task, run_stoppable, too_large_for_floats
from stepnet.solvers.backends.tangents import solve_by_tangents
from stepnet.solvers.model import Model

_GRACE = 0.3  # seconds after the time limit until a run is abandoned


class Highs(Backend):
    name = "highs"
    title = "HiGHS"
    package = "highspy"
    statuses: ClassVar[Statuses] = {
        "optimal": ("kOptimal",),
        "infeasible": ("kInfeasible", "kUnboundedOrInfeasible"),
        "stopped": (
            "kTimeLimit",
            "kInterrupt",
            "kHighsInterrupt",
            "kObjectiveBound",
            "kObjectiveTarget",
            "kSolutionLimit",
        ),
    }

    def accepts(self, model: Model) -> Answer:
        if model.is_bilinear:
            return Answer("HiGHS accepts no products of variables. Use solver='scip', or formulation='tight'.")
        return too_large_for_floats(model)

    def solve(self, task: Task) -> Outcome:
        return solve_by_tangents(task, self._solve) if task.model.has_squares else self._solve(task)

    def _solve(self, task: Task) -> Outcome:
        import highspy

        solver = highspy.Highs()
        _set_options(solver, task)
        solver.passModel(_highs_lp(highspy, task.model))
        if task.start is not None:
            start = highspy.HighsSolution()
            start.col_value = task.start.tolist()
            solver.setSolution(start)
        stopping = threading.Event()
        best = Outcome("stopped", -math.inf)  # what is known of a run that is abandoned

        def ask(event: Any) -> None:
            task.on_bound(event.data_out.mip_dual_bound)
            event.data_in.user_interrupt = stopping.is_set()

        def improved(event: Any) -> None:
            nonlocal best
            point = np.array(event.data_out.mip_solution, dtype=np.float64)
            best = Outcome("stopped", -math.inf, point, event.data_out.objective_function_value)
            task.on_solution(point, best.objective)

        solver.cbMipImprovingSolution.subscribe(improved)
        solver.cbMipInterrupt.subscribe(ask)
        solver.cbSimplexInterrupt.subscribe(lambda event: setattr(event.data_in, "user_interrupt", stopping.is_set()))
        if not run_stoppable(solver.run, stopping.set, task, grace=_GRACE):
            return best
        return self._outcome(solver, task.model)

    def _outcome(self, solver: Any, model: Model) -> Outcome:
        status, info = self.status_of(solver.getModelStatus().name), solver.getInfo()
        if status == "infeasible":
            return Outcome("infeasible", math.inf)
        bound = info.objective_function_value if status == "optimal" else -math.inf
        if model.integer.any():
            bound = info.mip_dual_bound
        point: Floats = np.array(solver.getSolution().col_value, dtype=np.float64)
        if info.primal_solution_status != 2 or point.size != model.n_columns:
            return Outcome(status, bound)
        return Outcome(status, bound, point, info.objective_function_value)


def _set_options(solver: Any, task: Task) -> None:
    options: dict[str, object] = {
        "output_flag": False,
        "threads": task.threads,
        "random_seed": task.seed,
        "mip_rel_gap": task.gap,
        "mip_abs_gap": 1e-6,
    }
    if math.isfinite(task.time_limit):
        options["time_limit"] = float(task.time_limit)
    if task.tolerance is not None:
        for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            options[name] = task.tolerance
    for name, value in options.items():
        solver.setOptionValue(name, value)


def _highs_lp(highspy: Any, model: Model) -> Any:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.n_columns, model.n_rows
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = model.cost, model.lower, model.upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.offset_ = model.offset
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = model.matrix.indptr
    lp.a_matrix_.index_ = model.matrix.indices
    lp.a_matrix_.value_ = model.matrix.data
    if model.integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(is_integer)] for is_integer in model.integer]
    return lp
