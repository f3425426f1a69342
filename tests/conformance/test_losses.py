"""Squared, absolute and hinge losses: the exact optimum is that of brute force, on every solver."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from brute_force import best_real_loss
from conftest import AVAILABLE, solve, solve_everywhere
from stepnet import Absolute, Alternating, Exact, Hinge, Search, Squared
from stepnet.constructions.random_network import random_network
from stepnet.formulations.registry import FORMULATIONS
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.solvers.backends.registry import BACKENDS

# loss, outputs, intercept
CASES = {
    "squared": (Squared(), 1, True),
    "squared, two outputs": (Squared(), 2, True),
    "squared with a ridge": (Squared(ridge=0.5), 1, True),
    "squared with a bound": (Squared(bound=1.0), 1, True),
    "squared without intercept": (Squared(), 1, False),
    "absolute": (Absolute(), 1, True),
    "absolute, two outputs": (Absolute(), 2, True),
    "absolute with a bound": (Absolute(bound=1.0), 1, True),
    "hinge": (Hinge(), 1, True),
    "hinge with a bound": (Hinge(bound=0.75), 1, True),
}

LONG = {"squared with a ridge", "squared, two outputs", "absolute, two outputs"}
MARKED = [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in CASES]


def make(name, seed=0, weights="real"):
    loss, n_outputs, intercept = CASES[name]
    rng = np.random.default_rng(seed)
    m = 6
    X, row_weights = rng.integers(-2, 3, (m, 2)).astype(float), rng.integers(1, 4, m).astype(float)
    if loss.name == "hinge":
        data = Dataset.from_rows(X, rng.integers(0, 2, m), row_weights)
        architecture = Architecture.of(2, (2,), "neuron", (weights, "real"))
    else:
        data = Dataset.from_numbers(X, np.round(rng.normal(size=(m, n_outputs)), 2), row_weights)
        architecture = Architecture.of(2, (2,), "neuron", weights, STEP, IDENTITY, n_outputs, intercept)
    return Problem(data, architecture, loss)


@cache
def optimum_of(name):
    problem, (loss, _, intercept) = make(name), CASES[name]
    data, limit = problem.dataset, loss.bound
    y = 2.0 * data.y - 1 if loss.name == "hinge" else data.y
    if limit is None:
        limit = 4.0 if loss.name == "hinge" else 2 * np.ptp(y, axis=0).max() if intercept else 4 * np.abs(y).max()
    kind, ridge = loss.name, getattr(loss, "ridge", 0.0)
    return best_real_loss(data.X / 2, y, data.weights, 2, kind, ridge=ridge, limit=limit, intercept=intercept)


@pytest.mark.slow
@pytest.mark.parametrize("name", MARKED)
def test_every_solver_finds_the_optimum_of_brute_force(name):
    problem, optimum = make(name), optimum_of(name)
    assert not BACKENDS["cpsat"].accepts(FORMULATIONS["tight"].encode(problem)[0].model)
    n_solved = 0
    for solver, certificate, result in solve_everywhere(problem, time_limit=60):
        n_solved += 1
        assert certificate.status == "OPTIMAL", solver
        assert certificate.loss == pytest.approx(optimum, rel=1e-6, abs=1e-7)
        assert certificate.bound <= optimum + 1e-7
        assert all(claim.is_true for claim in result.claims)
        assert problem.loss.measure in str(certificate)
    assert n_solved >= 2


@pytest.mark.parametrize("name", MARKED)
def test_search_finds_it_too_and_alternating_ends_with_a_true_loss(name):
    problem, optimum = make(name), optimum_of(name)
    certificate, _ = solve(problem, Search(moves=100, starts=4), time_limit=30)
    assert certificate.loss <= optimum * (1 + 1e-6) + 1e-7  # without a bound it may even be better
    certificate, result = solve(problem, Alternating(), time_limit=10)
    assert certificate.loss == problem.evaluate(result.network)
    assert certificate.bound <= certificate.loss


@pytest.mark.slow
def test_integer_weights_below_numbers_need_no_margin():
    problem = make("squared", weights="ternary")
    certificates = [
        solve(problem, Exact(formulation="tight", solver=s))[0] for s in AVAILABLE if s in ("highs", "scip")
    ]
    assert len({round(certificate.loss, 6) for certificate in certificates}) == 1
    assert {certificate.status for certificate in certificates} == {"OPTIMAL"}
    assert all(
        certificate.scope.largest_weight is not None and not certificate.scope.margin for certificate in certificates
    )


@pytest.mark.parametrize("name", CASES)
def test_the_start_of_a_network_costs_what_the_network_does(name):
    problem = make(name)
    problem = replace(problem, loss=replace(problem.loss, bound=3.0))
    encoding = FORMULATIONS["tight"].encode(problem)[0]
    n_within = 0
    for seed in range(10):
        network = random_network(problem, np.random.default_rng(seed))
        if problem.refuses(network):
            assert encoding.start(network) is None
            continue
        n_within += 1
        point = encoding.start(network)
        assert encoding.model.objective(point) * problem.accuracy.unit == pytest.approx(problem.evaluate(network))
        decoded = encoding.decode(point)
        assert problem.refuses(decoded) is None
        assert problem.evaluate(decoded) == pytest.approx(problem.evaluate(network))
        refined = encoding.refine(point)
        assert encoding.model.objective(refined) <= encoding.model.objective(point) + 1e-9
        last = network.layers[-1]
        values = Network((*network.layers[:-1], Layer(last.weights, last.thresholds, IDENTITY)))
        if values.margin(problem.dataset.X) > 0.01:
            assert encoding.model.violation(point) < 1e-6
    assert n_within >= 3
