"""Last layers by least squares: in closed form, or by an active-set method where weights are bounded."""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.problem.losses.base import LastLayer
from stepnet.problem.losses.box_least_squares import box_least_squares
from stepnet.runtime.limits import Budget


def least_squares(
    signals: Floats, y: Floats, row_weights: Floats, ridge: float, limit: float, *, intercept: bool, budget: Budget
) -> LastLayer:
    """min Σ_i weight_i |W h_i + c - y_i|² + ridge |W|² with |W| <= limit."""
    n = signals.shape[1]
    shares = row_weights / row_weights.sum()
    means, centre = (shares @ signals, shares @ y) if intercept else (np.zeros(n), np.zeros(y.shape[1]))
    roots = np.sqrt(row_weights)[:, None]
    left, right = roots * (signals - means), roots * (y - centre)
    if ridge:
        left = np.vstack([left, np.sqrt(ridge) * np.eye(n)])
        right = np.vstack([right, np.zeros((n, y.shape[1]))])
    if np.isfinite(limit):
        weights = box_least_squares(left, right, limit, budget.is_used_up).T
    else:
        weights = np.linalg.lstsq(left, right, rcond=1e-12)[0].T
    return weights, centre - weights @ means


def ridge_for_new_rows(signals: Floats, y: Floats, row_weights: Floats) -> float:
    """By generalised cross-validation; degrees of freedom count twice, since neurons were learned on the same rows."""
    shares, roots = row_weights / row_weights.sum(), np.sqrt(row_weights / row_weights.mean())[:, None]
    left, right = roots * (signals - shares @ signals), roots * (y - shares @ y)
    basis, sizes, _ = np.linalg.svd(left, full_matrices=False)
    explained = ((basis.T @ right) ** 2).sum(axis=1)
    ridges, n_rows = len(signals) * np.geomspace(1e-6, 10.0, 50)[:, None], len(signals)
    kept = sizes**2 / (sizes**2 + ridges)
    errors = (right**2).sum() - ((2 * kept - kept**2) * explained).sum(axis=1)
    freedom = n_rows - 1 - 2 * kept.sum(axis=1)
    scores = np.where(freedom > 0, errors / np.maximum(freedom, 1e-9) ** 2, np.inf)
    return float(ridges[scores.argmin(), 0] * row_weights.mean())
