"""Small linear programs, solved by HiGHS directly: several times faster than through SciPy."""

from __future__ import annotations

import threading
from typing import NamedTuple

import highspy
import numpy as np

from stepnet.errors import SolverFailure
from stepnet.model.arithmetic import Floats

_TOLERANCE = 1e-9
_local = threading.local()


class Optimum(NamedTuple):
    """The best point, or None if there is none, and multipliers that prove it.

    ``rows`` are not negative. ``columns`` are positive where a lower bound is active, negative where an upper bound is.
    """

    point: Floats | None
    rows: Floats
    columns: Floats


def minimise(cost: Floats, rows: Floats, least: Floats, low: Floats, high: Floats) -> Optimum:
    """min cost·x with rows x >= least and low <= x <= high.

    Raises
    ------
    SolverFailure
        If HiGHS decides nothing.
    """
    m, n = rows.shape
    in_row, in_column = np.nonzero(rows)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, m
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, low, high
    lp.row_lower_, lp.row_upper_ = least, np.full(m, np.inf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.append(0, np.cumsum(np.bincount(in_row, minlength=m))).astype(np.int32)
    lp.a_matrix_.index_ = in_column.astype(np.int32)
    lp.a_matrix_.value_ = rows[in_row, in_column]
    solver = _solver()
    solver.passModel(lp)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        _, has_ray, ray = solver.getDualRay()
        multipliers = np.maximum(np.array(ray), 0.0) if has_ray else np.zeros(m)
        return Optimum(None, multipliers, -(multipliers @ rows))
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverFailure(f"HiGHS ended with status {status.name} on a small linear program")
    solution = solver.getSolution()
    multipliers = np.maximum(np.array(solution.row_dual), 0.0)
    return Optimum(np.array(solution.col_value, dtype=np.float64), multipliers, cost - multipliers @ rows)


def attempted(cost: Floats, rows: Floats, least: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats] | None:
    """The best point and the multipliers of the rows; None if there is no point, or HiGHS decides nothing."""
    try:
        point, multipliers, _ = minimise(cost, rows, least, low, high)
    except SolverFailure:
        return None
    return None if point is None else (point, multipliers)


def maximise_depth(rows: Floats, least: Floats, depths: Floats, low: Floats, high: Floats) -> Optimum:
    """max s with rows x - s · depths >= least and low <= x <= high; s comes last and may be negative."""
    cost = np.append(np.zeros(rows.shape[1]), -1.0)
    rows = np.hstack([rows, -depths[:, None]])
    return minimise(cost, rows, least, np.append(low, -np.inf), np.append(high, np.inf))


def _solver() -> highspy.Highs:
    """One per thread: creating one takes longer than solving a small program."""
    solver: highspy.Highs | None = getattr(_local, "solver", None)
    if solver is None:
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("presolve", "off")
        solver.setOptionValue("primal_feasibility_tolerance", _TOLERANCE)
        solver.setOptionValue("dual_feasibility_tolerance", _TOLERANCE)
        _local.solver = solver
    solver.clearModel()
    return solver
