"""The last layer of numbers above uncertain rows, by descent on what the ends of its ranges cost."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.optimize import minimize

from stepnet.model.arithmetic import Floats
from stepnet.problem.losses.base import RealLoss
from stepnet.problem.problem import Problem


def robust_last_layer(
    problem: Problem, least: Floats, most: Floats, weights: Floats, thresholds: Floats
) -> tuple[Floats, Floats]:
    """Weights and thresholds, from given ones, for inputs between ``least`` and ``most`` (rows × inputs).

    With w = u - v and u, v >= 0 the output lies within w·(least + most) / 2 - t ± (u + v)·(most - least) / 2, and a row
    costs what the worse end of that does: a convex function of u, v and t.
    """
    loss, y = problem.loss.of_values, problem.dataset.y
    assert loss is not None
    width, middle, half = weights.shape[1], least / 2 + most / 2, most / 2 - least / 2
    t_range = (None, None) if problem.architecture.intercept else (0.0, 0.0)
    found = []
    for output, (w, t) in enumerate(zip(weights, thresholds, strict=True)):
        targets = y if y.ndim == 1 else y[:, output : output + 1]
        cost = partial(_cost, loss=loss, y=targets, row_weights=problem.dataset.weights, middle=middle, half=half)
        begin = np.concatenate([np.maximum(w, 0), np.maximum(-w, 0), [t]])
        bounds = [(0.0, loss.bound)] * (2 * width) + [t_range]
        found.append(minimize(cost, begin, jac=True, method="L-BFGS-B", bounds=bounds).x)
    points, limit = np.array(found), np.inf if loss.bound is None else loss.bound
    return np.clip(points[:, :width] - points[:, width:-1], -limit, limit), points[:, -1]


def _cost(
    point: Floats, *, loss: RealLoss, y: Floats, row_weights: Floats, middle: Floats, half: Floats
) -> tuple[float, Floats]:
    """The loss of one output and its gradient in u, v and t."""
    width = middle.shape[1]
    up, down, threshold = point[:width], point[width:-1], point[-1]
    centre, spread = middle @ (up - down) - threshold, half @ (up + down)
    top, bottom = (loss.costs(end[:, None], y)[:, 0] for end in (centre + spread, centre - spread))
    sides = np.where(top >= bottom, 1.0, -1.0)
    slopes = row_weights * _slopes(loss, centre + sides * spread, y)
    total = float(row_weights @ np.maximum(top, bottom)) + loss.penalty((up - down)[None])
    along, across = slopes @ middle + 2 * loss.ridge * (up - down), (sides * slopes) @ half
    return total, np.concatenate([along + across, across - along, [-slopes.sum()]])


def _slopes(loss: RealLoss, values: Floats, y: Floats) -> Floats:
    """Of the costs, by a small difference: they are piecewise linear or quadratic."""
    step = 1e-6 * (1.0 + np.abs(values))
    up, down = (loss.costs(end[:, None], y)[:, 0] for end in (values + step, values - step))
    return np.asarray((up - down) / (2 * step))
