"""ℓ1: the sum over the features. Its dual is the largest weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.uncertainty.norms.base import DualForm, Nearest, Norm, Numbers
from stepnet.uncertainty.programs import maximise_depth, minimise


class L1(Norm):
    """z = p - q with p, q >= 0 and ‖z‖ = Σ p + q."""

    name = "l1"

    def powers(self, z: Numbers) -> Any:
        return np.abs(z).sum(axis=-1)

    def dual_powers(self, v: Numbers) -> Any:
        return np.abs(v).max(axis=-1)

    def dual_slopes(self, v: Floats, towards: Floats) -> Floats:
        largest = np.abs(v).argmax(axis=1)
        return np.asarray(np.sign(v[np.arange(len(v)), largest]) * towards[largest])

    def nearest(self, G: Floats, h: Floats, low: Floats, high: Floats) -> Nearest:
        n = G.shape[1]
        answer = minimise(np.ones(2 * n), np.hstack([G, -G]), h, np.zeros(2 * n), np.concatenate([high, -low]))
        z = None if answer.point is None else answer.point[:n] - answer.point[n:]
        ends = np.maximum(-answer.columns[n:], 0.0) - np.maximum(-answer.columns[:n], 0.0)
        return Nearest(z, answer.rows, ends)

    def deepest(self, G: Floats, h: Floats, depths: Floats, low: Floats, high: Floats, radius: float) -> Nearest:
        n = G.shape[1]
        rows = np.vstack([np.hstack([G, -G]), -np.ones((1, 2 * n))])
        most = np.minimum(np.concatenate([high, -low]), radius)
        answer = maximise_depth(rows, np.append(h, -radius), np.append(depths, 0.0), np.zeros(2 * n), most)
        z = None if answer.point is None else answer.point[:n] - answer.point[n : 2 * n]
        up, down = np.maximum(-answer.columns[:n], 0.0), np.maximum(-answer.columns[n : 2 * n], 0.0)
        # Multipliers of p, q <= radius are already part of the norm.
        ends = np.where(low > -radius, down, 0.0) - np.where(high < radius, up, 0.0)
        return Nearest(z, answer.rows[:-1], ends)

    def dual_form(self, n: int) -> DualForm:
        """u = (v, s) with s >= |v_l|."""
        eye, ones, size = np.eye(n), np.ones((n, 1)), np.append(np.zeros(n), 1.0)
        rows = np.vstack([np.hstack([eye, ones]), np.hstack([-eye, ones])])
        return DualForm(np.hstack([eye, np.zeros((n, 1))]), size, size, rows, np.append(np.full(n, -np.inf), 0.0))
