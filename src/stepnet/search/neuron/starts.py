"""Starts: integer weights of one neuron from logistic fits, rounded at several scales."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from stepnet.model.arithmetic import Bools, Floats
from stepnet.search.neuron.prices import Prices
from stepnet.search.neuron.supports import Fit

_SCALES = np.linspace(0.15, 1.2, 22)  # of the largest weight


def rounded(fit: Fit, values: Floats, allowed: Bools, most: float) -> Floats:
    """The weights of a fit at several scales, each the nearest value that is allowed; (scales × features).

    Where more would be non-zero than may be, the largest coefficients stay.
    """
    coefficients, largest = np.zeros(len(allowed)), float(np.abs(values).max())
    coefficients[list(fit.features)] = fit.coefficients[:-1]
    if np.count_nonzero(coefficients) > most:
        coefficients[np.argsort(-np.abs(coefficients), kind="stable")[int(most) :]] = 0.0
    size = float(np.abs(coefficients).max(initial=0.0))
    wanted = coefficients * (largest / size if size else 0.0) * _SCALES[:, None]
    result = np.empty_like(wanted)
    for feature, column in enumerate(wanted.T):
        own = values[allowed[feature]]
        result[:, feature] = own[np.abs(own - column[:, None]).argmin(axis=1)]
    return result


def best_starts(
    prices: Prices,
    fits: Iterable[Fit],
    values: Floats,
    allowed: Bools,
    most: float,
    admits: Callable[[Floats], bool],
) -> list[Floats]:
    """The rounded fits that are admitted, the best by errors first."""
    lines = [line for fit in fits for line in rounded(fit, values, allowed, most)]
    if not lines:
        return []
    distinct = [one for one in np.unique(np.array(lines), axis=0) if np.count_nonzero(one) <= most and admits(one)]
    losses = [float(prices.losses(prices.sums(one)[None])[0]) for one in distinct]
    return [distinct[number] for number in np.argsort(losses, kind="stable")]
