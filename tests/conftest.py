"""Tiny named instances with known optima, and helpers that every test may use."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import settings

from stepnet.certificate.certificate import certify
from stepnet.errors import SolverError
from stepnet.estimators.warm_up import warm_up
from stepnet.formulations.registry import FORMULATIONS
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.solvers.backends.registry import BACKENDS

# Every machine has the same examples, and a slow one no deadline; `make test-all` draws new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile("new" if os.environ.get("STEPNET_TEST_ALL") else "same")


def pytest_sessionstart(session):
    """Fits with the same seed are the same only on compiled kernels."""
    warm_up()


@dataclass(frozen=True)
class Instance:
    """Rows, classes, an architecture, and the smallest loss that any of its networks has."""

    name: str
    X: list
    y: list
    hidden: tuple
    optimum: float
    threshold: object = "neuron"
    weights: object = "real"
    sample_weight: list | None = None

    def problem(self) -> Problem:
        return make_problem(self.X, self.y, self.hidden, self.threshold, self.weights, self.sample_weight)


def make_problem(X, y, hidden=(2,), threshold="neuron", weights="real", sample_weight=None) -> Problem:
    X = np.asarray(X)
    X = X if X.dtype == np.float32 else X.astype(float)
    return Problem(Dataset.from_rows(X, y, sample_weight), Architecture.of(X.shape[1], hidden, threshold, weights))


def solve(problem, method, *, time_limit=30.0, start=None, seed=0):
    """The certificate and the result of a method on a problem."""
    run = Run(problem, Budget(time_limit), seed=seed)
    method.work(run, start)
    result = run.result()
    return certify(problem, result), result


AVAILABLE = [name for name, backend in BACKENDS.items() if backend.is_available()]


def solve_everywhere(problem, *, time_limit=30.0):
    """Each installed solver that takes the tight program of a problem, with its certificate and result."""
    model = FORMULATIONS["tight"].encode(problem)[0].model
    for solver in AVAILABLE:
        if not BACKENDS[solver].accepts(model):
            continue
        method = Exact(formulation="tight", solver=solver, free_bounds=False, search_share=0)
        try:
            certificate, result = solve(problem, method, time_limit=time_limit)
        except SolverError as error:
            if solver == "gurobi" and "licence" in str(error):
                continue
            raise
        yield solver, certificate, result


def random_network(rng, n_features, hidden, threshold="neuron", *, integer=False):
    """A random network of an architecture."""
    layers, n_inputs = [], n_features
    for width in (*hidden, 1):
        shape = (width, n_inputs)
        weights = rng.integers(-1, 2, shape).astype(float) if integer else rng.normal(size=shape)
        thresholds = rng.normal(size=width)
        if integer:
            thresholds = np.round(thresholds) - 0.5
        if threshold == "layer":
            thresholds = np.full(width, thresholds[0])
        elif threshold != "neuron":
            thresholds = np.full(width, threshold)
        layers.append(Layer(weights, thresholds))
        n_inputs = width
    return Network(tuple(layers))


XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]
CUBE = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
PARITY = [sum(row) % 2 for row in CUBE]

INSTANCES = [
    Instance("xor with one neuron", XOR, [0, 1, 1, 0], (1,), 1),
    Instance("xor with a single neuron and no hidden layer", XOR, [0, 1, 1, 0], (), 1),
    Instance("xor with two neurons", XOR, [0, 1, 1, 0], (2,), 0),
    Instance("xor with two neurons and shared thresholds", XOR, [0, 1, 1, 0], (2,), 0, "layer"),
    Instance("xor with thresholds 0", XOR, [0, 1, 1, 0], (2,), 1, 0.0),
    Instance("xor with thresholds 0.5", XOR, [0, 1, 1, 0], (2,), 0, 0.5),
    Instance("xor with thresholds -0.5", XOR, [0, 1, 1, 0], (2,), 0, -0.5),
    Instance("parity of three bits with two neurons", CUBE, PARITY, (2,), 1),
    Instance("parity of three bits with three neurons", CUBE, PARITY, (3,), 0),
    Instance("contradictory duplicates", [[0], [0], [0], [1], [1]], [0, 0, 1, 1, 0], (2,), 2),
    Instance("contradictory weights", [[0], [0], [1]], [0, 1, 1], (1,), 1.5, sample_weight=[1.5, 4, 1]),
    Instance("weighted xor with one neuron", XOR, [0, 1, 1, 0], (1,), 2, sample_weight=[3, 2, 5, 4]),
    Instance("three points with shared thresholds", [[0], [0.5], [1]], [0, 1, 0], (2,), 0, "layer"),
    Instance("zero input with thresholds 0", [[-1], [1]], [1, 0], (1,), 0, 0.0),
    Instance("constant column with thresholds 0", [[1, 0], [1, 1]], [0, 1], (), 0, 0.0),
    Instance("large offset", [[1000.0], [1000.1], [1000.2], [1000.3]], [0, 1, 0, 1], (2,), 1),
    Instance("large offset, three neurons", [[1000.0], [1000.1], [1000.2], [1000.3]], [0, 1, 0, 1], (3,), 0),
    Instance("two hidden layers", XOR, [0, 1, 1, 0], (2, 2), 0),
    Instance("two hidden layers, thresholds 0", [[-1], [1], [2]], [1, 0, 1], (2, 2), 1, 0.0),
    Instance("xor with ternary weights", XOR, [0, 1, 1, 0], (2,), 0, "neuron", "ternary"),
    Instance("xor with ternary weights and thresholds 0", XOR, [0, 1, 1, 0], (2,), 1, 0.0, "ternary"),
    Instance("xor with ternary weights and thresholds -1", XOR, [0, 1, 1, 0], (2,), 2, -1.0, "ternary"),
    Instance("two of three with ternary weights", CUBE, [int(sum(r) >= 2) for r in CUBE], (), 0, "neuron", "ternary"),
    Instance("halves with ternary weights", [[0.5, 0], [0, 0.25], [1, 1]], [0, 1, 0], (), 0, "neuron", "ternary"),
]


@pytest.fixture(params=INSTANCES, ids=lambda instance: instance.name)
def instance(request) -> Instance:
    return request.param


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
