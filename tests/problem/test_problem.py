"""Problems: what is admitted, and the exact loss."""

import numpy as np
import pytest

from brute_force import rational_loss
from conftest import make_problem, random_network, solve
from stepnet import Search
from stepnet.errors import InvalidInputError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import STEP
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.problem.weights import Integers, weight_domain


@pytest.mark.parametrize("threshold", ["neuron", "layer", 0.0, 0.5])
def test_loss_equals_the_rational_loss_on_the_original_rows(threshold, rng):
    X, y, w = rng.integers(0, 3, (30, 2)), rng.integers(0, 2, 30), rng.integers(1, 5, 30)
    problem = make_problem(X, y, (3,), threshold, sample_weight=w)
    for _ in range(20):
        network = random_network(rng, 2, (3,), threshold)
        layers = [(layer.weights, layer.thresholds) for layer in network.layers]
        assert problem.evaluate(network) == rational_loss(layers, X, y, w)


def test_networks_of_another_architecture_are_refused(rng):
    problem = make_problem([[0, 0], [1, 1]], [0, 1], (2,), "layer")
    with pytest.raises(InvalidInputError, match="widths"):
        problem.evaluate(random_network(rng, 2, (3,), "layer"))
    with pytest.raises(InvalidInputError, match="threshold='layer'"):
        problem.evaluate(random_network(rng, 2, (2,)))
    ternary = make_problem([[0, 0], [1, 1]], [0, 1], (), weights="ternary")
    with pytest.raises(InvalidInputError, match="not ternary"):
        ternary.evaluate(Network((Layer([[2, 0]], [0]),)))


@pytest.mark.parametrize("hidden", [(0,), (-1,), (2, 0), "25", (2.5,), None, (True,), 0, [[2]]])
def test_bad_widths_are_refused(hidden):
    with pytest.raises(InvalidInputError, match=r"hidden=.*positive integers"):
        Architecture.of(2, hidden, "neuron", "real")


@pytest.mark.parametrize("threshold", ["both", np.nan, np.inf, None, True, (0,)])
def test_bad_thresholds_are_refused(threshold):
    with pytest.raises(InvalidInputError, match="'neuron', 'layer' or a finite number"):
        Architecture.of(2, (2,), threshold, "real")


@pytest.mark.parametrize("weights", ["octal", 3, None])
def test_bad_domains_are_refused(weights):
    with pytest.raises(InvalidInputError, match="'ternary'"):
        weight_domain(weights)


@pytest.mark.parametrize("largest", [0, -1, 1.5, True])
def test_integers_need_a_positive_integer(largest):
    with pytest.raises(InvalidInputError, match="P >= 1"):
        Integers(largest)


def test_a_number_is_a_layer_and_nothing_a_single_neuron():
    assert Architecture.of(2, 3, "neuron", "real").hidden == (3,)
    assert Architecture.of(2, np.int64(3), np.float64(0), "real").threshold == 0.0
    assert Architecture.of(2, (), "neuron", "real").widths == (1,)


@pytest.mark.parametrize("threshold", ["layer", 0.0])
def test_compared_outputs_have_no_thresholds_of_their_own_where_those_are_shared(threshold):
    """Programs fix them at 0 there, so a network that has them is outside the scope of a bound."""
    architecture = Architecture.of(1, (), threshold, "real", STEP, ARGMAX, 3)
    weights = [[-1.0], [0.0], [1.0]]
    assert architecture.refuses(Network((Layer(weights, [0.0, 0.0, 0.0], ARGMAX),))) is None
    assert "different thresholds" in architecture.refuses(Network((Layer(weights, [0.0, -1.0, 0.0], ARGMAX),)))
    problem = Problem(Dataset.from_rows([[-1.0], [2.0], [3.0]], [0, 1, 2]), architecture)
    certificate, _ = solve(problem, Search(moves=300, starts=2))
    assert certificate.loss == 1  # class 1 lies within class 2 without a threshold
