"""Robust neurons by linear programs.

In the coordinates of the set, weights are v = V u with s(v) and s(-v) linear in u, so the condition that a row is
handled is linear too.
"""

from __future__ import annotations

import math

import numpy as np

from stepnet.constructions.robust_rows import RobustRows
from stepnet.errors import YES, SolverFailure
from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Layer
from stepnet.problem.problem import Problem
from stepnet.solvers.backends.base import Task
from stepnet.solvers.backends.highs import Highs
from stepnet.solvers.model import ModelBuilder
from stepnet.uncertainty.norms.base import DualForm
from stepnet.uncertainty.programs import attempted

_MARGIN = 1e-6  # by which a row is handled, in units of the largest row


class LinearRows(RobustRows):
    """Rows of a set whose dual norm has a linear form."""

    answer = YES

    def __init__(self, problem: Problem, form: DualForm) -> None:
        super().__init__(problem)
        self.form = form

    def hinge(self, rows: Ints, prices: Floats) -> Layer | None:
        answer = self._solve(rows, self.signs[rows], prices=prices / prices.max())
        return None if answer is None else self._neuron(answer)

    def widest(self, rows: Ints, signs: Floats) -> tuple[float, Layer] | None:
        answer = self._solve(rows, signs, prices=None)
        return None if answer is None else (float(answer[-1]) * self.size, self._neuron(answer))

    def _neuron(self, point: Floats) -> Layer:
        return self.layer(self.form.V @ point[: self.form.V.shape[1]], float(point[self.form.V.shape[1]]))

    def _solve(self, rows: Ints, signs: Floats, prices: Floats | None) -> Floats | None:
        """Variables u, t, and either one slack per row or one margin for all rows, which comes last."""
        w, m = self.form, len(rows)
        sizes = np.where(signs[:, None] > 0, w.down, w.up)
        inside = np.hstack([signs[:, None] * (self.Y[rows] @ w.V) - self.radii[rows, None] * sizes, -signs[:, None]])
        extra = np.hstack([w.rows, np.zeros((len(w.rows), 1))])
        least = np.zeros(m + len(extra))
        if prices is not None:
            last, low = np.eye(m), np.zeros(m)
            least[:m] = 1.0
            cost = np.concatenate([1e-9 * (w.up + w.down), [0.0], prices])
        else:
            last, low = -np.ones((m, 1)), np.array([-np.inf])
            extra, least = np.vstack([extra, np.append(-(w.up + w.down) / 2, 0.0)]), np.append(least, -1.0)
            cost = np.append(np.zeros(inside.shape[1]), -1.0)
        A = np.block([[inside, last], [extra, np.zeros((len(extra), last.shape[1]))]])
        low = np.concatenate([w.low, [-np.inf], low])
        found = attempted(cost, A, least, low, np.full(len(low), np.inf))
        return None if found is None else found[0]

    def heaviest(self, rows: Ints, prices: Floats, time_limit: float) -> tuple[float, float, Layer] | None:
        """By a mixed-integer program; None if the set is not symmetric or nothing was found."""
        lengths = self.set.lengths(self.Y[rows])
        if lengths is None:
            return None
        w, signs, m, q = self.form, self.signs[rows], len(rows), self.form.V.shape[1]
        model = ModelBuilder()
        u = model.add_columns("u", q, w.low, np.inf)
        t = model.add_columns("t", 1, -np.inf, np.inf)
        handled = model.add_columns("h", m, 0, 1, cost=-prices, integer=True)
        sizes = np.where(signs[:, None] > 0, w.down, w.up)
        inside = signs[:, None] * (self.Y[rows] @ w.V) - self.radii[rows, None] * sizes
        # With s(v) <= 1, values of v·y differ by no more than the distance of the rows.
        reach = float(2 * lengths.max()) + float(self.radii[rows].max())
        big = 2 * reach + self.radii[rows] + _MARGIN
        model.add_rows(
            [(np.broadcast_to(u, (m, q)), inside), (np.broadcast_to(t, m), -signs), (handled, -big)],
            lower=_MARGIN - big,
        )
        model.add_rows([(u[None], (w.up + w.down)[None] / 2)], upper=1.0)
        if len(w.rows):
            model.add_rows([(np.broadcast_to(u, w.rows.shape), w.rows)], lower=0.0)
        try:
            outcome = Highs().solve(Task(model.build(), time_limit=time_limit, tolerance=1e-7))
        except SolverFailure:
            return None
        if outcome.point is None:
            return None
        bound = math.inf if not math.isfinite(outcome.bound) else -outcome.bound
        return -outcome.objective, bound, self._neuron(outcome.point)
