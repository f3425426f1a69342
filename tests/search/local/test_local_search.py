"""The local search: the optimum of small problems, and never a false loss."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from conftest import CUBE, PARITY, XOR, make_problem, solve
from stepnet import Exact
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.runtime.limits import Budget
from stepnet.search.local.local_search import Effort, local_search


def search(problem, seed=0, target=0.0, effort=None, n_jobs=1):
    found = []

    def offer(network):
        found.append((problem.evaluate(network), network))
        return found[-1][0]

    local_search(problem, seed=seed, offer=offer, budget=Budget(30), target=target, effort=effort, n_jobs=n_jobs)
    return min(found, key=lambda pair: pair[0])


@pytest.mark.parametrize("threshold", ["neuron", "layer", 0.5, -0.5])
@pytest.mark.parametrize("hidden", [(2,), (3,), (2, 2), (2, 1, 2)])
def test_xor_is_found_at_any_depth(hidden, threshold):
    effort = Effort(moves=5_000, starts=40)
    assert search(make_problem(XOR, [0, 1, 1, 0], hidden, threshold), effort=effort)[0] == 0


@pytest.mark.parametrize("seed", range(5))
def test_parity_is_found_from_every_seed(seed):
    assert search(make_problem(CUBE, PARITY, (3,)), seed)[0] == 0


def test_row_weights_are_minimised_not_rows():
    problem = make_problem(XOR, [0, 1, 1, 0], (1,), sample_weight=[3, 2, 5, 4])
    assert search(problem, target=2.0)[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_integer_layers_that_share_a_threshold_reach_the_optimum(seed):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng.integers(-2, 3, (12, 2)), rng.integers(0, 2, 12), (2,), "layer", "ternary")
    optimum = solve(problem, Exact(formulation="tight"))[0].loss
    loss, network = search(problem, effort=Effort(moves=1000, starts=4))
    assert loss == optimum
    assert problem.refuses(network) is None


def test_threshold_zero_and_growing_weights_end():
    rng = np.random.default_rng(3)
    problem = make_problem(rng.uniform(-1, 1, (8, 2)), rng.integers(0, 2, 8), (2,), 0.0)
    loss, network = search(problem, effort=Effort(moves=2000, starts=2))
    assert np.isfinite(loss)
    assert problem.architecture.refuses(network) is None


def test_the_same_seed_gives_the_same_network():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(40, 3)), rng.integers(0, 2, 40), (3,))
    effort = Effort(moves=2000, starts=1)
    assert search(problem, 7, effort=effort)[1] == search(problem, 7, effort=effort)[1]


def test_many_rows_begin_with_a_descent_or_a_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 4))
    y = ((X[:, 0] > 0) ^ (X[:, 1] + X[:, 2] > 0.3)).astype(int)
    for threshold in ("neuron", 0.0):  # a fixed threshold has no descent
        target = y if threshold == "neuron" else ((X[:, 0] > 0) & (X[:, 1] > X[:, 2])).astype(int)
        problem = make_problem(X, target, (8,), threshold)
        assert search(problem, effort=Effort(moves=300, starts=3), target=0.05 * len(X))[0] < 0.1 * len(X)


def test_rows_in_float32_are_the_same_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)).astype(np.float32), rng.integers(0, 2, 60)
    one, two = make_problem(X, y, (2,)), make_problem(X.astype(np.float64), y, (2,))
    assert one.dataset.X.dtype == np.float32
    assert one.dataset.fingerprint == two.dataset.fingerprint
    effort = Effort(moves=500, starts=1)
    assert search(one, effort=effort)[1] == search(two, effort=effort)[1]
    assert (one.scaling.apply(one.dataset.X) == two.scaling.apply(two.dataset.X)).all()


@pytest.mark.slow
def test_the_kernels_for_very_many_rows_find_the_same_optimum(monkeypatch):
    monkeypatch.setattr("stepnet.search.local.local_search._MANY_ROWS", 10)
    problem = make_problem(np.random.default_rng(2).uniform(-1, 1, (30, 3)), np.arange(30) % 2, (2,))
    narrow = search(problem, effort=Effort(moves=5000, starts=4))[0]
    monkeypatch.undo()
    assert narrow == search(problem, effort=Effort(moves=5000, starts=4))[0]


def test_one_neuron_on_breast_cancer_reaches_the_optimum():
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=42)
    problem = make_problem(X_train, y_train, (1,))
    assert search(problem, effort=Effort(moves=60_000, starts=3), target=9.0)[0] == 9
