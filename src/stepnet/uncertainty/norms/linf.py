"""ℓ∞: the largest over the features. Its dual is the sum of the weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.uncertainty.norms.base import DualForm, Nearest, Norm, Numbers
from stepnet.uncertainty.programs import maximise_depth, minimise


class Linf(Norm):
    """‖z‖ = s with s >= |z_l|."""

    name = "linf"

    def powers(self, z: Numbers) -> Any:
        return np.abs(z).max(axis=-1)

    def dual_powers(self, v: Numbers) -> Any:
        return np.abs(v).sum(axis=-1)

    def dual_slopes(self, v: Floats, towards: Floats) -> Floats:
        return np.asarray(np.sign(v) @ towards)

    def nearest(self, G: Floats, h: Floats, low: Floats, high: Floats) -> Nearest:
        n = G.shape[1]
        eye, ones = np.eye(n), np.ones((n, 1))
        rows = np.block([[G, np.zeros((len(G), 1))], [-eye, ones], [eye, ones]])
        least = np.append(h, np.zeros(2 * n))
        answer = minimise(np.append(np.zeros(n), 1.0), rows, least, np.append(low, 0.0), np.append(high, np.inf))
        z = None if answer.point is None else answer.point[:n]
        return Nearest(z, answer.rows[: len(G)], answer.columns[:n])

    def deepest(self, G: Floats, h: Floats, depths: Floats, low: Floats, high: Floats, radius: float) -> Nearest:
        n = G.shape[1]
        answer = maximise_depth(G, h, depths, np.maximum(low, -radius), np.minimum(high, radius))
        z, columns = None if answer.point is None else answer.point[:n], answer.columns[:n]
        # Multipliers of the ends of the ball are already part of the norm.
        is_range = np.where(columns > 0, low > -radius, high < radius)
        return Nearest(z, answer.rows, np.where(is_range, columns, 0.0))

    def dual_form(self, n: int) -> DualForm:
        """v = p - q with u = (p, q) >= 0."""
        eye, ones = np.eye(n), np.ones(2 * n)
        return DualForm(np.hstack([eye, -eye]), ones, ones, np.zeros((0, 2 * n)), np.zeros(2 * n))
