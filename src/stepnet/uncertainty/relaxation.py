"""The linear relaxation of an attack within a radius ρ: how far can a rival answer get?

With u = z / ρ in the unit ball of the norm, within the ranges of features, and bits b in [0, 1] of all hidden neurons,

    max   Σ_j c_j b_j                          what the rival needs is at least 0
    s.t.  g_j u >= -m_j + (a_j + m_j) b_j      a first-layer bit that is 1 is on its side,
          g_j u <=  a_j + (M_j - a_j) b_j      one that is 0 on the other, where -m_j <= g_j u <= M_j in the ball
          S_i b >= lo_i + (t_i - lo_i) b_i     a bit above that is 1 reaches its threshold,
          S_i b <=  t_i + (hi_i - t_i) b_i     one that is 0 does not

Bits that are settled are constants, and a bit that only helps if it is 1 needs only the rows that speak of 1, like any
other that only helps one way. All rows are loosened by more than their rounding errors, so they hold for every real
attack. For multipliers λ >= 0 of rows A x >= b the largest value is at most

    max over u in the ball and b in [low, high] of (c + Aᵀλ)·x - λ·b,

which is a dual norm and a sum. It is evaluated anew with a bound on its rounding error, so the solver is not trusted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np
from scipy import sparse

from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.uncertainty.ball import Ball
from stepnet.uncertainty.circuit import Circuit, Rival
from stepnet.uncertainty.hyperplanes import Hyperplanes, Sides

_LOOSE = 1e-12  # relative to the size of a row
_UNIT = 2.0**-52
_MOST_CUTS = 150
_ROUNDS, _OUTSIDE = 1, 1e-7  # cuts of a round norm at a node, and how far outside it a point is not worth a cut


class Solution(NamedTuple):
    """A proven upper bound of the rival (infinite if nothing is proven), and where the relaxation attains its own."""

    bound: float
    u: Floats | None
    bits: Floats | None  # of the free bits
    pulls: Floats  # of the free bits: what the value hangs on
    slopes: Floats  # of the free bits: what the bound loses if they are the other way


class Relaxation:
    """One row, radius and rival; ``low`` and ``high`` are the ranges of bits there."""

    def __init__(
        self, circuit: Circuit, planes: Hyperplanes, ball: Ball, row: Floats, radius: float, rival: Rival | None,
        low: Sides, high: Sides,
    ) -> None:  # fmt: skip
        self.circuit, self.planes, self.ball, self.row, self.radius = circuit, planes, ball, row, radius
        self.low, self.high = low, high
        self.free = np.flatnonzero(low < high)
        self.column = np.full(len(low), -1)
        self.column[self.free] = np.arange(len(self.free))
        last = circuit.part(len(circuit.hidden) - 1)
        gains = np.zeros(len(low))
        self.offset, self.offset_size = 0.0, 0.0
        if rival is not None:
            gains[last] = rival.coefficients
            self.offset = float(gains @ low) - rival.least
            self.offset_size = float(np.abs(gains) @ low) + abs(rival.least)
        self.gains = gains[self.free]
        self.n = len(row)
        scales = ball.scales(self.n)
        ends = [np.asarray(end) for end in ball.limits(self.n)]
        reach = ball.measure.dual_sizes(np.eye(self.n)) * (1 + _LOOSE)
        self.u_low = np.maximum(-reach, np.minimum(ends[0] - row, 0.0) / (scales * radius) * (1 + _LOOSE))
        self.u_high = np.minimum(reach, np.maximum(ends[1] - row, 0.0) / (scales * radius) * (1 + _LOOSE))
        self._rows(rival)
        self.rounding = (len(self.b) + self.n + len(low) + 16) * _UNIT  # relative to the sum of absolute terms
        self._program()

    # Rows.

    def _rows(self, rival: Rival | None) -> None:
        on, off = self._needed(rival)
        blocks = [self._first(on, off), *(self._upper(k, on, off) for k in range(len(self.circuit.sums)))]
        self.A_u = np.vstack([block[0] for block in blocks])
        self.A_b = sparse.csr_array(sparse.vstack([block[1] for block in blocks]))
        self.b = np.concatenate([block[2] for block in blocks])

    def _needed(self, rival: Rival | None) -> tuple[Bools, Bools]:
        """Which bits must be right where they are 1, and where they are 0."""
        circuit = self.circuit
        on, off = np.zeros(circuit.n_bits, dtype=bool), np.zeros(circuit.n_bits, dtype=bool)
        last = circuit.part(len(circuit.hidden) - 1)
        on[last] = rival is None or rival.coefficients > 0
        off[last] = rival is None or rival.coefficients < 0
        is_free = self.low < self.high
        for k in range(len(circuit.sums) - 1, -1, -1):
            sums, below, own = circuit.sums[k], circuit.part(k), circuit.part(k + 1)
            for needed, same, other in ((on, on, off), (off, off, on)):
                rows = (needed[own] & is_free[own]).astype(np.float64)
                same[below] |= np.asarray(sums.up.T @ rows) > 0
                other[below] |= np.asarray(sums.down.T @ rows) < 0
        return on & is_free, off & is_free

    def _first(self, on: Bools, off: Bools) -> tuple[Floats, Any, Floats]:
        planes, own = self.planes, self.circuit.part(0)
        sizes = np.maximum(planes.up, planes.down)
        units = np.where(sizes > 0, sizes, 1.0) * self.radius
        X, radii = self.row[None], np.array([self.radius])
        down = np.minimum(self.ball.reach(-planes.W, X, radii)[0] / units, 1.0) + _LOOSE
        up = np.minimum(self.ball.reach(planes.W, X, radii)[0] / units, 1.0) + _LOOSE
        away = planes.T - planes.W @ self.row
        error = (self.n + 3) * 2.0**-52 * (np.abs(planes.W) @ np.abs(self.row) + np.abs(planes.T)) / units + _LOOSE
        g = self.ball.spread(planes.W) * self.radius / units[:, None]
        away = away / units
        on_rows, off_rows = np.flatnonzero(on[own]), np.flatnonzero(off[own])
        step_on = np.maximum(away - error + down, 0.0)[on_rows]
        step_off = np.maximum(up - away - error, 0.0)[off_rows]
        A_u = np.vstack([g[on_rows], -g[off_rows]])
        bits = np.concatenate([self.column[on_rows], self.column[off_rows]])
        shape = (len(bits), len(self.free))
        A_b = sparse.csr_array((np.append(-step_on, step_off), (np.arange(len(bits)), bits)), shape=shape)
        return A_u, A_b, np.append(-down[on_rows], -(away + error)[off_rows])

    def _upper(self, k: int, on: Bools, off: Bools) -> tuple[Floats, Any, Floats]:
        """Rows scaled so that their largest step is 1."""
        sums, below, own = self.circuit.sums[k], self.circuit.part(k), self.circuit.part(k + 1)
        matrix = sparse.csr_array(sums.matrix)
        low, high = self.low[below].astype(np.float64), self.high[below].astype(np.float64)
        bottom, top = sums.up @ low + sums.down @ high, sums.up @ high + sums.down @ low
        fixed = matrix @ low
        is_free = np.flatnonzero(self.low[below] < self.high[below])
        columns = self.column[below][is_free]
        parts, least = [], []
        for rows, sign in ((np.flatnonzero(on[own]), 1.0), (np.flatnonzero(off[own]), -1.0)):
            end = np.asarray((bottom if sign > 0 else -top)[rows]) - sums.sizes[rows]
            goal = (sums.least if sign > 0 else -sums.most)[rows] - sums.sizes[rows]
            step = np.maximum(goal - end, 0.0)
            units = np.where(step > 0, step, 1.0)
            dense = np.zeros((len(rows), len(self.free)))
            dense[:, columns] = sign * matrix[rows][:, is_free].toarray() / units[:, None]
            own_columns = self.column[own][rows]
            # A bit that must be 1 raises the goal from its end; one that must be 0 starts there.
            dense[np.arange(len(rows)), own_columns] -= sign * step / units
            start = end if sign > 0 else goal
            parts.append(sparse.csr_array(dense))
            least.append((start - sign * fixed[rows]) / units - _LOOSE)
        return np.zeros((sum(map(len, least)), self.n)), sparse.vstack(parts), np.concatenate(least)

    # The program.

    def _program(self) -> None:
        """Columns u (twice, if their absolute values are added), then bits."""
        self.n_cuts = 0
        self.is_split = self.ball.measure.name == "l1"
        A_u = np.hstack([self.A_u, -self.A_u]) if self.is_split else self.A_u
        rows = sparse.csr_array(sparse.hstack([sparse.csr_array(A_u), self.A_b]))
        least = self.b
        if self.is_split:
            rows = sparse.vstack(
                [rows, sparse.hstack([np.full((1, 2 * self.n), -1.0), sparse.csr_array((1, len(self.free)))])]
            )
            least = np.append(least, -(1 + _LOOSE))
        rows = sparse.csr_array(rows)
        u_low, u_high = self.u_low, self.u_high
        if self.is_split:
            u_low, u_high = np.zeros(2 * self.n), np.concatenate([u_high, -u_low])
        self.n_u = len(u_low)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.n_u + len(self.free), len(least)
        lp.col_cost_ = np.append(np.zeros(self.n_u), -self.gains)
        lp.col_lower_ = np.append(u_low, np.zeros(len(self.free)))
        lp.col_upper_ = np.append(u_high, np.ones(len(self.free)))
        lp.row_lower_, lp.row_upper_ = least, np.full(len(least), np.inf)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = rows.indptr.astype(np.int32)
        lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.indices.astype(np.int32), rows.data
        self.solver = highspy.Highs()
        for name, value in _OPTIONS.items():
            self.solver.setOptionValue(name, value)
        self.solver.passModel(lp)

    def solve(self, low: Sides, high: Sides, n_rounds: int = _ROUNDS) -> Solution:
        """The value of the relaxation where bits are between ``low`` and ``high``."""
        least, most = low[self.free].astype(np.float64), high[self.free].astype(np.float64)
        columns = np.arange(self.n_u, self.n_u + len(self.free), dtype=np.int32)
        self.solver.changeColsBounds(len(columns), columns, least, most)
        for _ in range(n_rounds):
            found = self._solved(least, most)
            if found.bound < 0 or found.u is None or not self._cut(found.u):
                break
        return found

    def _solved(self, least: Floats, most: Floats) -> Solution:
        self.solver.run()
        status = self.solver.getModelStatus()
        n_rows, none = len(self.b), np.zeros(len(self.free))
        if status == highspy.HighsModelStatus.kInfeasible:
            _, has_ray, ray = self.solver.getDualRay()
            multipliers = np.maximum(np.array(ray)[:n_rows], 0.0) if has_ray else np.zeros(n_rows)
            largest = float(multipliers.max(initial=0.0))
            bound = self._bound(multipliers / largest, least, most, 0.0)[0] if largest > 0 else np.inf
            return Solution(-np.inf if bound < 0 else np.inf, None, None, none, none)
        if status != highspy.HighsModelStatus.kOptimal:
            return Solution(np.inf, None, None, none, none)
        solution = self.solver.getSolution()
        x = np.array(solution.col_value)
        multipliers = np.maximum(np.array(solution.row_dual)[:n_rows], 0.0)
        bound, pulls, slopes = self._bound(multipliers, least, most, 1.0)
        u = x[: self.n] - x[self.n : self.n_u] if self.is_split else x[: self.n_u]
        return Solution(bound, u, x[self.n_u :], pulls, slopes)

    def _bound(self, multipliers: Floats, least: Floats, most: Floats, share: float) -> tuple[float, Floats, Floats]:
        """The largest (share · c + Aᵀλ)·x - λ·b, rounded up; for each bit the sum of the sizes of its terms, and it."""
        used = np.flatnonzero(multipliers)
        few = multipliers[used]
        g_u, g_b = few @ self.A_u[used], few @ self.A_b[used]
        sizes_b = few @ abs(self.A_b[used]) + share * np.abs(self.gains)
        g_b = g_b + share * self.gains
        value = self._support(g_u) + np.maximum(g_b * least, g_b * most).sum() - few @ self.b[used]
        value += share * self.offset
        size = few @ np.abs(self.A_u[used]).sum(axis=1) + sizes_b.sum() + few @ np.abs(self.b[used])
        return float(value + self.rounding * (size + share * self.offset_size)), sizes_b, g_b

    def _support(self, g: Floats) -> float:
        """The largest g·u in the unit ball and the ranges, or a little more."""
        boxed = np.maximum(g * self.u_low, g * self.u_high)
        best = float(boxed.sum())
        norm = self.ball.measure
        whole = float(norm.dual_sizes(np.abs(g)))
        best = min(best, whole)
        if self.ball.is_clipped and norm.name != "linf":
            # Features at the end of their range are worth their range, the others are measured together.
            for share in (0.25, 0.5, 1.0):
                rest = np.sign(g) * np.maximum(np.abs(g) - share * _level(norm.name, g), 0.0)
                ends = np.maximum(rest * self.u_low, rest * self.u_high).sum()
                best = min(best, float(ends + norm.dual_sizes(np.abs(g - rest))))
        return best

    def _cut(self, u: Floats) -> bool:
        """Cut off a point outside a round ball; whether there was something to cut."""
        if not self.ball.measure.is_round:
            return False
        size = float(np.linalg.norm(u))
        if size <= 1 + _OUTSIDE:
            return False
        if self.n_cuts == _MOST_CUTS:  # those that are still needed come again
            rows = np.arange(len(self.b), len(self.b) + self.n_cuts, dtype=np.int32)
            self.solver.deleteRows(len(rows), rows)
            self.n_cuts = 0
        self.n_cuts += 1
        columns = np.arange(self.n, dtype=np.int32)
        self.solver.addRow(-(1 + _LOOSE), np.inf, self.n, columns, -u / size)
        return True


def _level(name: str, g: Floats) -> float:
    """Of weights: the size up to which the norm measures them together, the rest is left to ranges."""
    return float(np.abs(g).max(initial=0.0)) if name == "l1" else float(np.sqrt((g * g).mean()))


_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


def branching_order(found: Solution, actual: Floats) -> Ints:
    """Free bits, first the one whose value in the relaxation is worth most beyond what it really is."""
    assert found.bits is not None
    apart = np.minimum(np.abs(found.bits - actual), 1.0) + np.minimum(found.bits, 1 - found.bits)
    return np.argsort(-apart * (found.pulls + 1e-9), kind="stable")
