"""Weight domains, staircases and several classes: the exact optimum is that of brute force, everywhere."""

from functools import cache

import numpy as np
import pytest

from brute_force import best_variant_loss, rational_levels
from conftest import solve, solve_everywhere
from stepnet import Alternating, Search
from stepnet.constructions.random_network import random_network
from stepnet.formulations.registry import FORMULATIONS
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import STEP, Staircase
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem

DOMAINS = {"binary": [0, 1], "sign": [-1, 1], "ternary": [-1, 0, 1], "real": None}
ORDINAL = Staircase((0, 1, 2))

# weights, values of the hidden neurons, fixed thresholds, hidden neurons, output, classes
VARIANTS = {
    "binary weights": ("binary", (0, 1), None, 2, "bit"),
    "sign weights": ("sign", (0, 1), None, 2, "bit"),
    "ternary weights": ("ternary", (0, 1), None, 2, "bit"),
    "ternary weights above real ones": (("real", "ternary"), (0, 1), None, 2, "bit"),
    "real weights above sign ones": (("sign", "real"), (0, 1), None, 2, "bit"),
    "sign activations": ("real", (-1, 1), None, 2, "bit"),
    "sign activations, ternary weights": ("ternary", (-1, 1), None, 2, "bit"),
    "three values": ("real", (0, 1, 2), None, 1, "bit"),
    "three values that do not rise": ("real", (1, 0, 2), None, 1, "bit"),
    "three values, ternary weights": ("ternary", (0, 1, 2), None, 2, "bit"),
    "three values between fixed thresholds": ("real", (0, 1, 2), (-0.5, 1.0), 1, "bit"),
    "fixed thresholds, ternary weights": ("ternary", (0, 1, 2), (-1.0, 2.0), 2, "bit"),
    "ordinal": ("real", (0, 1), None, 0, "ordinal"),
    "ordinal with a hidden layer": ("real", (0, 1), None, 2, "ordinal"),
    "ordinal, ternary": ("ternary", (0, 1), None, 2, "ordinal"),
    "argmax": ("real", (0, 1), None, 0, "argmax"),
    "argmax with a hidden layer": ("real", (0, 1), None, 2, "argmax"),
    "argmax, ternary": ("ternary", (0, 1), None, 1, "argmax"),
}


def make(name, seed):
    weights, values, fixed, d, output = VARIANTS[name]
    rng = np.random.default_rng(seed)
    m = 6 if "real" in weights or d == 2 else 7
    X, y = rng.integers(-2, 3, (m, 2)).astype(float), rng.integers(0, 2 if output == "bit" else 3, m)
    kind = {"bit": STEP, "ordinal": ORDINAL, "argmax": ARGMAX}[output]
    stairs = STEP if values == (0, 1) else Staircase(values, fixed)
    hidden = (d,) if d else ()
    choice = weights if d or isinstance(weights, str) else weights[-1]
    architecture = Architecture.of(2, hidden, "neuron", choice, stairs, kind, 3 if output == "argmax" else 1)
    return Problem(Dataset.from_rows(X, y, rng.integers(1, 4, m)), architecture)


@cache
def optimum_of(name, seed):
    weights, values, fixed, d, output = VARIANTS[name]
    names = (weights, weights) if isinstance(weights, str) else weights
    brute = {"bit": ("stairs", 1), "ordinal": ("stairs", 2), "argmax": ("argmax", 3)}[output]
    domains = [DOMAINS[one] for one in names]
    scale = 1.0 if domains[0] is not None else 1 / 2  # into [-1, 1], where the margin is meant
    data = make(name, seed).dataset
    return best_variant_loss(data.X * scale, data.y, d, values, brute, domains, fixed, data.weights)


def answers_by_rationals(network, X):
    layers = [
        (layer.weights.tolist(), layer.thresholds.tolist(), layer.activation.values or "argmax")
        for layer in network.layers
    ]
    return rational_levels(layers, X)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", VARIANTS)
def test_every_solver_finds_the_optimum_of_brute_force(name, seed):
    problem, optimum = make(name, seed), optimum_of(name, seed)
    data, n_solved = problem.dataset, 0
    for solver, certificate, result in solve_everywhere(problem):
        n_solved += 1
        assert (certificate.loss, certificate.status) == (optimum, "OPTIMAL"), solver
        assert all(claim.is_true for claim in result.claims)
        wrong = answers_by_rationals(result.network, data.X) != data.y
        assert data.weights[wrong].sum() == certificate.loss
    assert n_solved


@pytest.mark.parametrize("name", VARIANTS)
def test_search_finds_it_too_and_alternating_ends_with_a_true_loss(name):
    problem, optimum = make(name, 0), optimum_of(name, 0)
    certificate, _ = solve(problem, Search(moves=500, starts=5), time_limit=20)
    assert certificate.loss == optimum
    certificate, result = solve(problem, Alternating(), time_limit=20)
    assert certificate.loss >= optimum
    assert certificate.loss == problem.evaluate(result.network)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_start_of_a_network_decodes_to_the_same_answers(name):
    problem = make(name, 0)
    encoding = FORMULATIONS["tight"].encode(problem)[0]
    for seed in range(10):
        network = random_network(problem, np.random.default_rng(seed))
        assert problem.architecture.refuses(network) is None
        point = encoding.start(network)
        decoded = encoding.decode(point)
        assert problem.architecture.refuses(decoded) is None
        assert (decoded.predict(problem.dataset.X) == network.predict(problem.dataset.X)).all()
        assert (network.predict(problem.dataset.X) == answers_by_rationals(network, problem.dataset.X)).all()
        if encoding.margin == 0 or network.margin(problem.dataset.X) > 0.01:
            assert encoding.model.cost @ point + encoding.model.offset == pytest.approx(
                problem.evaluate(network) / problem.accuracy.unit
            )
            if encoding.margin == 0:
                assert encoding.model.violation(point) < 1e-9
