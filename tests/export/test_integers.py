"""Integer sums over bits mean what the layer means."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepnet.export.integers import digits, n_digits, over_bits
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import STEP, Staircase
from stepnet.model.network import Layer, Network

numbers = (
    st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(-3, 3).map(float) | st.sampled_from([0.1, 1e-200, 1e200])
)


@st.composite
def layers_over_staircases(draw):
    values = draw(st.lists(numbers, min_size=2, max_size=3, unique=True))
    activation = draw(st.sampled_from([STEP, Staircase((0.0, 1.0, 2.0)), ARGMAX]))
    weights = draw(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=3, max_size=3))
    ends = draw(st.lists(st.lists(numbers, min_size=2, max_size=2).map(sorted), min_size=3, max_size=3))
    thresholds = np.array(ends) if activation.n_thresholds == 2 else np.array(ends)[:, 0]
    return values, Layer(weights, thresholds, activation)


@settings(max_examples=150)
@given(layers_over_staircases())
def test_sums_over_bits_give_the_levels_of_the_layer(case):
    values, layer = case
    sums = over_bits(layer, values)
    for levels in itertools.product(range(len(values)), repeat=3):
        bits = [int(i < level) for level in levels for i in range(len(values) - 1)]
        expected = Network((layer,)).levels([[values[level] for level in levels]])[0][0]
        totals = [sum(w * b for w, b in zip(row, bits, strict=True)) for row in sums.weights]
        if layer.activation == ARGMAX:
            scores = [sums.factor * total - end for total, (end,) in zip(totals, sums.thresholds, strict=True)]
            assert scores.index(max(scores)) == expected[0]
        else:
            found = [sum(total >= end for end in ends) for total, ends in zip(totals, sums.thresholds, strict=True)]
            assert found == expected.tolist()


@given(st.integers(-(10**40), 10**40), st.integers(4, 40))
def test_digits_add_up_to_the_number(value, n_bits):
    found = digits(value, n_bits, n_digits(abs(value), n_bits))
    assert sum(digit << (n_bits * k) for k, digit in enumerate(found)) == value
    assert all(-(2 ** (n_bits - 1)) <= digit < 2 ** (n_bits - 1) for digit in found)


def test_a_number_of_more_digits_is_no_number_of_fewer():
    with pytest.raises(OverflowError):
        digits(1 << 40, 8, 3)
