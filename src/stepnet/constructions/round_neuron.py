"""Robust neurons for ellipsoids: s(v) is the Euclidean length of v, which is not linear."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize as scipy_minimise

from stepnet.constructions.robust_rows import RobustRows
from stepnet.errors import YES, SolverFailure
from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Layer
from stepnet.problem.problem import Problem
from stepnet.uncertainty.norms.l2 import least_distance

_BISECTIONS = 20
_FREELY = 1e3  # factor by which a threshold counts less than weights in the length that is minimised


class RoundRows(RobustRows):
    """Rows of a set whose sizes are Euclidean lengths."""

    answer = YES

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        if self.Y.shape[0] < self.Y.shape[1]:  # weights outside the span of the rows are of no use
            basis = np.linalg.qr(self.Y.T)[0]
            self.C, self.centre, self.Y = basis.T @ self.C, basis.T @ self.centre, self.Y @ basis

    def hinge(self, rows: Ints, prices: Floats) -> Layer | None:
        """By descent on a smoothed hinge, with less and less smoothing."""
        signs, prices = self.signs[rows], prices / prices.max()
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

    def widest(self, rows: Ints, signs: Floats) -> tuple[float, Layer] | None:
        """By bisection over the margin that weights of length 1 can keep."""
        n, free = self.Y.shape[1], np.full(self.Y.shape[1] + 1, np.inf)
        G = np.hstack([signs[:, None] * self.Y[rows], -_FREELY * signs[:, None]])
        low, high, best = 0.0, 1.0, None
        for _ in range(_BISECTIONS):
            margin = (low + high) / 2
            try:
                z = least_distance(G, self.radii[rows] + margin, -free, free).z
            except SolverFailure:
                z = None
            if z is not None and np.linalg.norm(z[:n]) <= 1.0:
                low, best = margin, z
            else:
                high = margin
        return None if best is None else (low * self.size, self.layer(best[:n], float(_FREELY * best[n])))
