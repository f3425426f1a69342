"""Networks answer exactly, print readably and survive JSON bit for bit."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import rational_answers
from conftest import XOR, random_network
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.network import Layer, Network
from stepnet.model.votes import majority

XOR_NETWORK = Network((Layer([[1, 1], [-1, -1]], [0.5, -1.5]), Layer([[1, 1]], [1.5])))


def test_xor_network_computes_xor():
    assert XOR_NETWORK.predict(XOR).tolist() == [0, 1, 1, 0]
    assert XOR_NETWORK.widths == (2, 1)
    assert XOR_NETWORK.levels(XOR)[0].tolist() == [[0, 1], [1, 1], [1, 1], [1, 0]]


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.sampled_from([(), (3,), (2, 3), (2, 2, 2)]), st.booleans())
def test_predict_equals_rational_forward_pass(seed, hidden, integer):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 3, hidden, integer=integer)
    X = np.round(rng.normal(size=(8, 3)) * 4) / 4
    layers = [(layer.weights, layer.thresholds) for layer in network.layers]
    assert network.predict(X).tolist() == rational_answers(layers, X).tolist()


def test_decision_is_positive_exactly_where_the_answer_is_one():
    network = Network((Layer([[1.0, 1.0]], [0.3]),))
    X = np.array([[0.1, 0.2], [0.15, 0.15], [0.1, 0.1999], [0.3, 0.0]])
    decision = network.decision(X)
    assert ((decision > 0) == (network.predict(X) == 1)).all()
    assert decision[3] == 5e-324


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_json_gives_the_same_network_back(seed):
    network = random_network(np.random.default_rng(seed), 4, (3, 2))
    assert Network.from_dict(json.loads(json.dumps(network.to_dict()))) == network


def test_margin_is_the_distance_to_the_nearest_hyperplane():
    network = Network((Layer([[3.0, 4.0], [0.0, 0.0]], [5.0, 1.0]), Layer([[1, 1]], [1])))
    assert network.margin([[0, 0], [3, 4]]) == pytest.approx(1.0)
    assert Network((Layer([[0.0]], [1.0]),)).margin([[1.0]]) == np.inf


def test_only_hyperplanes_that_an_answer_hangs_on_count():
    network = Network((Layer([[1.0], [1.0]], [0.5, 10.0]), Layer([[1, 1]], [0.5])))  # x >= 0.5 or x >= 10
    assert network.hangs_on([[0], [9], [11]], 1).tolist() == [True, False, False]
    assert network.margin([[0], [9], [11]]) == pytest.approx(0.5)
    assert network.margin([[11]]) == np.inf
    assert network.n_weights == 4


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_a_majority_is_one_network_that_answers_like_the_vote(seed, n_members):
    rng = np.random.default_rng(seed)
    members = [random_network(rng, 3, [(), (2,), (2, 3)][rng.integers(3)]) for _ in range(n_members)]
    X = rng.normal(size=(40, 3))
    votes = sum(member.predict(X) for member in members)
    assert (majority(members).predict(X) == (votes > n_members / 2)).all()


def test_many_rows_are_answered_in_chunks_like_few():
    network = random_network(np.random.default_rng(1), 20, (5,))
    X = np.random.default_rng(2).normal(size=(300_000, 20))
    assert (network.predict(X)[250_000:] == network.predict(X[250_000:])).all()
    assert network.predict(X[:0]).shape == (0,)


def test_summary_names_features_and_neurons():
    text = XOR_NETWORK.summary(["rain", "sun"])
    assert "h1: on where rain + sun ≥ 0.5" in text
    assert "output: 1 where h1 and h2, else 0" in text


@pytest.mark.parametrize(
    ("weights", "thresholds"), [([[1, 2]], [1, 2]), ([[np.nan]], [0]), ([[1]], [np.inf]), ([[[1]]], [0])]
)
def test_damaged_layers_are_refused(weights, thresholds):
    with pytest.raises(InvalidInputError):
        Layer(weights, thresholds)


def test_layers_must_fit_and_rows_too():
    with pytest.raises(InvalidInputError, match="cannot feed"):
        Network((Layer([[1, 1]], [0]), Layer([[1, 1]], [0])))
    with pytest.raises(InvalidInputError, match="at least one layer"):
        Network(())
    with pytest.raises(InvalidInputError, match="2 features"):
        XOR_NETWORK.predict([[1, 2, 3]])


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"layers": 3},
        {"layers": [{"activation": "relu", "weights": [[1]], "thresholds": [0]}]},
        {"layers": [{"activation": "step", "weights": [["a"]], "thresholds": [0]}]},
        {"layers": []},
    ],
)
def test_damaged_network_data_are_refused(data):
    with pytest.raises(ModelFileError):
        Network.from_dict(data)


def test_layers_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        XOR_NETWORK.layers[0].weights[0, 0] = 7


def test_a_neuron_is_replaced_alone():
    network = Network((Layer([[1.0], [2.0]], [0.0, 1.0]), Layer([[1.0, 1.0]], [0.5])))
    other = network.with_neuron(1, Layer([[5.0]], [7.0]))
    assert other.layers[0] == Layer([[1.0], [5.0]], [0.0, 7.0])
    assert other.layers[1] == network.layers[1]


def test_used_features_reach_an_answer_by_non_zero_weights():
    first = Layer([[1.0, 0.0, 0.0, 2.0], [0.0, 3.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]], [0.0, 0.0, 0.0])
    network = Network((first, Layer([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0.5, 0.5])))
    assert [bits.tolist() for bits in network.used_neurons] == [[True, False, False], [True, False]]
    assert network.used_features == (0, 3)  # the second output neuron does not answer
    argmax = Network((first, Layer([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0.5, 0.5], ARGMAX)))
    assert argmax.used_features == (0, 1, 3)
    X = np.random.default_rng(0).normal(0, 1, (50, 4))
    assert (network.on_features([3, 0]).predict(X[:, [3, 0]]) == network.predict(X)).all()
    with pytest.raises(InvalidInputError, match=r"uses the features \(0, 3\); got \(0, 1\) only"):
        network.on_features([0, 1])
