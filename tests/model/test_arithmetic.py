"""The sign of w·x - t is that of the rational number."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stepnet.model.arithmetic import activations, exact_dot, quantum

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)


def rational_signs(inputs, weights, thresholds):
    def sign(row, w, t):
        value = sum((Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True)), Fraction(0)) - Fraction(t)
        return (value > 0) - (value < 0)

    return [
        [sign(row, w, t) for w, t in zip(weights.tolist(), thresholds.tolist(), strict=True)] for row in inputs.tolist()
    ]


@settings(max_examples=200)
@given(
    arrays(float, (3, 4), elements=FLOATS), arrays(float, (2, 4), elements=FLOATS), arrays(float, 2, elements=FLOATS)
)
def test_signs_are_exact_for_any_floats(inputs, weights, thresholds):
    _, signs = activations(inputs, weights, thresholds)
    assert signs.tolist() == rational_signs(inputs, weights, thresholds)


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(-1, 1))
def test_signs_are_exact_one_unit_from_a_tie(seed, units):
    rng = np.random.default_rng(seed)
    inputs, weights = rng.normal(size=(5, 6)), rng.normal(size=(1, 6))
    thresholds = np.array([float(exact_dot(inputs[0], weights[0]))])
    for _ in range(abs(units)):
        thresholds = np.nextafter(thresholds, np.inf * units)
    _, signs = activations(inputs, weights, thresholds)
    assert signs.tolist() == rational_signs(inputs, weights, thresholds)


def test_a_tenth_plus_a_fifth_is_above_three_tenths():
    _, signs = activations(np.array([[0.1, 0.2]]), np.ones((1, 2)), np.array([0.3]))
    assert signs[0, 0] == 1


def test_overflowing_sums_keep_their_sign():
    big = np.array([[1e308, 1e308, -1e308]])
    _, signs = activations(big, np.array([[1e10, 1.0, 1e10]]), np.array([0.0]))
    assert signs[0, 0] == 1


def test_products_that_underflow_keep_their_sign():
    _, signs = activations(np.array([[1e-300]]), np.array([[-1e-300]]), np.array([0.0]))
    assert signs[0, 0] == -1


def test_quantum_is_the_common_power_of_two():
    assert quantum(np.array([0.5, 3.0, -0.75])) == -2
    assert quantum(np.array([8.0, 24.0, 0.0])) == 3
    assert quantum(np.zeros(3)) == 0
    assert quantum(np.array([5e-324])) == -1074
