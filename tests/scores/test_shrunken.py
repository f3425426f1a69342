"""Probabilities of a ridge fit of all rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from stepnet.problem.dataset import Dataset
from stepnet.scores.learner import quantile_cuts
from stepnet.scores.ranks import Ranks
from stepnet.scores.shrunken import _Fit, shrunken_shares


@pytest.fixture
def rows() -> tuple[Ranks, list[np.ndarray], np.ndarray]:
    """Of three features, one of them constant, with row weights."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), np.ones(60)])
    y = (X[:, 0] + X[:, 1] + rng.normal(size=60) > 1).astype(int)
    data = Dataset.from_rows(X, y, rng.integers(1, 4, 60))
    ranks = Ranks.of(data)
    cuts = [quantile_cuts(one, data.weights, 9) for one in ranks.ranks]
    shares = np.where(np.arange(2) == data.y[:, None], 0.99, 0.01) * data.weights[:, None]
    return ranks, cuts, shares


def test_the_gradient_is_that_of_the_loss(rows: tuple[Ranks, list[np.ndarray], np.ndarray]) -> None:
    ranks, cuts, shares = rows
    fit = _Fit.of(ranks.ranks, cuts, shares)
    point = np.random.default_rng(1).normal(size=1 + sum(map(len, cuts)))
    slopes = approx_fprime(point, lambda at: fit.loss(at)[0], 1e-7)
    assert fit.loss(point)[1] == pytest.approx(slopes, abs=1e-5)


def test_log_odds_are_an_offset_and_the_weights_of_the_rules_that_hold(
    rows: tuple[Ranks, list[np.ndarray], np.ndarray],
) -> None:
    ranks, cuts, shares = rows
    point = np.random.default_rng(1).normal(size=1 + sum(map(len, cuts)))
    bits = np.column_stack([ranks.ranks[j] >= cut for j, own in enumerate(cuts) for cut in own])
    expected = point[0] + bits @ point[1:]
    assert _Fit.of(ranks.ranks, cuts, shares).log_odds(point) == pytest.approx(expected)


def test_row_weights_are_kept_and_probabilities_lie_between_classes_and_the_mean(
    rows: tuple[Ranks, list[np.ndarray], np.ndarray],
) -> None:
    ranks, cuts, shares = rows
    drawn = shrunken_shares(ranks.ranks, cuts, shares, lambda: False)
    weights = shares.sum(axis=1)
    assert drawn.sum(axis=1) == pytest.approx(weights)
    assert (drawn > 0).all()
    assert drawn[:, 1].sum() == pytest.approx(shares[:, 1].sum(), rel=1e-3)  # the offset has no penalty
    few, many = (shrunken_shares(ranks.ranks, cuts, shares * factor, lambda: False) / factor for factor in (0.01, 100))
    mean = weights * shares[:, 1].sum() / weights.sum()
    assert np.abs(few[:, 1] - mean).sum() < np.abs(drawn[:, 1] - mean).sum() < np.abs(many[:, 1] - mean).sum()


def test_without_time_it_is_less_fitted_and_still_a_probability(
    rows: tuple[Ranks, list[np.ndarray], np.ndarray],
) -> None:
    ranks, cuts, shares = rows
    drawn = shrunken_shares(ranks.ranks, cuts, shares, lambda: True)
    assert drawn.sum(axis=1) == pytest.approx(shares.sum(axis=1))
    assert ((drawn > 0) & np.isfinite(drawn)).all()


@pytest.mark.parametrize("factor", [1e-200, 1e290])
def test_weights_of_any_size_are_fitted(rows: tuple[Ranks, list[np.ndarray], np.ndarray], factor: float) -> None:
    ranks, cuts, shares = rows
    drawn = shrunken_shares(ranks.ranks, cuts, shares * factor, lambda: False)
    assert (drawn / factor).sum(axis=1) == pytest.approx(shares.sum(axis=1))
