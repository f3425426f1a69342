"""Layers of which nearly all weights are zero are never turned into full arrays."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from stepnet import Layer, Network
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.arithmetic import accurate_sums, ranges_of_sums
from stepnet.uncertainty.above import Above


@pytest.fixture
def no_full_arrays(monkeypatch):
    """Whoever asks a sparse layer for all of its weights fails."""

    def refused(layer):
        if layer.is_sparse:
            raise AssertionError("a sparse layer was turned into a full array")
        return layer.matrix

    monkeypatch.setattr(Layer, "weights", property(refused))


def banded(rng, width, n_inputs, per_neuron, activation):
    """Each neuron sees some neighbouring inputs, as in a convolution."""
    first = np.arange(width) * (n_inputs - per_neuron) // max(width - 1, 1)
    places = (first[:, None] + np.arange(per_neuron)).ravel()
    signs = rng.choice([-1.0, 1.0], size=width * per_neuron)
    matrix = sparse.csr_array((signs, places, per_neuron * np.arange(width + 1)), shape=(width, n_inputs))
    return Layer(matrix, rng.integers(-2, 3, width) + 0.5, activation)


def test_a_million_weights_are_evaluated_saved_and_bounded_without_a_full_array(no_full_arrays):
    rng = np.random.default_rng(0)
    first = banded(rng, 20_000, 20_000, 50, Layer([[1.0]], [0.0]).activation)  # a full array would have 3 GB
    network = Network((first, banded(rng, 10, 20_000, 200, ARGMAX)))
    assert first.is_sparse
    assert network.n_weights == 20_000 * 50 + 2_000
    X = rng.integers(0, 2, (3, 20_000)).astype(float)
    bits = Network((first,)).levels(X)[0] == 1
    last = network.layers[1]
    assert network.predict(X).tolist() == (bits @ last.matrix.T - last.thresholds).argmax(axis=1).tolist()
    again = Network.from_dict(json.loads(json.dumps(network.to_dict())))
    assert again == network
    assert len(network.used_features) == len(set(first.matrix[network.used_neurons[0]].indices.tolist()))
    assert network.margin(X[:1]) >= 0
    codes = network.predict(X)
    levels = bits.astype(int)
    assert not Above(network).could_miss(levels, levels, codes).any()
    assert Above(network).could_miss(levels * 0, levels * 0 + 1, codes).all()


def test_the_margin_of_sparse_layers_is_that_of_full_ones(no_full_arrays):
    rng = np.random.default_rng(1)
    layers = banded(rng, 200, 300, 5, Layer([[1.0]], [0.0]).activation), banded(rng, 3, 200, 5, ARGMAX)
    assert layers[0].is_sparse
    X = rng.normal(size=(5, 300))
    (one, two), values = layers, X @ layers[0].matrix.toarray().T - layers[0].thresholds
    above = Network((two,))
    expected = np.inf
    for i, j in np.ndindex(*values.shape):
        bits = (values[i] >= 0).astype(float)
        changed = bits.copy()
        changed[j] = 1 - changed[j]
        if above.predict(bits[None]) != above.predict(changed[None]):
            expected = min(expected, abs(values[i, j]) / np.sqrt(5))
    assert Network(layers).margin(X) == pytest.approx(expected, rel=1e-12)
    assert one.row(7).tolist() == one.matrix.toarray()[7].tolist()


def test_outputs_that_are_numbers_may_be_sparse(no_full_arrays):
    rng = np.random.default_rng(2)
    layer = banded(rng, 200, 300, 5, IDENTITY)
    X = rng.normal(size=(4, 300))
    full = accurate_sums(X, layer.matrix.toarray(), layer.thresholds)
    assert layer.is_sparse
    np.testing.assert_array_equal(Network((layer,)).predict(X), full)


entries = st.one_of(st.just(0.0), st.just(1.0), st.just(0.1), st.just(-1e16), st.floats(-1e3, 1e3))


@given(st.data())
def test_sums_and_their_ranges_are_those_of_full_weights(data):
    m, n, d = (data.draw(st.integers(1, 4)) for _ in range(3))

    def draw(*shape):
        size = int(np.prod(shape))
        return np.array(data.draw(st.lists(entries, min_size=size, max_size=size))).reshape(shape)

    inputs, weights, thresholds = draw(m, n), draw(d, n), draw(d)
    kept = sparse.csr_array(weights)
    np.testing.assert_array_equal(accurate_sums(inputs, kept, thresholds), accurate_sums(inputs, weights, thresholds))
    for one, other in zip(
        ranges_of_sums(kept, inputs, inputs + 1), ranges_of_sums(weights, inputs, inputs + 1), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-3)
