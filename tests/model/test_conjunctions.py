"""Sums of conjunctions: the same values and answers as layer by layer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepnet.model import conjunctions
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP, Staircase
from stepnet.model.conjunctions import SumOfConjunctions
from stepnet.model.network import Layer, Network
from stepnet.model.sums import on_one_grid


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Networks of a few neurons are read this way too."""
    monkeypatch.setattr(conjunctions, "_MANY", 1)
    monkeypatch.setattr(conjunctions, "_CELLS", 64 * 8)  # words of rows at a time


def network_of(rng, n_outputs, activation, n_features=3, n_bits=6, n_ands=9):
    """Questions of one feature and neurons of all of them, random ANDs, and an output."""
    weights = rng.normal(size=(n_bits, n_features))
    simple = rng.random(n_bits) < 0.6
    weights[simple] = np.eye(n_features)[rng.integers(n_features, size=int(simple.sum()))]
    first = Layer(weights, rng.integers(-2, 3, n_bits).astype(float))
    signs = rng.integers(-1, 2, size=(n_ands, n_bits)).astype(float)
    signs[np.arange(n_ands), rng.integers(n_bits, size=n_ands)] = rng.choice([-1.0, 1.0], n_ands)
    n_on = (signs > 0).sum(axis=1)
    second = Layer(signs, n_on - rng.choice([0.0, 0.25, 0.5], n_ands))
    shape = activation.threshold_shape(n_outputs)
    out, thresholds = on_one_grid([rng.normal(size=(n_outputs, n_ands)), np.sort(rng.normal(size=shape), axis=-1)])
    return Network((first, second, Layer(out, thresholds, activation)))


OUTPUTS = [(1, STEP), (3, ARGMAX), (2, IDENTITY), (1, Staircase((0.0, 1.0, 2.0)))]


@pytest.mark.parametrize(("n_outputs", "activation"), OUTPUTS)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.sampled_from([0, 1, 63, 64, 65, 150]))
def test_values_and_levels_are_those_of_the_layers(n_outputs, activation, seed, n_rows):
    rng = np.random.default_rng(seed)
    network = network_of(rng, n_outputs, activation)
    X = rng.integers(-3, 4, size=(n_rows, 3)).astype(float)
    whole = SumOfConjunctions.of(network.layers)
    values, levels = whole.read(X)
    *_, (expected, expected_levels) = network.forward(X)
    assert (levels == expected_levels).all()
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    assert (network.predict(X) == (values if activation is IDENTITY else levels[:, 0])).all()


def test_a_row_on_a_cut_answers_yes():
    first = Layer(np.eye(2), [0.1, 0.3])
    network = Network((first, Layer([[1.0, 0.0], [1.0, -1.0]], [0.5, 0.5]), Layer([[1.0, 2.0]], [2.0])))
    assert SumOfConjunctions.of(network.layers) is not None
    assert network.predict([[0.1, 0.3], [0.1, 0.2], [np.nextafter(0.1, 0), 0.2]]).tolist() == [0, 1, 0]


def test_ties_of_sums_are_exact():
    # 0.1 + 0.2 is more than 0.3 in floats: such weights are not on one grid, and are read layer by layer
    first, ands = Layer(np.eye(3), [0.5] * 3), Layer(np.eye(3), [0.5] * 3)
    network = Network((first, ands, Layer([[0.1, 0.2, -0.3]], [0.0])))
    assert SumOfConjunctions.of(network.layers) is None
    halves = Network((first, ands, Layer([[0.125, 0.25, -0.375]], [0.0])))
    assert SumOfConjunctions.of(halves.layers) is not None
    assert halves.predict([[1, 1, 1], [1, 0, 1]]).tolist() == [1, 0]


@pytest.mark.parametrize(
    "second",
    [
        Layer([[1.0, 1.0]], [1.0]),  # an OR
        Layer([[2.0, 1.0]], [2.5]),  # another weight
        Layer([[1.0, 1.0]], [2.5]),  # never on
        Layer([[0.0, 0.0]], [0.0]),  # always on
        Layer([[1.0, 1.0]], [2.0], Staircase((-1.0, 1.0))),
    ],
)
def test_other_layers_are_not_taken_for_ands(second):
    layers = (Layer(np.eye(2), [0.5, 0.5]), second, Layer([[1.0]], [0.5]))
    assert SumOfConjunctions.of(layers) is None
    assert len(Network(layers).predict([[0, 1], [1, 1]])) == 2
