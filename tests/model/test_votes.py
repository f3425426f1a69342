"""Votes of networks: the same answers as their members, few of whose weights are kept, and their margin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.arithmetic import activations, argmax
from stepnet.model.network import Layer, Network
from stepnet.model.votes import majority, pairwise_votes


def member(rng, n_features=3, width=4):
    first = Layer(rng.normal(size=(width, n_features)), rng.normal(size=width))
    return Network((first, Layer(rng.normal(size=(1, width)), rng.normal(size=1))))


def vote(rng, n_classes=4, rounds=1):
    return pairwise_votes([member(rng) for _ in range(rounds * n_classes * (n_classes - 1) // 2)], n_classes)


def brute_force_margin(network, X):
    """By flipping every first-layer bit of every row."""
    first, above = network.layers[0], Network(network.layers[1:])
    bits = network.levels(X)[0]
    distances = [np.inf]
    for row, on in zip(X, bits, strict=True):
        for j in range(first.width):
            other = on.copy()
            other[j] = 1 - on[j]
            signals = np.array([first.outputs(on), first.outputs(other)])
            if len(set(above.predict(signals).tolist())) > 1:
                w = first.weights[j]
                distances.append(abs(w @ row - first.thresholds[j]) / np.linalg.norm(w))
    return min(distances)


@pytest.mark.parametrize("seed", range(8))
def test_the_margin_of_a_vote_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    network = vote(rng, rounds=1 + seed % 3)
    assert network.margin(X) == pytest.approx(brute_force_margin(network, X))


@pytest.mark.parametrize("seed", range(8))
def test_the_margin_of_deep_networks_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(25, 3)).astype(float)
    layers = [Layer(rng.integers(-2, 3, size=(5, 3)), rng.integers(-1, 2, 5) + 0.5)]
    layers += [Layer(rng.integers(-1, 2, size=(5, 5)), rng.integers(0, 2, 5)) for _ in range(2)]  # with ties
    network = Network((*layers, Layer(rng.integers(-1, 2, size=(3, 5)), np.zeros(3), ARGMAX)))
    lengths = np.linalg.norm(layers[0].weights, axis=1)
    if (lengths > 0).all():
        assert network.margin(X) == pytest.approx(brute_force_margin(network, X))


def test_a_margin_that_must_stop_is_unknown():
    rng = np.random.default_rng(0)
    network, X = vote(rng), rng.normal(size=(10, 3))
    assert network.margin_unless(X, lambda: True) is None
    assert network.margin_unless(X, lambda: False) == network.margin(X)


def test_neurons_that_nobody_reads_are_left_out_of_a_vote():
    rng = np.random.default_rng(1)
    members = [member(rng) for _ in range(3)]
    idle = [
        Network((one.layers[0], Layer(one.layers[1].weights * [[1, 0, 0, 0]], one.layers[1].thresholds)))
        for one in members
    ]
    X = rng.normal(size=(40, 3))
    assert majority(idle).widths == (3, 3, 1)
    votes = sum(one.predict(X) for one in idle)
    assert majority(idle).predict(X).tolist() == (votes >= 2).astype(int).tolist()


def test_a_vote_of_many_classes_is_small_and_comes_back_from_a_file():
    rng, n_classes = np.random.default_rng(2), 40
    members = [member(rng, width=10) for _ in range(n_classes * (n_classes - 1) // 2)]
    network = pairwise_votes(members, n_classes)
    assert network.layers[1].is_sparse
    assert network.layers[1].n_weights == 10 * len(members)
    X = rng.normal(size=(20, 3))
    again = Network.from_dict(network.to_dict())
    assert again == network
    assert again.predict(X).tolist() == network.predict(X).tolist()
    full = [Layer(layer.weights * 1.0, layer.thresholds, layer.activation) for layer in network.layers]
    votes = np.zeros((20, n_classes), dtype=int)
    pairs = [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    for (a, b), one in zip(pairs, members, strict=True):
        bits = one.predict(X)
        votes[np.arange(20), np.where(bits == 1, b, a)] += 1
    assert network.predict(X).tolist() == votes.argmax(axis=1).tolist()
    assert Network(tuple(full)) == network


entries = st.one_of(st.just(0.0), st.just(1.0), st.just(0.1), st.just(-1e16), st.floats(-1e3, 1e3))


@given(st.data())
def test_sparse_weights_give_the_exact_signs_and_answers_of_full_ones(data):
    m, n, d = (data.draw(st.integers(1, 4)) for _ in range(3))

    def draw(*shape):
        size = int(np.prod(shape))
        return np.array(data.draw(st.lists(entries, min_size=size, max_size=size))).reshape(shape)

    inputs, weights, thresholds = draw(m, n), draw(d, n), draw(d)
    if data.draw(st.booleans()):  # rows on the hyperplane, up to rounding
        thresholds[0] = inputs[0] @ weights[0]
    kept = sparse.csr_array(weights)
    kept.eliminate_zeros()
    assert activations(inputs, kept, thresholds)[1].tolist() == activations(inputs, weights, thresholds)[1].tolist()
    assert argmax(inputs, kept, thresholds)[1].tolist() == argmax(inputs, weights, thresholds)[1].tolist()
