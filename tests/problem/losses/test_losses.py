"""Losses are what they say, to the last digit, and the same on every machine."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import rational_outputs
from stepnet import Absolute, Hinge, Squared
from stepnet.bounds.conflicts import conflict_bound
from stepnet.errors import InvalidInputError
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP, Staircase
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.registry import loss_of
from stepnet.problem.problem import Problem

STAIRS = Staircase((-1.0, 0.5, 3.0))


def random_problem(seed, loss, n_outputs=2):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-6, 7)
    m, n, d = rng.integers(2, 8, 3)
    X, y = rng.normal(size=(m, n)), rng.normal(size=(m, n_outputs)) * scale
    hidden = Layer(rng.normal(size=(d, n)), np.sort(rng.normal(size=(d, 2)), axis=1), STAIRS)
    last = Layer(rng.normal(size=(n_outputs, d)) * scale, rng.normal(size=n_outputs) * scale, IDENTITY)
    architecture = Architecture.of(int(n), (int(d),), "neuron", "real", STAIRS, IDENTITY, n_outputs)
    return Problem(Dataset.from_numbers(X, y, rng.random(m) + 0.1), architecture, loss), Network((hidden, last))


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(["squared", "absolute"]))
def test_a_loss_is_that_of_rational_arithmetic(seed, name):
    loss = Squared(ridge=0.25) if name == "squared" else Absolute()
    problem, network = random_problem(seed, loss)
    layers = [(layer.weights.tolist(), layer.thresholds, layer.activation.values or None) for layer in network.layers]
    outputs = rational_outputs(layers, problem.dataset.X)
    total = Fraction(0)
    for values, numbers, weight in zip(outputs, problem.dataset.y.tolist(), problem.dataset.weights, strict=True):
        errors = [value - Fraction(number) for value, number in zip(values, numbers, strict=True)]
        total += Fraction(weight) * sum(e * e if name == "squared" else abs(e) for e in errors)
    if name == "squared":
        total += Fraction(1, 4) * sum(Fraction(w) ** 2 for w in network.layers[-1].weights.ravel().tolist())
    assert problem.evaluate(network) == pytest.approx(float(total), rel=1e-14)
    predicted = network.predict(problem.dataset.X)
    assert (predicted == [[float(value) for value in row] for row in outputs]).all()


def test_the_hinge_misses_one_or_minus_one():
    problem = Problem(
        Dataset.from_rows([[0.0], [1.0], [2.0]], [0, 1, 1], [1, 2, 4]),
        Architecture.of(1, (1,), "neuron", "real"),
        Hinge(),
    )
    network = Network((Layer([[1.0]], [1.5]), Layer([[3.0]], [0.5])))  # values -0.5, -0.5, 2.5
    assert problem.evaluate(network) == 1 * 0.5 + 2 * 1.5
    assert network.predict([[0.0], [2.0]]).tolist() == [0, 1]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([Squared(), Absolute(), Squared(ridge=1.0)]))
def test_equal_rows_cost_every_network_the_free_bound(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (8, 1)).astype(float)
    data = Dataset.from_numbers(X, rng.normal(size=(8, 1)), rng.random(8) + 0.1)
    architecture = Architecture.of(1, (1,), "neuron", "real", STEP, IDENTITY, 1)
    problem = Problem(data, architecture, loss)
    bound = conflict_bound(problem).value
    for _ in range(5):
        network = Network((Layer([[1.0]], [0.5]), Layer(rng.normal(size=(1, 1)), rng.normal(size=1), IDENTITY)))
        assert problem.evaluate(network) >= bound
    means = [np.average(data.y[data.X[:, 0] == v, 0], weights=data.weights[data.X[:, 0] == v]) for v in np.unique(X)]
    if loss == Squared() and len(means) == 2:
        best = Network((Layer([[1.0]], [0.5]), Layer([[means[1] - means[0]]], [-means[0]], IDENTITY)))
        assert problem.evaluate(best) == pytest.approx(bound)


@pytest.mark.parametrize("loss", [Squared(), Absolute()])
def test_the_free_bound_survives_large_numbers_that_hardly_differ(loss):
    y = [1e8 + 1e-4 * i for i in (0, 1, 5)] * 20 + [1e8 + 0.1]
    data = Dataset.from_numbers(np.zeros((61, 1)), y)
    problem = Problem(data, Architecture.of(1, (1,), "neuron", "real", STEP, IDENTITY, 1), loss)
    exact = [Fraction(number) for number in y]
    centre = sum(exact) / len(exact) if loss.name == "squared" else sorted(exact)[30]
    least = sum((e - centre) ** 2 if loss.name == "squared" else abs(e - centre) for e in exact)
    assert 0 < Fraction(conflict_bound(problem).value) <= least


def test_a_bound_on_the_last_layer_is_kept():
    problem, network = random_problem(0, Squared(bound=1e-9))
    assert "larger than the bound" in problem.refuses(network)
    with pytest.raises(InvalidInputError, match="bound"):
        problem.evaluate(network)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Squared(ridge=-1), "ridge"),
        (lambda: Absolute(bound=0), "bound"),
        (lambda: loss_of("hinge", "numbers"), "choose one of 'squared'"),
        (lambda: loss_of(3, "numbers"), "not known"),
    ],
)
def test_bad_losses_are_named(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
