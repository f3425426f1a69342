"""Supports by the logistic loss: the features that matter are found, and fits satisfy the optimality conditions."""

import numpy as np

from stepnet.search.neuron.starts import rounded
from stepnet.search.neuron.supports import Fit, Logistic


def rows(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(8, 200)) * scale
    wanted = (2 * columns[1] - columns[4] + columns[6]) / scale + 0.3 * rng.normal(size=200) > 0.2
    return columns, np.where(wanted, 1.0, -1.0)


def test_the_features_of_a_noisy_rule_are_found():
    levels = Logistic(*rows(0)).beam(3, 4, lambda: False)
    assert [len(level[0].features) for level in levels] == [1, 2, 3]
    assert levels[2][0].features == (1, 4, 6)


def test_a_beam_is_sorted_by_its_loss_and_has_no_support_twice():
    for level in Logistic(*rows(1)).beam(4, 6, lambda: False):
        assert [fit.loss for fit in level] == sorted(fit.loss for fit in level)
        assert len({fit.features for fit in level}) == len(level)


def test_units_of_columns_change_no_support():
    columns, gains = rows(2)
    units = np.array([1e-3, 1e3, 1.0, 7.0, 1e5, 1.0, 1e-6, 1.0])
    one, other = (Logistic(c, gains).beam(3, 4, lambda: False)[-1][0] for c in (columns, columns * units[:, None]))
    assert one.features == other.features
    chosen = list(one.features)
    assert np.allclose(one.coefficients[:-1], other.coefficients[:-1] * units[chosen], rtol=1e-3)


def test_separable_rows_and_constant_columns_have_finite_fits():
    columns = np.array([[0.0, 0, 1, 1], [5, 5, 5, 5], [0, 1, 0, 1]])
    logistic = Logistic(columns, np.array([-1.0, -1, 1, 1]))
    levels = logistic.beam(3, 4, lambda: False)
    assert levels[0][0].features == (0,)
    assert all(1 not in fit.features and np.isfinite(fit.coefficients).all() for level in levels for fit in level)


def test_rounded_weights_are_allowed_and_keep_the_signs_of_a_fit():
    values = np.arange(-5.0, 6.0)
    allowed = np.ones((4, 11), dtype=bool)
    allowed[2, values < 0] = False
    lines = rounded(Fit((0, 2, 3), np.array([1.0, -0.5, 0.25, 7.0]), 0.0), values, allowed, 2)
    assert (lines[:, 1] == 0).all()
    assert (lines[:, 2] == 0).all()  # -0.5 is not allowed
    assert (lines[:, 3] == 0).all()  # only the two largest coefficients are kept
    assert lines[:, 0].max() == 5
