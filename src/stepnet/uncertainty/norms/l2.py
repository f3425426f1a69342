"""ℓ2: the Euclidean length, its own dual.

It has no linear program. Nearest points are found by non-negative least squares, depths by bisection over nearest
points, and robust neurons by :mod:`stepnet.constructions.round_neuron`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import nnls

from stepnet.errors import SolverFailure
from stepnet.model.arithmetic import Floats
from stepnet.uncertainty.norms.base import Nearest, Norm, Numbers

_SMALL = 1e-140  # squares of smaller numbers underflow, and sizes would be 0


class L2(Norm):
    """‖z‖² = Σ z_l²."""

    name = "l2"
    degree = 2
    is_round = True

    def powers(self, z: Numbers) -> Any:
        return (z * z).sum(axis=-1)

    def dual_powers(self, v: Numbers) -> Any:
        return self.powers(v)

    def sizes(self, z: Floats) -> Floats:
        sizes = np.asarray(np.linalg.norm(z, axis=None if z.ndim == 1 else -1))
        is_small = np.asarray(sizes < _SMALL)
        if is_small.any():
            few = z[is_small]
            units = np.ldexp(1.0, np.frexp(np.abs(few).max(axis=-1))[1])
            sizes[is_small] = np.linalg.norm(few / units[:, None], axis=-1) * units
        return sizes

    def dual_sizes(self, v: Floats) -> Floats:
        return self.sizes(v)

    def dual_slopes(self, v: Floats, towards: Floats) -> Floats:
        return np.asarray(v @ towards / np.maximum(self.sizes(v), 1e-300))

    def nearest(self, G: Floats, h: Floats, low: Floats, high: Floats) -> Nearest:
        return least_distance(G, h, low, high)


def least_distance(G: Floats, h: Floats, low: Floats, high: Floats) -> Nearest:
    """min |z|_2 with G z >= h and low <= z <= high, by non-negative least squares on the dual (Lawson and Hanson)."""
    n, k = G.shape[1], len(h)
    is_low, is_high = np.isfinite(low), np.isfinite(high)
    eye = np.eye(n)
    G = np.vstack([G, eye[is_low], -eye[is_high]])
    h = np.concatenate([h, low[is_low], -high[is_high]])
    if not (h > 0).any():
        return Nearest(np.zeros(n), np.zeros(k), np.zeros(n))
    scale = float(np.abs(h).max())
    left, right = np.vstack([G.T, h / scale]), np.append(np.zeros(n), 1.0)
    try:
        dual, _ = nnls(left, right, maxiter=50 * (len(h) + n))
    except RuntimeError as error:
        raise SolverFailure("non-negative least squares did not converge") from error
    residual = left @ dual - right
    ends = np.zeros(n)
    ends[is_low] += dual[k : k + is_low.sum()]
    ends[is_high] -= dual[k + is_low.sum() :]
    if residual[n] > -1e-12 or np.linalg.norm(residual) < 1e-9:
        return Nearest(None, dual[:k], ends)
    z: Floats = -residual[:n] / residual[n] * scale
    if not (G @ z >= h - 1e-7 * (1.0 + np.abs(h))).all():
        raise SolverFailure("non-negative least squares found no point")
    return Nearest(z, dual[:k], ends)
