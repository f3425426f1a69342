"""Sparsity and linear constraints: the exact optimum is that of brute force, on every solver."""

from functools import cache

import numpy as np
import pytest

from brute_force import best_constrained_loss
from conftest import solve, solve_everywhere
from stepnet import Alternating, Constraint, Exact, Lowers, Prove, Raises, Search
from stepnet.constructions.random_network import random_network
from stepnet.formulations.registry import FORMULATIONS
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import Constraints
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem

DOMAINS = {"real": None, "ternary": [-1, 0, 1], "binary": [0, 1]}
FREE, UP, DOWN = (-1, 1), (0, 1), (-1, 0)

# weights, sparsity, constraints; what brute force is told: limits, and bounds of the weights in each layer
CASES = {
    "three weights": ("real", 3, (), {"total": 3}),
    "four weights, ternary": ("ternary", 4, (), {"total": 4}),
    "two weights in the first layer": ("real", (2, None), (), {"layers": (2, np.inf)}),
    "one weight in each layer, ternary": ("ternary", (1, 1), (), {"layers": (1, 1)}),
    "an input that only raises": ("real", None, (Raises(0),), {"bounds": ((UP, FREE), (UP, UP))}),
    "an input that only lowers, ternary": ("ternary", None, (Lowers(1),), {"bounds": ((FREE, DOWN), (UP, UP))}),
    "both, and few weights": (
        "ternary", 4, (Raises(0), Lowers(1)), {"total": 4, "bounds": ((UP, DOWN), (UP, UP))},
    ),
    "few binary weights": ("binary", 3, (), {"total": 3, "bounds": (UP, UP)}),
}  # fmt: skip


def make(name, seed=0):
    weights, sparsity, constraints, _ = CASES[name]
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (7, 2)).astype(float), rng.integers(0, 2, 7)
    data = Dataset.from_rows(X, y)
    architecture = Architecture.of(2, (2,), "neuron", weights)
    return Problem(data, architecture, constraints=Constraints.of(architecture, sparsity, constraints))


@cache
def optimum_of(name, seed=0):
    weights, _, _, told = CASES[name]
    data = make(name, seed).dataset
    assert (data.weights == 1).all()
    scale = 0.5 if weights == "real" else 1.0
    return best_constrained_loss(data.X * scale, data.y, 2, (DOMAINS[weights], DOMAINS[weights]), **told)[0]


@pytest.mark.parametrize("seed", [0, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_every_solver_finds_the_optimum_of_brute_force(name, seed):
    problem, optimum = make(name, seed), optimum_of(name, seed)
    n_solved = 0
    for solver, certificate, result in solve_everywhere(problem):
        n_solved += 1
        assert (certificate.loss, certificate.status) == (optimum, "OPTIMAL"), solver
        assert problem.refuses(result.network) is None
    assert n_solved >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_search_finds_it_too_and_alternating_keeps_the_constraints(name):
    problem, optimum = make(name), optimum_of(name)
    certificate, result = solve(problem, Search(moves=1000, starts=4), time_limit=20)
    assert certificate.loss == optimum
    assert problem.refuses(result.network) is None
    _, result = solve(problem, Alternating(), time_limit=10)
    assert problem.refuses(result.network) is None


@pytest.mark.parametrize("weights", ["real", "ternary"])
@pytest.mark.parametrize("method", [Prove(), Exact(formulation="tight")], ids=["prove", "exact"])
def test_the_fewest_weights_at_equal_loss(weights, method):
    rng = np.random.default_rng(5)
    X, y = rng.integers(-2, 3, (7, 2)).astype(float), rng.integers(0, 2, 7)
    architecture = Architecture.of(2, (2,), "neuron", weights)
    problem = Problem(Dataset.from_rows(X, y), architecture, constraints=Constraints.of(architecture, "fewest"))
    scale = 0.5 if weights == "real" else 1.0
    data = problem.dataset
    loss, fewest = best_constrained_loss(data.X * scale, data.y, 2, (DOMAINS[weights], DOMAINS[weights]))
    certificate, _ = solve(problem, method)
    assert (certificate.loss, certificate.n_weights, certificate.weights_bound) == (loss, fewest, fewest)
    assert "the fewest" in str(certificate)


@pytest.mark.parametrize("name", CASES)
def test_random_networks_satisfy_the_constraints_and_survive_the_program(name):
    problem = make(name)
    encoding = FORMULATIONS["tight"].encode(problem)[0]
    for seed in range(5):
        network = random_network(problem, np.random.default_rng(seed))
        assert problem.refuses(network) is None
        point = encoding.start(network)
        assert encoding.model.violation(np.round(point, 12)) < 1e-6 or encoding.margin
        assert (encoding.decode(point).predict(problem.dataset.X) == network.predict(problem.dataset.X)).all()


def test_a_constraint_across_weights_binds():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1]
    architecture = Architecture.of(2, (), "neuron", "ternary")
    heavier = Constraint({(1, 0, 0): 1.0, (1, 0, 1): -1.0}, lower=1.0, name="the first counts for more")
    problem = Problem(Dataset.from_rows(X, y), architecture, constraints=Constraints.of(architecture, None, [heavier]))
    certificate, result = solve(problem, Exact(formulation="tight"))
    weights = result.network.layers[0].weights[0]
    assert weights[0] - weights[1] >= 1
    assert (certificate.loss, certificate.status) == (2.0, "OPTIMAL")
    assert solve(problem, Search(moves=200, starts=3))[0].loss == 2.0
