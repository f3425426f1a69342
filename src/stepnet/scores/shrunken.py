"""Shrunken: probabilities of a ridge fit of all rules at once, as targets for the few rules of a card.

    log-odds of a row = offset + Σ_f Σ_c  w[f, c] · 1(x_f >= c),     penalty  ½ Σ_f n_cuts[f] Σ_c w[f, c]²

so that the whole effect of a feature has variance 1 before rows are seen, however many cuts it has. A row of weight 1
counts as one row. The logistic loss of
a card with rules at these cuts depends on the targets only through their sums over the rows of each rule. Without a
penalty the fit leaves these sums as they are; with one, those that few rows stand for are drawn together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from stepnet.model.arithmetic import Floats

_ITERATIONS = 100
_LEAST_WEIGHT = 1e-6  # of all rows; with less, the penalty is that of so much


def shrunken_shares(
    ranks: NDArray[np.int32], cuts: list[NDArray[np.int32]], shares: Floats, should_stop: Callable[[], bool]
) -> Floats:
    """Rows × 2: the weight of each row, divided by the probabilities of the fit as far as it came in time."""
    fit = _Fit.of(ranks, cuts, shares)
    begin = np.zeros(1 + len(fit.penalty))
    begin[0] = np.log(shares[:, 1].sum() / shares[:, 0].sum())
    best = begin

    def glance(found: Floats) -> None:
        nonlocal best
        best = found.copy()
        if should_stop():
            raise _TimeIsUpError

    try:
        options = {"maxiter": _ITERATIONS}
        best = minimize(fit.loss, begin, method="L-BFGS-B", jac=True, callback=glance, options=options).x
    except _TimeIsUpError:
        pass
    chances, weights = expit(fit.log_odds(best)), shares.sum(axis=1)
    return np.column_stack([weights * (1 - chances), weights * chances])


class _TimeIsUpError(Exception):
    """Ends a minimisation."""


@dataclass(frozen=True)
class _Fit:
    """Rows by bins: a bin of a feature lies between two of its cuts, and has the sum of the weights of those below."""

    bins: NDArray[np.int64]  # features × rows: numbers of bins, counted through all features
    is_first: NDArray[np.bool_]  # of each bin: no cut of its feature is below
    feature: NDArray[np.int64]  # of each bin
    penalty: Floats  # of each cut
    shares: Floats  # rows × 2, in sum 1

    @classmethod
    def of(cls, ranks: NDArray[np.int32], cuts: list[NDArray[np.int32]], shares: Floats) -> _Fit:
        sizes = np.array([1 + len(own) for own in cuts])
        starts = np.cumsum(sizes) - sizes
        pairs = zip(ranks, cuts, starts, strict=True)
        bins = np.array([start + np.searchsorted(own, one, side="right") for one, own, start in pairs])
        is_first = np.zeros(sizes.sum(), dtype=bool)
        is_first[starts] = True
        feature = np.repeat(np.arange(len(cuts)), sizes)
        total = float(shares.sum())
        penalty = (sizes - 1)[feature[~is_first]] / max(total, _LEAST_WEIGHT)
        return cls(bins, is_first, feature, penalty, shares / total)

    def log_odds(self, parameters: Floats) -> Floats:
        effects = np.zeros(len(self.is_first))
        effects[~self.is_first] = parameters[1:]
        sums = np.cumsum(effects)
        sums -= sums[self.is_first][self.feature]
        return np.asarray(parameters[0] + sums[self.bins].sum(axis=0))

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        """With the penalty; and its gradient."""
        scores, weights = self.log_odds(parameters), self.shares.sum(axis=1)
        loss = weights @ np.logaddexp(0.0, scores) - self.shares[:, 1] @ scores
        residuals = weights * expit(scores) - self.shares[:, 1]
        per_row = np.broadcast_to(residuals, self.bins.shape)
        by_bin = np.bincount(self.bins.ravel(), per_row.ravel(), minlength=len(self.is_first))
        above = np.cumsum(by_bin[::-1])[::-1]  # a cut moves all bins of its feature from it on
        ends = np.append(above[self.is_first], 0.0)[1:]
        own, shrink = (above - ends[self.feature])[~self.is_first], self.penalty * parameters[1:]
        loss += 0.5 * float(shrink @ parameters[1:])
        return float(loss), np.concatenate([[residuals.sum()], own + shrink])
