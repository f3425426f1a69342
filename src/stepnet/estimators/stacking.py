"""Stacking: how much each kind of member counts, from what they say about rows that they were not trained on.

    min  mean loss(Σ_k w_k s_k + c, y) + μ Σ_k (w_k - 1/K)²   over w >= 0 and c

where s_k are the numbers of kind k. The weights are shared by all outputs, every output has its own c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from stepnet.model.arithmetic import Floats

_PULL = 1e-3  # μ
_PULL_OFFSET = 1e-6
_STEPS = 200

_Loss = Callable[[Floats, Any], tuple[Floats, Floats]]  # of scores and targets: costs of rows, and their slopes


def stacked_weights(sums: Floats, y: Any, weights: Floats) -> tuple[Floats, Floats]:
    """The weights of kinds and the offsets of outputs, from kinds × rows × outputs.

    ``y`` are class codes, with one output for two classes; or numbers, rows × outputs.
    """
    if y.ndim > 1:
        centre, unit = np.average(y, axis=0, weights=weights), float(y.std(axis=0).max()) or 1.0
        found, offsets = _fitted((sums - centre) / unit, (y - centre) / unit, weights, _squares)
        return found, offsets * unit + centre * (1 - found.sum())
    return _fitted(sums, y, weights, _logistic if sums.shape[2] == 1 else _cross_entropy)


def _fitted(sums: Floats, y: Any, weights: Floats, loss: _Loss) -> tuple[Floats, Floats]:
    n_kinds, _, n_outputs = sums.shape
    shares, even = weights / weights.sum(), 1.0 / n_kinds

    def price(point: Floats) -> tuple[float, Floats]:
        factors, offsets = point[:n_kinds], point[n_kinds:]
        costs, slopes = loss(np.tensordot(factors, sums, axes=1) + offsets, y)
        slopes *= shares[:, None]
        away = factors - even
        value = float(shares @ costs) + _PULL * away @ away + _PULL_OFFSET * offsets @ offsets
        by_factor = np.tensordot(sums, slopes, axes=([1, 2], [0, 1])) + 2 * _PULL * away
        return float(value), np.concatenate([by_factor, slopes.sum(axis=0) + 2 * _PULL_OFFSET * offsets])

    start = np.concatenate([np.full(n_kinds, even), np.zeros(n_outputs)])
    ends = [(0.0, None)] * n_kinds + [(None, None)] * n_outputs
    point = minimize(price, start, jac=True, method="L-BFGS-B", bounds=ends, options={"maxiter": _STEPS}).x
    return point[:n_kinds], point[n_kinds:]


def _logistic(scores: Floats, y: Any) -> tuple[Floats, Floats]:
    signed = np.where(y == 1, -1.0, 1.0) * scores[:, 0]
    return np.logaddexp(0.0, signed), (expit(scores[:, 0]) - y)[:, None]


def _cross_entropy(scores: Floats, y: Any) -> tuple[Floats, Floats]:
    every = np.arange(len(y))
    slopes = softmax(scores, axis=1)
    slopes[every, y] -= 1.0
    return -log_softmax(scores, axis=1)[every, y], slopes


def _squares(scores: Floats, y: Any) -> tuple[Floats, Floats]:
    errors = scores - y
    return (errors * errors).sum(axis=1) / 2, errors
