"""Losses with one slope above the target and another below it; the best last layer is a linear program.

min Σ_i weight_i e_i   subject to   e_i >= above_i (z_i - y_i),   e_i >= below_i (y_i - z_i),   e >= 0

The best constant is a weighted quantile: the first target from which costs no longer fall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from stepnet.model.arithmetic import Floats, Ints
from stepnet.problem.dataset import Targets
from stepnet.problem.losses.base import LastLayer, RealLoss
from stepnet.runtime.limits import Budget


@dataclass(frozen=True)
class PiecewiseLinearLoss(RealLoss):
    """A loss that is defined by its :meth:`slopes`."""

    def costs(self, values: Floats, y: Targets) -> Floats:
        targets = self.targets(y)
        above, below = self.slopes(targets)
        return np.maximum(above * (values - targets), below * (targets - values))

    def best_constants(self, y: Targets, weights: Floats, group: Ints) -> Floats:
        targets = self.targets(y)
        columns = zip(targets.T, *(weights * slopes.T for slopes in self.slopes(targets)), strict=True)
        return np.column_stack([_quantiles(column, above, below, group) for column, above, below in columns])

    def last_layer(self, signals: Floats, y: Targets, weights: Floats, *, intercept: bool, budget: Budget) -> LastLayer:
        targets, limit = self.targets(y), self.largest_weight
        outputs = zip(targets.T, *(slopes.T for slopes in self.slopes(targets)), strict=True)
        fits = [_least(signals, target, slopes, weights, limit, intercept, budget) for target, *slopes in outputs]
        return np.array([layer for layer, _ in fits]), np.array([constant for _, constant in fits])


def _quantiles(targets: Floats, above: Floats, below: Floats, group: Ints) -> Floats:
    """For each group the first target at which the slopes of targets passed outweigh those ahead."""
    order = np.lexsort((targets, group))
    # Shares of the group's total slope, so that light groups are not lost beside heavy ones in rounding.
    totals = np.maximum(np.bincount(group, above + below), np.finfo(np.float64).tiny)
    falling = np.bincount(group, below) / totals
    passed = np.cumsum(((above + below) / totals[group])[order]) - group[order]
    found = np.empty(len(totals))
    found[group[order]] = targets[order]  # the last of each group, in case rounding hides the first
    first = order[passed >= falling[group[order]]][::-1]  # the first of each group is written last
    found[group[first]] = targets[first]
    return found


def _least(
    signals: Floats, target: Floats, slopes: list[Floats], costs: Floats, limit: float, intercept: bool, budget: Budget
) -> tuple[Floats, float]:
    """Weights and intercept of one output, with ``costs`` per row; zeros if the time limit is reached first."""
    (m, n), (above, below) = signals.shape, slopes
    left = np.column_stack([signals, np.full(m, 1.0 if intercept else 0.0)])
    slack = sparse.eye_array(m, format="csr")
    sides = [(at, slope[at]) for slope in (above, -below) for at in [np.flatnonzero(slope)]]
    rows = sparse.vstack([sparse.hstack([sparse.csr_array(s[:, None] * left[at]), -slack[at]]) for at, s in sides])
    right = np.concatenate([s * target[at] for at, s in sides])
    bounds = [(-limit, limit)] * n + [(None, None)] + [(0, None)] * m
    cost = np.concatenate([np.zeros(n + 1), costs / costs.max()])
    options = {"time_limit": budget.remaining} if math.isfinite(budget.remaining) else {}
    found = linprog(cost, A_ub=rows, b_ub=right, bounds=bounds, options=options)
    if found.x is None:
        return np.zeros(n), 0.0
    return np.clip(found.x[:n], -limit, limit), float(found.x[n]) if intercept else 0.0
