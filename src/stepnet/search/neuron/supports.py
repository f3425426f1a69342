"""Supports: which few features serve one neuron, by the logistic loss.

Errors are a poor guide while features are few, since many supports have as many. The logistic loss is smooth: a beam of
supports grows by the features with the largest gain of one Newton step, each support fitted anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stepnet.model.arithmetic import Floats, Ints

_RIDGE = 1e-3  # of the average row, on standardised columns: separable rows have a fit, too
_STEPS = 8  # of Newton's method
_STEP = 8.0  # the longest


class Fit(NamedTuple):
    """The features in use, their coefficients on the columns as they are, and the logistic loss."""

    features: tuple[int, ...]
    coefficients: Floats
    loss: float


class Logistic:
    """The logistic loss of rows with signed weights: positive where a neuron should be on."""

    def __init__(self, columns: Floats, gains: Floats) -> None:
        sizes = np.abs(columns).max(axis=1)
        sizes[sizes == 0] = 1.0
        shares = columns / sizes[:, None]
        spreads = shares.std(axis=1)
        self.is_constant = spreads <= 1e-12
        spreads[self.is_constant] = 1.0
        self.columns, self.spreads = (shares - shares.mean(axis=1)[:, None]) / spreads[:, None], spreads * sizes
        self.squares = self.columns**2
        self.weights, self.on = np.abs(gains) / (np.abs(gains).mean() or 1.0), gains > 0

    def beam(self, most: int, width: int, should_stop: Callable[[], bool]) -> list[list[Fit]]:
        """For each size from 1 to ``most`` up to ``width`` supports, the best by this loss first."""
        levels: list[list[Fit]] = []
        parents = [self.fit((), np.zeros(1))]
        for _ in range(min(most, int((~self.is_constant).sum()))):
            children: dict[tuple[int, ...], Fit] = {}
            for parent in parents:
                for feature in self.promising(parent, width):
                    features = tuple(sorted((*parent.features, int(feature))))
                    if should_stop():
                        return levels
                    if features not in children:
                        begin = np.insert(self._scaled(parent), features.index(int(feature)), 0.0)
                        children[features] = self.fit(features, begin)
            parents = sorted(children.values(), key=lambda fit: fit.loss)[:width]
            levels.append(parents)
        return levels

    def promising(self, fit: Fit, most: int) -> Ints:
        """The features outside a fit with the largest gains of one Newton step with an intercept."""
        on = _probabilities(self._values(fit))
        curvature = self.weights * on * (1.0 - on) + 1e-9
        residuals = self.weights * (self.on - on)
        slopes = self.columns @ residuals
        bends = self.squares @ curvature - (self.columns @ curvature) ** 2 / curvature.sum()
        gains = slopes**2 / np.maximum(bends, 1e-9)
        gains[[*fit.features, *np.flatnonzero(self.is_constant)]] = -1.0
        best = np.argsort(-gains, kind="stable")[:most]
        return np.asarray(best[gains[best] >= 0])

    def fit(self, features: tuple[int, ...], begin: Floats | None = None) -> Fit:
        """The least loss on some features, by Newton's method; coefficients are those of the original columns."""
        design = np.vstack([self.columns[list(features)], np.ones(len(self.on))])
        ridge = np.append(np.full(len(features), _RIDGE * len(self.on)), 1e-9)
        point = np.zeros(len(ridge)) if begin is None else begin
        for _ in range(_STEPS):
            on = _probabilities(point @ design)
            slope = design @ (self.weights * (on - self.on)) + ridge * point
            bend = (design * (self.weights * on * (1.0 - on) + 1e-9)) @ design.T + np.diag(ridge)
            step = np.linalg.solve(bend, slope)
            point = point - step * min(1.0, _STEP / (1e-12 + float(np.abs(step).max())))
            if np.abs(step).max() < 1e-4:
                break
        values = point @ design
        loss = float(self.weights @ (np.logaddexp(0.0, values) - values * self.on)) + float(ridge @ point**2) / 2
        coefficients = np.append(point[:-1] / self.spreads[list(features)], point[-1])
        return Fit(features, coefficients, loss)

    def _scaled(self, fit: Fit) -> Floats:
        return np.append(fit.coefficients[:-1] * self.spreads[list(fit.features)], fit.coefficients[-1])

    def _values(self, fit: Fit) -> Floats:
        point = self._scaled(fit)
        return np.asarray(point[:-1] @ self.columns[list(fit.features)] + point[-1])


def _probabilities(values: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0))))
