"""Stacking: what each kind of member counts follows from rows that it has not seen."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from stepnet.estimators.stacking import stacked_weights

RNG = np.random.default_rng(0)
N = 4_000


def test_the_weights_that_classes_were_drawn_with_are_found():
    sums = RNG.normal(size=(3, N, 1))
    y = (RNG.random(N) < expit(0.5 * sums[0, :, 0] + 1.5 * sums[1, :, 0] - 0.4)).astype(int)
    factors, offsets = stacked_weights(sums, y, np.ones(N))
    np.testing.assert_allclose(factors, [0.5, 1.5, 0.0], atol=0.1)
    assert offsets == pytest.approx([-0.4], abs=0.1)


def test_no_weight_is_negative():
    sums = RNG.normal(size=(2, N, 1))
    y = (RNG.random(N) < expit(sums[0, :, 0] - sums[1, :, 0])).astype(int)
    factors, _ = stacked_weights(sums, y, np.ones(N))
    assert factors[0] > 0.5
    assert factors[1] == 0


def test_several_classes_share_the_weights_and_have_offsets_of_their_own():
    sums, offsets = RNG.normal(size=(2, N, 3)), np.array([0.5, 0.0, -0.5])
    y = np.array([RNG.choice(3, p=row) for row in softmax(2.0 * sums[0] + offsets, axis=1)])
    factors, found = stacked_weights(sums, y, np.ones(N))
    np.testing.assert_allclose(factors, [2.0, 0.0], atol=0.2)
    np.testing.assert_allclose(found - found.mean(), offsets, atol=0.15)


def test_numbers_in_any_units():
    sums = RNG.normal(size=(2, N, 2)) * 1e5 + 1e7
    y = 0.25 * sums[0] + 0.75 * sums[1] + 3e6
    factors, offsets = stacked_weights(sums, y, np.ones(N))
    np.testing.assert_allclose(factors, [0.25, 0.75], atol=0.01)
    np.testing.assert_allclose(np.tensordot(factors, sums, axes=1) + offsets, y, atol=5e3)


def test_a_weight_is_so_many_rows():
    sums, y = RNG.normal(size=(2, 100, 1)), RNG.integers(0, 2, 100)
    weights = RNG.integers(1, 4, 100)
    once = stacked_weights(sums, y, weights.astype(float))
    again = stacked_weights(np.repeat(sums, weights, axis=1), np.repeat(y, weights), np.ones(weights.sum()))
    for left, right in zip(once, again, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-4)


def test_members_that_tell_all_rows_apart_get_finite_weights():
    y = np.arange(20) % 2
    factors, offsets = stacked_weights((2.0 * y - 1)[None, :, None], y, np.ones(20))
    assert np.isfinite([*factors, *offsets]).all()
    assert factors[0] > 1
