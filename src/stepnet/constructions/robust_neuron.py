"""One neuron that keeps its side wherever rows are moved: linear programs in the coordinates of the set.

A row of class 1 is handled if w·x - t >= r · s(-w), one of class 0 if t - w·x > r · s(w), where s(w) is the largest w·δ
at radius 1: the dual norm of w for a ball. Weights are written as v = V u in the coordinates of the set, with s(v) and
s(-v) linear in u, so that all of this is linear. For ℓ2 there are methods of their own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize as scipy_minimise

from stepnet.errors import SolverFailure
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer
from stepnet.problem.problem import Problem
from stepnet.solvers.backends.base import Task
from stepnet.solvers.backends.highs import Highs
from stepnet.solvers.model import ModelBuilder
from stepnet.uncertainty.halfspaces import least_distance
from stepnet.uncertainty.programs import minimise
from stepnet.uncertainty.sets import ORDERS, Ball, Polyhedron

_BISECTIONS = 20
_FREELY = 1e3  # how much less a threshold costs than weights, where both have a length
_MARGIN = 1e-6  # of a row that counts as handled, in units of the largest row


class _Writing(NamedTuple):
    """v = V u, s(v) = up·u, s(-v) = down·u, rows u >= 0 and u >= low."""

    V: Floats
    up: Floats
    down: Floats
    rows: Floats
    low: Floats


class RobustRows:
    """The rows of a problem in the coordinates of its set, moved and divided so that they lie around 0."""

    def __init__(self, problem: Problem) -> None:
        self.set = problem.uncertainty
        assert isinstance(self.set, Ball | Polyhedron)
        X = problem.dataset.X.astype(np.float64)
        n = X.shape[1]
        # y = C x with w = Cᵀ v, so that the dual norm of v is what w reaches.
        self.C: Floats = np.eye(n)
        if isinstance(self.set, Ball):
            self.C = np.asarray(np.linalg.inv(self.set.moves(np.eye(n)).T), dtype=np.float64)
        Y = X @ self.C.T
        self.centre = (Y.min(axis=0) + Y.max(axis=0)) / 2
        self.size = float(np.abs(Y - self.centre).max()) or 1.0
        self.Y, self.radii = (Y - self.centre) / self.size, problem.radii / self.size
        if self.is_round and len(X) < n:  # no weights beyond the span of the rows help: fewer coordinates do
            basis = np.linalg.qr(self.Y.T)[0]
            self.C, self.centre, self.Y = basis.T @ self.C, basis.T @ self.centre, self.Y @ basis
        self.signs = np.where(problem.dataset.y == 1, 1.0, -1.0)
        self.writing = self._writing()

    @property
    def is_round(self) -> bool:
        return isinstance(self.set, Ball) and self.set.norm == "l2"

    def _writing(self) -> _Writing:
        n = self.Y.shape[1]
        eye = np.eye(n)
        if isinstance(self.set, Polyhedron):
            A, b = self.set.A, self.set.b  # v = Aᵀ μ with μ >= 0 reaches μ·b
            nothing, both = np.zeros(len(b)), np.hstack([A.T, A.T])
            return _Writing(
                np.hstack([A.T, np.zeros_like(A.T)]),
                np.append(b, nothing),
                np.append(nothing, b),
                np.vstack([both, -both]),
                np.zeros(2 * len(b)),
            )
        assert isinstance(self.set, Ball)
        if self.set.norm == "linf":
            ones = np.ones(2 * n)
            return _Writing(np.hstack([eye, -eye]), ones, ones, np.zeros((0, 2 * n)), np.zeros(2 * n))
        size = np.append(np.zeros(n), 1.0)
        rows = np.vstack([np.hstack([eye, np.ones((n, 1))]), np.hstack([-eye, np.ones((n, 1))])])
        return _Writing(np.hstack([eye, np.zeros((n, 1))]), size, size, rows, np.append(np.full(n, -np.inf), 0.0))

    def layer(self, v: Floats, t: float) -> Layer:
        """A neuron in these coordinates as one for the rows themselves."""
        return Layer((self.C.T @ v / self.size)[None], np.array([t + float(v @ self.centre) / self.size]))

    def hinge(self, rows: NDArray[np.int64], prices: Floats) -> Layer | None:
        """The neuron with the least sum of prices · max(0, 1 - what a row is inside by)."""
        signs, prices = self.signs[rows], prices / prices.max()
        if self.is_round:
            return self._round_hinge(rows, signs, prices)
        answer = self._solve(rows, signs, prices=prices)
        return None if answer is None else self._neuron(answer)

    def widest(self, rows: NDArray[np.int64], signs: Floats) -> tuple[float, Layer] | None:
        """The neuron that is farthest from its rows beyond their radii, and by how much; negative if it fails."""
        if self.is_round:
            return self._round_widest(rows, signs)
        answer = self._solve(rows, signs, prices=None)
        if answer is None:
            return None
        return float(answer[-1]) * self.size, self._neuron(answer)

    def _neuron(self, point: Floats) -> Layer:
        return self.layer(self.writing.V @ point[: self.writing.V.shape[1]], float(point[self.writing.V.shape[1]]))

    def _solve(self, rows: NDArray[np.int64], signs: Floats, prices: Floats | None) -> Floats | None:
        """Variables u, t, and either a slack a row or one margin for all, which is last."""
        w, m = self.writing, len(rows)
        q = w.V.shape[1]
        sizes = np.where(signs[:, None] > 0, w.down, w.up)
        inside = np.hstack([signs[:, None] * (self.Y[rows] @ w.V) - self.radii[rows, None] * sizes, -signs[:, None]])
        extra = np.hstack([w.rows, np.zeros((len(w.rows), 1))])
        if prices is not None:
            A = np.block([[inside, np.eye(m)], [extra, np.zeros((len(extra), m))]])
            least = np.append(np.ones(m), np.zeros(len(extra)))
            cost = np.concatenate([1e-9 * (w.up + w.down), [0.0], prices])
            low, high = np.concatenate([w.low, [-np.inf], np.zeros(m)]), np.full(q + 1 + m, np.inf)
        else:
            unit = np.append(-(w.up + w.down) / 2, 0.0)
            A = np.block(
                [[inside, -np.ones((m, 1))], [extra, np.zeros((len(extra), 1))], [unit[None], np.zeros((1, 1))]]
            )
            least = np.concatenate([np.zeros(m + len(extra)), [-1.0]])
            cost = np.append(np.zeros(q + 1), -1.0)
            low, high = np.concatenate([w.low, [-np.inf, -np.inf]]), np.full(q + 2, np.inf)
        try:
            return minimise(cost, A, least, low, high).point
        except SolverFailure:
            return None

    def _round_hinge(self, rows: NDArray[np.int64], signs: Floats, prices: Floats) -> Layer | None:
        """The same for ℓ2, by descent on a hinge with round corners that get ever sharper."""
        Y, radii, n = self.Y[rows], self.radii[rows], self.Y.shape[1]

        def cost(point: Floats, corner: float) -> tuple[float, Floats]:
            length = math.sqrt(float(point[:n] @ point[:n]) + 1e-18)
            missed = 1.0 - signs * (Y @ point[:n] - point[n]) + radii * length
            slopes = prices * np.clip(missed / corner, 0.0, 1.0)
            costs = np.where(missed > corner, missed - corner / 2, np.maximum(missed, 0.0) ** 2 / (2 * corner))
            towards = -(slopes * signs) @ Y + (slopes @ radii) * point[:n] / length
            return float(prices @ costs), np.append(towards, float(slopes @ signs))

        point = np.append((signs * prices) @ Y / prices.sum(), 0.0)
        for corner in (1.0, 0.1, 0.01):
            point = scipy_minimise(cost, point, args=(corner,), jac=True, method="L-BFGS-B").x
        return self.layer(point[:n], float(point[n])) if point[:n].any() else None

    def _round_widest(self, rows: NDArray[np.int64], signs: Floats) -> tuple[float, Layer] | None:
        """The same for ℓ2, by bisection over the margin: can weights of length 1 keep it?"""
        n, free = self.Y.shape[1], np.full(self.Y.shape[1] + 1, np.inf)
        G = np.hstack([signs[:, None] * self.Y[rows], -_FREELY * signs[:, None]])
        low, high, best = 0.0, 1.0, None
        for _ in range(_BISECTIONS):
            margin = (low + high) / 2
            try:
                z, _, _ = least_distance(G, self.radii[rows] + margin, -free, free)
            except SolverFailure:
                z = None
            if z is not None and np.linalg.norm(z[:n]) <= 1.0:
                low, best = margin, z
            else:
                high = margin
        return None if best is None else (low * self.size, self.layer(best[:n], float(_FREELY * best[n])))

    def heaviest(self, rows: NDArray[np.int64], prices: Floats, time_limit: float) -> tuple[float, float, Layer] | None:
        """The neuron whose handled rows weigh most: their weight, a bound on it, and the neuron.

        A mixed-integer program; None where the set has no simple one (ℓ2, polyhedra), or if it found nothing.
        """
        if not isinstance(self.set, Ball) or self.is_round:
            return None
        w, signs, m, q = self.writing, self.signs[rows], len(rows), self.writing.V.shape[1]
        model = ModelBuilder()
        u = model.add_columns("u", q, w.low, np.inf)
        t = model.add_columns("t", 1, -np.inf, np.inf)
        handled = model.add_columns("h", m, 0, 1, cost=-prices, integer=True)
        sizes = np.where(signs[:, None] > 0, w.down, w.up)
        inside = signs[:, None] * (self.Y[rows] @ w.V) - self.radii[rows, None] * sizes
        # With s(v) <= 1 no two rows are farther apart than the largest of their distances.
        reach = self._largest_distance(rows) + float(self.radii[rows].max())
        big = 2 * reach + self.radii[rows] + _MARGIN
        model.add_rows(
            [(np.broadcast_to(u, (m, q)), inside), (np.broadcast_to(t, m), -signs), (handled, -big)],
            lower=_MARGIN - big,
        )
        model.add_rows([(u[None], (w.up + w.down)[None] / 2)], upper=1.0)
        if len(w.rows):
            model.add_rows([(np.broadcast_to(u, w.rows.shape), w.rows)], lower=0.0)
        task = Task(model.build(), time_limit=time_limit, tolerance=1e-7)
        try:
            outcome = Highs().solve(task)
        except SolverFailure:
            return None
        if outcome.point is None:
            return None
        bound = math.inf if not math.isfinite(outcome.bound) else -outcome.bound
        return -outcome.objective, bound, self._neuron(outcome.point)

    def _largest_distance(self, rows: NDArray[np.int64]) -> float:
        assert isinstance(self.set, Ball)
        return float(2 * np.linalg.norm(self.Y[rows], ord=ORDERS[self.set.norm], axis=1).max())
