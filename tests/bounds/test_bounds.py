"""Free bounds: conflicting rows and linear separation."""

import numpy as np
import pytest

from conftest import INSTANCES, XOR, make_problem
from stepnet.bounds.conflicts import conflict_bound
from stepnet.constructions.linear import constant_network, linear_network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem


def test_each_group_costs_all_but_its_heaviest_class():
    data = Dataset.from_rows([[0], [0], [0], [1], [1], [2]], [0, 1, 1, 0, 1, 1], [1, 1, 3, 2, 2, 9])
    assert conflict_bound(Problem(data, Architecture.of(1, (), "neuron", "real"))).value == 3
    kept = data.is_heaviest
    assert sorted(zip(data.X[kept, 0].tolist(), data.y[kept].tolist(), strict=True)) == [(0, 1), (1, 0), (2, 1)]


def test_the_bound_never_passes_the_optimum(instance):
    assert conflict_bound(instance.problem()).value <= instance.optimum


@pytest.mark.parametrize("threshold", ["neuron", "layer", 0.0, 2.0, -2.0])
@pytest.mark.parametrize("hidden", [(), (1,), (3,), (2, 2), (2, 1, 2)])
def test_separable_rows_are_separated_in_every_architecture(hidden, threshold):
    X = [[1, 1], [2, 1], [3, 5], [-1, -2], [-2, -1], [-1, -1]]
    network = linear_network(make_problem(X, [1, 1, 1, 0, 0, 0], hidden, threshold))
    problem = make_problem(X, [1, 1, 1, 0, 0, 0], hidden, threshold)
    assert problem.evaluate(network) == 0


def test_separation_up_to_conflicts_reaches_the_conflict_bound():
    problem = make_problem([[0], [0], [1], [1]], [0, 1, 1, 1], (2,), sample_weight=[5, 1, 1, 1])
    assert problem.evaluate(linear_network(problem)) == conflict_bound(problem).value == 1


def test_a_constant_network_answers_one_class():
    for code in (0, 1):
        network = constant_network(make_problem(XOR, [0, 1, 1, 0], (3, 2)), code)
        assert network.predict(XOR).tolist() == [code] * 4


def test_every_instance_gets_a_network_of_its_architecture():
    for instance in INSTANCES:
        problem = instance.problem()
        for network in (constant_network(problem, 1), linear_network(problem)):
            assert network is None or problem.evaluate(network) >= instance.optimum


def test_many_separable_rows_are_separated_from_a_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 5))
    y = (X @ rng.normal(size=5) > 0.2).astype(int)
    problem = make_problem(X, y, (2,))
    assert problem.evaluate(linear_network(problem)) == 0


def test_many_other_rows_get_the_best_neuron_of_a_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 5))
    y = (X @ rng.normal(size=5) + 0.5 * rng.normal(size=len(X)) > 0.2).astype(int)
    problem = make_problem(X, y, (2,))
    assert problem.evaluate(linear_network(problem)) < 0.2 * len(X)
