"""Sums of networks: one network with exactly the sum of the answers of its members."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP
from stepnet.model.network import Layer, Network
from stepnet.model.sums import scaled_members, sum_of
from stepnet.model.trees import one_feature


def member(rng, hidden, n_outputs, n_features=3):
    """Of any depth; neurons repeat, some are not used, and thresholds lie on rows."""
    layers, below = [], n_features
    for width in hidden:
        layers.append(Layer(rng.integers(-2, 3, size=(width, below)), rng.integers(-2, 3, size=width)))
        below = width
    last = rng.normal(size=(n_outputs, below)) * 10.0 ** rng.integers(-3, 4)
    last[:, rng.random(below) < 0.2] = 0.0
    return Network((*layers, Layer(last, rng.normal(size=n_outputs), IDENTITY)))


def rational(network, row):
    """The outputs for a row, in rational arithmetic."""
    signals = [Fraction(x) for x in row.tolist()]
    for layer in network.layers:
        sums = [
            sum((Fraction(w) * s for w, s in zip(weights, signals, strict=True)), -Fraction(t))
            for weights, t in zip(layer.weights.tolist(), layer.thresholds.tolist(), strict=True)
        ]
        signals = sums if layer is network.layers[-1] else [Fraction(int(value >= 0)) for value in sums]
    return signals


shapes = st.lists(st.sampled_from([(2,), (4,), (3, 2), (1, 1)]), min_size=1, max_size=4)


@given(st.integers(0, 2**32 - 1), shapes, st.integers(1, 3))
def test_the_sum_is_exactly_that_of_its_members(seed, hidden, n_outputs):
    rng = np.random.default_rng(seed)
    networks = [member(rng, widths, n_outputs) for widths in hidden]
    factors = rng.exponential(size=len(networks)).tolist()
    members = scaled_members(networks, factors, rng.normal(size=n_outputs))
    total = sum_of(members)
    rows = rng.integers(-3, 4, size=(5, 3)).astype(float)
    for row, answer in zip(rows, total.predict(rows), strict=True):
        expected = [sum(parts) for parts in zip(*(rational(one, row) for one in members), strict=True)]
        assert rational(total, row) == expected
        assert [Fraction(value) for value in answer.tolist()] == expected


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_members_are_the_networks_times_their_factors_and_an_offset(seed, n_outputs):
    rng = np.random.default_rng(seed)
    networks = [member(rng, (3,), n_outputs), member(rng, (2, 2), n_outputs)]
    offset, rows = rng.normal(size=n_outputs), rng.normal(size=(6, 3))
    expected = 0.3 * networks[0].predict(rows) + 2.0 * networks[1].predict(rows) + offset
    found = sum_of(scaled_members(networks, [0.3, 2.0], offset)).predict(rows)
    largest = max(np.abs(network.layers[-1].weights).max() for network in networks)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * (1.0 + largest))


def test_a_neuron_that_several_members_have_is_there_once():
    first = one_feature([(0, 1.5), (1, 0.5)], 2)
    members = [Network((first, Layer([[1.0, 2.0]], [0.0], IDENTITY))) for _ in range(3)]
    total = sum_of(members)
    assert total.widths == (2, 1)
    assert total.layers[-1].weights.tolist() == [[3.0, 6.0]]


@pytest.mark.parametrize(("output", "n_outputs"), [(STEP, 1), (ARGMAX, 4)])
def test_classes_are_read_from_the_sums(output, n_outputs):
    rng = np.random.default_rng(1)
    members = scaled_members([member(rng, (5,), n_outputs) for _ in range(3)], [1.0] * 3, np.zeros(n_outputs))
    rows = rng.normal(size=(50, 3))
    sums = sum(one.predict(rows) for one in members)
    expected = sums[:, 0] >= 0 if n_outputs == 1 else sums.argmax(axis=1)
    assert (sum_of(members, output).predict(rows) == expected).all()


def test_members_that_add_nothing_leave_the_others():
    rng = np.random.default_rng(2)
    networks = [member(rng, (4,), 1), member(rng, (3, 2), 1)]
    rows = rng.normal(size=(20, 3))
    alone = sum_of(scaled_members(networks, [1.0, 0.0], np.zeros(1)))
    np.testing.assert_allclose(alone.predict(rows), networks[0].predict(rows), rtol=1e-6)
    constant = sum_of(scaled_members(networks, [0.0, 0.0], np.array([2.5])))
    assert (constant.predict(rows) == 2.5).all()
