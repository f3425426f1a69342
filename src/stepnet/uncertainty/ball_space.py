"""Perturbations of one row within a ball, in the coordinates z of the ball: δ = scale · z or transform z."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepnet.errors import SolverFailure
from stepnet.model.arithmetic import Floats
from stepnet.uncertainty.halfspaces import UNIT, Halfspaces, Move
from stepnet.uncertainty.norms.base import Nearest

if TYPE_CHECKING:
    from stepnet.uncertainty.ball import Ball

_BISECTIONS = 16


class BallSpace:
    """Halfspaces and ranges of δ, as conditions on z."""

    def __init__(self, ball: Ball, row: Floats, halves: Halfspaces) -> None:
        self.ball = ball
        n = len(row)
        low, high = ball.limits(n)
        low, high = np.minimum(low - row, 0.0), np.maximum(high - row, 0.0)
        self.G, self.h, self.errors = ball.spread(halves.G), halves.h, halves.errors
        self.G_sizes = np.abs(self.G)  # sizes of the terms of each sum
        if ball.transform is None:
            scales = ball.scales(n)
            self.low, self.high = low / scales, high / scales
            return
        for end, sign in ((low, 1.0), (high, -1.0)):  # ranges of δ are halfspaces of z
            finite = np.isfinite(end)
            self.G = np.vstack([self.G, sign * ball.spread(np.eye(n)[finite])])
            self.h = np.append(self.h, sign * end[finite])
            self.errors = np.append(self.errors, UNIT * (np.abs(end[finite]) + np.abs(row[finite])))
        self.G_sizes = np.abs(self.G)  # ranges have single terms
        self.G_sizes[: len(halves.h)] += np.abs(halves.G) @ np.abs(np.array(ball.transform))
        self.low, self.high = np.full(n, -np.inf), np.full(n, np.inf)

    def smallest(self) -> Move:
        """The smallest perturbation into all halfspaces."""
        found = self._nearest(self.h)
        gain, size = self._shown(found)
        return Move(self._move(found.z), 0.0 if gain <= 0 else gain / size * (1 - 4 * UNIT))

    def deepest(self, radius: float, units: Floats) -> Move:
        """The perturbation within the radius that lies deepest inside, with a unit of depth per halfspace."""
        depths = np.append(units, np.zeros(len(self.h) - len(units)))
        found = self.ball.measure.deepest(self.G, self.h, depths, self.low, self.high, radius)
        if found is None:
            return self._deepest_by_bisection(radius, depths)
        gain, size = self._shown(found)
        return Move(self._move(found.z), gain - radius * size * (1 + 4 * UNIT))

    def _deepest_by_bisection(self, radius: float, depths: Floats) -> Move:
        """By bisection over the depth, with the smallest perturbation for each."""
        first = self.smallest()
        if first.delta is None or first.bound > radius:
            return Move(None, first.bound - radius)
        best, low = first.delta, 0.0
        high = radius - float(self.ball.size(best[None])[0])  # a unit of depth costs at least a unit of radius
        if high <= 0:
            return Move(best, first.bound - radius)
        for _ in range(_BISECTIONS):
            depth = (low + high) / 2 if low else high / 8  # first the right order of magnitude
            try:
                found = self._move(self._nearest(self.h + depth * depths).z)
            except SolverFailure:
                found = None
            if found is not None and float(self.ball.size(found[None])[0]) <= radius:
                best, low = found, depth
            else:
                high = depth
            if low > 0.5 * high:
                break
        return Move(best, first.bound - radius)

    def _nearest(self, h: Floats) -> Nearest:
        return self.ball.measure.nearest(self.G, h, self.low, self.high)

    def _move(self, z: Floats | None) -> Floats | None:
        return None if z is None else self.ball.moves(z[None])[0]

    def _shown(self, found: Nearest) -> tuple[float, float]:
        """λ·h minus its rounding error, and ‖Gᵀλ‖_* plus its own."""
        multipliers, ends = found.rows, found.ends
        has_low, has_high = np.isfinite(self.low), np.isfinite(self.high)
        up, down = np.where(has_low, np.maximum(ends, 0.0), 0.0), np.where(has_high, np.maximum(-ends, 0.0), 0.0)
        low, high = np.where(has_low, self.low, 0.0), np.where(has_high, self.high, 0.0)
        products = np.concatenate([multipliers * self.h, up * low, -down * high])
        n_terms = len(products) + len(self.low) + 4
        gain = products.sum() - multipliers @ self.errors - n_terms * UNIT * np.abs(products).sum()
        direction = multipliers @ self.G + up - down
        rounding = n_terms * UNIT * (multipliers @ self.G_sizes + up + down)
        size = self.ball.measure.dual_sizes(np.abs(direction) + rounding)
        return float(gain), float(size * (1 + 4 * n_terms * UNIT))
