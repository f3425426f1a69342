"""Polish: never a larger loss, never a smaller margin, and where few weights are asked for never more of them."""

from dataclasses import replace

import numpy as np
import pytest

from climbers import CASES, WITH_CLASSES, Climbing, Compiled, made
from conftest import make_problem
from stepnet import Ball, Layer, Network, attack
from stepnet.search.polish.polish import centred, polished
from stepnet.search.polish.robust import robustly_polished

SEEDS = range(2)
# What polish has something to do for.
STEPS = ("one hidden layer", "two hidden layers", "rows on a lattice", "a single neuron")


def found(name, seed):
    """A network as a search leaves it: anywhere between the rows."""
    problem = made(name, seed)
    climber = Climbing(problem, seed)
    for _ in range(60):
        climber.move()
    return problem, climber.network


def not_smaller(margin, other):
    return margin >= other * (1 - 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CASES)
def test_the_loss_never_rises_and_the_network_stays_one_of_the_problem(name, seed):
    problem, network = found(name, seed)
    for better in (centred(problem, network), polished(problem, network), polished(problem, network, sparse=True)):
        assert problem.refuses(better) is None
        assert problem.evaluate(better) <= problem.evaluate(network)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", WITH_CLASSES)
def test_the_margin_never_shrinks(name, seed):
    problem, network = found(name, seed)
    X = problem.dataset.X
    better = polished(problem, network)
    assert not_smaller(better.margin(X), network.margin(X))


@pytest.mark.parametrize("name", STEPS)
def test_it_widens_the_margins_that_a_search_leaves(name):
    margins = []
    for seed in range(3):
        problem, network = found(name, seed)
        X = problem.dataset.X
        margins.append([one.margin(X) for one in (network, centred(problem, network), polished(problem, network))])
    before, middle, after = np.array(margins).T
    assert not_smaller(after, middle).all()
    assert (after > 1.01 * before).any()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", STEPS)
def test_sparse_polish_never_adds_weights(name, seed):
    problem, network = found(name, seed)
    thin = polished(problem, network, sparse=True)
    assert thin.n_weights <= network.n_weights
    assert polished(problem, thin, sparse=True).n_weights <= thin.n_weights


@pytest.mark.parametrize("seed", range(10))
def test_sparse_polish_leaves_a_weight_that_is_enough_alone(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 8))
    y = X[:, 0] > 0
    X[:, 1:] += np.where(y, 0.5, -0.5)[:, None] * rng.random(7)  # others would do together, with a wider margin
    problem = make_problem(X, y, (1,))
    network = Network((Layer([[1.0] + [0.0] * 7], [0.0]), Layer([[1.0]], [0.5])))
    assert polished(problem, network, sparse=True).n_weights == 2


def test_sparse_polish_drops_what_tells_no_rows_apart():
    X = np.column_stack([np.arange(8.0) - 3.5, np.tile([0.3, -0.2], 4), np.tile([0.1, 0.4, -0.3, 0.2], 2)])
    problem = make_problem(X, X[:, 0] > 0, (1,))
    crooked = Network((Layer([[1.0, 0.5, 0.5]], [0.1]), Layer([[1.0]], [0.5])))
    assert problem.evaluate(crooked) == 0
    thin = polished(problem, crooked, sparse=True)
    assert problem.evaluate(thin) == 0
    assert np.count_nonzero(thin.layers[0].weights) == 1


@pytest.mark.parametrize("name", STEPS)
def test_told_to_stop_it_only_centres(name):
    problem, network = found(name, 0)
    assert polished(problem, network, should_stop=lambda: True) == centred(problem, network)


@pytest.mark.parametrize("threshold", ["neuron", "layer", 0.5])
def test_centring_keeps_the_answers_and_moves_every_neuron_away_from_the_rows(threshold):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    problem = make_problem(X, y, (3,), threshold)
    climber = Compiled(problem, 0)
    climber.moves(500)
    network = climber.best_network
    better = centred(problem, network)
    assert (better.predict(X) == network.predict(X)).all()
    assert problem.architecture.refuses(better) is None

    def distances(layer):
        lengths = np.linalg.norm(layer.weights, axis=1)
        return np.abs(X @ layer.weights.T - layer.thresholds).min(axis=0) / lengths

    assert (distances(better.layers[0]) >= distances(network.layers[0]) * 0.999).all()


def test_polish_keeps_the_worst_case_and_moves_neurons_away():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    X = X[np.abs(X[:, 0]) > 0.4]
    y = (X[:, 0] > 0).astype(int)
    problem = replace(make_problem(X, y, (1,)), uncertainty=Ball("linf", 0.2))
    crooked = Network((Layer([[1.0, 0.05]], [0.1]), Layer([[1.0]], [0.5])))
    assert problem.evaluate(crooked) == 0
    for better in (robustly_polished(problem, crooked), polished(problem, crooked)):
        assert problem.evaluate(better) == 0
        assert attack(better, X).radii.min() > attack(crooked, X).radii.min() + 0.05
    assert robustly_polished(problem, crooked, lambda: True) == crooked
