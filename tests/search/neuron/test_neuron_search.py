"""The search for one neuron with integer or few weights: optimal on small problems, and within all constraints."""

from itertools import combinations, product

import numpy as np
import pytest

from brute_force import best_loss
from stepnet import Constraint, Integers, Lowers, Raises
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import Constraints
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.local_search import Effort, local_search, search_kernels
from stepnet.search.neuron.neuron_search import first_neuron, is_for_neuron
from stepnet.search.neuron.restricted import extended, restricted

EFFORT = Effort(moves=300, starts=2)


def problem_of(seed, *, weights=None, sparsity=None, constraints=None, threshold="neuron", hidden=(), n=4, m=20):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (m, n)).astype(float), rng.integers(0, 2, m)
    architecture = Architecture.of(n, hidden, threshold, Integers(2) if weights is None else weights)
    data = Dataset.from_rows(X, y, rng.integers(1, 4, m))
    return Problem(data, architecture, constraints=Constraints.of(architecture, sparsity, constraints))


def search(problem, seed=0, effort=EFFORT):
    found = []

    def offer(network):
        assert problem.refuses(network) is None
        found.append((problem.evaluate(network), network))
        return found[-1][0]

    local_search(problem, seed=seed, offer=offer, budget=Budget(60), effort=effort)
    return min(found, key=lambda pair: pair[0])


def least_loss(problem, values, most=np.inf, admits=lambda weights: True):
    """Over all weights and thresholds."""
    X, y, row_weights = problem.dataset.X, problem.dataset.y, problem.dataset.weights
    fixed, best = problem.architecture.fixed_threshold, np.inf
    for weights in product(values, repeat=X.shape[1]):
        if np.count_nonzero(weights) <= most and admits(weights):
            sums = X @ np.array(weights)
            thresholds = [*np.unique(sums), sums.max() + 1] if fixed is None else [fixed]
            best = min(best, *(row_weights[(sums >= t) != y].sum() for t in thresholds), np.inf)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("threshold", ["neuron", "layer", 0.5, -1.0])
@pytest.mark.parametrize("most", [None, 1, 2, 3])
def test_small_integer_problems_reach_the_optimum(most, threshold):
    for seed in range(3):
        problem = problem_of(seed, sparsity=most, threshold=threshold)
        assert search(problem)[0] == least_loss(problem, range(-2, 3), most or np.inf)


@pytest.mark.parametrize(("weights", "values"), [("ternary", (-1, 0, 1)), ("sign", (-1, 1)), ("binary", (0, 1))])
def test_every_integer_domain_reaches_the_optimum(weights, values):
    problem = problem_of(7, weights=weights)
    assert search(problem)[0] == least_loss(problem, values)


@pytest.mark.parametrize("most", [None, 2])
def test_constraints_are_honoured_and_the_optimum_within_them_is_reached(most):
    further = Constraint({(1, 0, 2): 1.0, (1, 0, 3): 1.0}, lower=1.0)
    problem = problem_of(3, sparsity=most, constraints=[Raises(0), Lowers(1), further])
    loss, network = search(problem)
    optimum = least_loss(problem, range(-2, 3), most or np.inf, lambda w: w[0] >= 0 >= w[1] and w[2] + w[3] >= 1)
    assert loss == optimum
    assert problem.refuses(network) is None


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2])
def test_few_real_weights_reach_the_optimum_of_all_supports(most):
    search_kernels().is_done(100)
    problem = problem_of(5, weights="real", sparsity=most, m=14)
    X, y, row_weights = problem.dataset.X, problem.dataset.y, problem.dataset.weights
    supports = combinations(range(4), most)
    optimum = min(best_loss(X[:, list(support)], y, (), weights=row_weights) for support in supports)
    assert search(problem)[0] == optimum


@pytest.mark.slow
def test_few_real_weights_honour_signs():
    problem = problem_of(6, weights="real", sparsity=2, constraints=[Raises(0), Lowers(1)])
    loss, network = search(problem)
    assert np.isfinite(loss)
    assert problem.refuses(network) is None


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["real", Integers(2)])
@pytest.mark.parametrize("hidden", [(), (2,)])
def test_a_void_limit_gives_the_same_networks_as_none(weights, hidden):
    search_kernels().is_done(100)
    size = 4 * 2 + 2 if hidden else 4
    free, limited = (problem_of(1, weights=weights, sparsity=most, hidden=hidden, m=30) for most in (None, size))
    assert free.constraints == limited.constraints
    (loss, network), (other_loss, other) = search(free), search(limited)
    assert loss == other_loss
    assert str(network) == str(other)


def test_the_same_seed_gives_the_same_networks():
    problem = problem_of(2, sparsity=2)
    one, two = (search(problem, seed=5)[1] for _ in range(2))
    assert (one.layers[0].weights == two.layers[0].weights).all()
    assert (one.layers[0].thresholds == two.layers[0].thresholds).all()


@pytest.mark.parametrize("weights", ["real", Integers(2)])
def test_a_network_is_no_worse_than_its_first_neuron_alone(weights):
    problem = problem_of(4, weights=weights, sparsity=4, hidden=(2,), m=30)
    alone = first_neuron(problem)
    assert alone is not None
    assert alone.constraints.total_limit == 3  # one weight passes the answer on
    assert search(problem)[0] <= search(alone)[0]


def test_a_first_neuron_for_which_no_weights_are_left_does_no_harm():
    further = Constraint({(1, 0, 0): 1.0}, lower=1.0)
    problem = problem_of(4, sparsity=1, hidden=(2,), constraints=further)
    assert np.isfinite(search(problem)[0])


def test_only_restricted_step_neurons_are_searched_this_way():
    assert not is_for_neuron(problem_of(0, weights="real"))
    assert is_for_neuron(problem_of(0, weights="real", sparsity=2))
    assert is_for_neuron(problem_of(0))
    assert not is_for_neuron(problem_of(0, hidden=(2,)))
    assert first_neuron(problem_of(0)) is None


def test_the_network_of_a_restricted_problem_has_the_same_loss_on_all_features():
    problem = problem_of(8, weights="real", sparsity=2, constraints=[Raises(3)])
    part = restricted(problem, (1, 3))
    assert [row.terms[0][0] for row in part.constraints.rows] == [(0, 0, 1)]
    assert part.dataset.n_rows <= problem.dataset.n_rows
    loss, network = search(part)
    whole = extended(network, (1, 3), 4)
    assert problem.refuses(whole) is None
    assert problem.evaluate(whole) == loss


def test_a_search_from_a_warm_start_is_no_worse_than_the_start():
    problem = problem_of(9, sparsity=2, n=8, m=60)
    loss, network = search(problem)
    found = []

    def offer(network):
        found.append(problem.evaluate(network))
        return found[-1]

    effort = Effort(moves=1, starts=1)  # ends before anything else is found
    local_search(problem, seed=1, offer=offer, budget=Budget(60), effort=effort, start=network)
    assert min(found) <= loss
