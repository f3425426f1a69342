"""The best last layer for given signals."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, QuantileRegressor, Ridge

from stepnet import Absolute, Hinge, Squared
from stepnet.constructions.last_layer import best_last_layer, cautious_last_layer, refitted
from stepnet.constructions.random_network import random_network
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget


def make(loss, n_outputs=2, *, intercept=True):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=(30, n_outputs))
    architecture = Architecture.of(3, (4,), "neuron", "real", STEP, IDENTITY, n_outputs, intercept)
    problem = Problem(Dataset.from_numbers(X, y, rng.random(30) + 0.5), architecture, loss)
    return problem, (rng.random((30, 4)) < 0.5).astype(float)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_squared_errors_as_scikit_learn_has_it(ridge, intercept):
    problem, signals = make(Squared(ridge=ridge), intercept=intercept)
    data = problem.dataset
    model = Ridge(ridge, fit_intercept=intercept) if ridge else LinearRegression(fit_intercept=intercept)
    model.fit(signals, data.y, data.weights)
    weights, intercepts = best_last_layer(problem, signals, Budget())
    np.testing.assert_allclose(weights, model.coef_, atol=1e-9)
    np.testing.assert_allclose(intercepts, model.intercept_ if intercept else np.zeros(2), atol=1e-9)


def test_absolute_errors_as_scikit_learn_has_it():
    problem, signals = make(Absolute(), 1)
    data = problem.dataset
    model = QuantileRegressor(alpha=0, solver="highs").fit(signals, data.y[:, 0], data.weights)
    weights, intercepts = best_last_layer(problem, signals, Budget())
    ours = data.weights @ np.abs(signals @ weights[0] + intercepts[0] - data.y[:, 0])
    assert ours == pytest.approx(data.weights @ np.abs(model.predict(signals) - data.y[:, 0]))


@pytest.mark.parametrize("loss", [Squared(bound=0.1), Absolute(bound=0.1)])
def test_bounds_are_kept(loss):
    problem, signals = make(loss)
    weights, _ = best_last_layer(problem, signals, Budget())
    assert np.abs(weights).max() <= 0.1


@pytest.mark.parametrize("loss", [Squared(), Absolute(), Squared(ridge=1.0), Squared(bound=0.3)])
def test_refitting_never_costs_more(loss):
    problem, _ = make(loss)
    for seed in range(5):
        network = random_network(problem, np.random.default_rng(seed))
        better = refitted(problem, network)
        assert problem.evaluate(better) <= problem.evaluate(network)
        assert better.layers[0] == network.layers[0]


def test_the_hinge_of_separable_rows_is_zero():
    data = Dataset.from_rows([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0])
    problem = Problem(data, Architecture.of(1, (2,), "neuron", "real"), Hinge())
    signals = np.column_stack([data.X[:, 0] > 0.5, data.X[:, 0] > 2.5]).astype(float)
    weights, intercepts = best_last_layer(problem, signals, Budget())
    values = signals @ weights.T + intercepts
    assert problem.loss.costs(values, data.y).sum() == pytest.approx(0, abs=1e-9)


def test_noise_is_shrunk_more_than_signal():
    problem, signals = make(Squared(), 1)
    noise, _ = cautious_last_layer(problem, signals, Budget())
    plain, _ = best_last_layer(problem, signals, Budget())
    assert np.linalg.norm(noise) < 0.7 * np.linalg.norm(plain)
    given, _ = cautious_last_layer(make(Squared(ridge=1e-9), 1)[0], signals, Budget())
    np.testing.assert_allclose(given, plain, atol=1e-6)


@pytest.mark.parametrize(
    "loss", [Squared(bound=0.1), Absolute(bound=0.1), Hinge(bound=0.1)], ids=lambda loss: loss.name
)
def test_without_time_the_layer_is_still_admitted(loss):
    problem, signals = make(loss, 1)
    problem = (
        replace(problem, dataset=Dataset.from_rows(problem.dataset.X, problem.dataset.y[:, 0] > 0))
        if loss.name == "hinge"
        else problem
    )
    used_up = Budget(1e-9)
    weights, intercepts = best_last_layer(problem, signals, used_up)
    assert weights.shape == (1, 4)
    assert np.abs(weights).max() <= loss.bound
    assert np.isfinite(intercepts).all()


@pytest.mark.parametrize("kind", ["equal columns", "a column of zeros", "one row", "no column varies"])
@pytest.mark.parametrize("loss", [Squared(), Squared(bound=0.2), Absolute(), Absolute(bound=0.2)], ids=str)
def test_degenerate_signals_have_a_best_layer_as_well(loss, kind):
    problem, signals = make(loss, 1)
    if kind == "equal columns":
        signals[:, 1] = signals[:, 0]
    elif kind == "a column of zeros":
        signals[:, 1] = 0.0
    elif kind == "no column varies":
        signals[:] = signals[0]
    else:
        data = problem.dataset
        problem = replace(problem, dataset=Dataset(data.X[:1], data.y[:1], data.weights[:1]))
        signals = signals[:1]
    weights, intercepts = best_last_layer(problem, signals, Budget())
    assert np.isfinite(weights).all()
    assert np.abs(weights).max() <= (loss.bound or np.inf)
    data = problem.dataset
    reached = float(data.weights @ loss.costs(signals @ weights.T + intercepts, data.y)[:, 0])
    rng = np.random.default_rng(0)
    for _ in range(50):  # no layer beside it is better
        size = 10.0 ** -rng.integers(1, 6)
        other = np.clip(weights + size * rng.normal(size=weights.shape), -(loss.bound or np.inf), loss.bound or np.inf)
        shift = intercepts + size * rng.normal(size=1)
        assert reached <= float(data.weights @ loss.costs(signals @ other.T + shift, data.y)[:, 0]) + 1e-9 * (
            1 + reached
        )
