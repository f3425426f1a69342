"""Small linear programs, many of them: HiGHS directly, several times faster than by scipy."""

from __future__ import annotations

import highspy
import numpy as np

from stepnet.arithmetic import Floats
from stepnet.errors import SolverFailure

_TOLERANCE = 1e-9


def minimise(cost: Floats, rows: Floats, least: Floats, low: Floats, high: Floats) -> Floats | None:
    """min cost·x with rows x >= least and low <= x <= high; None if there is no such x.

    Raises
    ------
    SolverFailure
        If neither is settled.
    """
    m, n = rows.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, m
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, low, high
    lp.row_lower_, lp.row_upper_ = least, np.full(m, np.inf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(0, m * n + 1, n)
    lp.a_matrix_.index_ = np.tile(np.arange(n), m)
    lp.a_matrix_.value_ = rows.ravel()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("primal_feasibility_tolerance", _TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", _TOLERANCE)
    solver.passModel(lp)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverFailure(f"HiGHS ended with status {status.name} on a small linear program")
    return np.array(solver.getSolution().col_value, dtype=np.float64)
