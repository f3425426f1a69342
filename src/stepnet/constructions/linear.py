"""A linear program for one neuron: it separates the rows, or has the least hinge loss.

    min Σ_i weight_i ξ_i   subject to   ±(w·x^i - t) >= 1 - ξ_i,   ξ >= 0

over all rows except those that conflict with a heavier equal row. If the optimum is 0, the neuron separates them,
every architecture can contain it, and the conflict bound is attained.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stepnet.constructions.feasibility import feasible_weights
from stepnet.errors import SolverFailure
from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Bools, Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.solvers.backends.base import Task
from stepnet.solvers.backends.highs import Highs
from stepnet.solvers.model import ModelBuilder

_SAMPLE = 50_000  # entries of the rows in the first program
_ROUNDS = 20


def linear_network(
    problem: Problem, time_limit: float = math.inf, should_stop: Callable[[], bool] = lambda: False
) -> Network | None:
    """A network that computes one linear neuron, the best by hinge loss.

    Large data begin with some of the rows; while the neuron separates these, the rows that it gets wrong are added.
    None if the program was not solved in time or the problem is not plain.
    """
    architecture, dataset = problem.architecture, problem.dataset
    if not problem.is_plain:
        return None
    chosen = np.flatnonzero(dataset.is_heaviest)
    n_rows = max(1, _SAMPLE // dataset.n_features)
    sample, network = chosen[:n_rows], None
    budget = Budget(time_limit)
    for _ in range(_ROUNDS):
        rows = problem.scaling.apply(dataset.X[sample])
        on = dataset.y[sample] == int(not _complements(architecture))
        neuron = _hinge_neuron(rows, on, dataset.weights[sample], architecture, budget.remaining, should_stop)
        if neuron is None:
            break
        network = embedded(problem.scaling.restore(neuron), architecture)
        if len(sample) == len(chosen):
            break
        wrong = network.predict(dataset.X) != dataset.y
        missed = np.setdiff1d(chosen[wrong[chosen]], sample)[:n_rows]
        if wrong[sample].any() or len(missed) == 0:
            break
        sample = np.concatenate([sample, missed])
    return network


def constant_network(problem: Problem, code: int) -> Network:
    """A network that answers ``code`` for every row, unless fixed thresholds prevent it.

    Weights are 0 if the domain contains 0; learned thresholds lie beyond every sum. With a fixed threshold c <= 0,
    neurons without weights are on, and an output with a negative weight on one of them is off.
    """
    architecture, fixed = problem.architecture, problem.architecture.fixed_threshold
    largest = float(max(np.abs(column).max() for column in problem.dataset.X.T)) * architecture.n_features
    given = feasible_weights(problem) if problem.constraints.restrict_weights else None
    layers, n_inputs = [], architecture.n_features
    for k, (width, kind, domain) in enumerate(
        zip(architecture.widths, architecture.activations, architecture.domains, strict=True)
    ):
        weights = domain.nearest(np.zeros((width, n_inputs)))
        if given is not None:
            weights = problem.scaling.restored_weights(given[0]) if k == 0 else given[k]
        beyond = largest * float(np.abs(weights).max()) + 1.0 if weights.any() else 1.0
        if not kind.has_levels:
            thresholds = kind.constant_thresholds(code, width, beyond) * (architecture.threshold == "neuron")
        elif kind.thresholds is not None:
            thresholds = np.array(kind.thresholds)
        elif fixed is not None:
            thresholds = np.array([fixed])
        else:
            thresholds = kind.constant_thresholds(code, width, beyond)
        layers.append(Layer(weights, np.broadcast_to(thresholds, kind.threshold_shape(width)), kind))
        n_inputs, largest = width, max((abs(v) for v in kind.values), default=0.0) * width
    if fixed is not None and fixed <= 0 and code == 0 and architecture.hidden and layers[-1].activation == STEP:
        against, domain = np.zeros((1, architecture.hidden[-1])), architecture.domains[-1]
        against[0, 0] = max(2 * fixed - 1, domain.lower) if domain.is_integer else 2 * fixed - 1
        candidate = Network((*layers[:-1], Layer(against, layers[-1].thresholds)))
        if problem.refuses(candidate) is None:
            return candidate
    return Network(tuple(layers))


def _hinge_neuron(
    rows: Floats,
    on: Bools,
    row_weights: Floats,
    architecture: Architecture,
    time_limit: float,
    should_stop: Callable[[], bool],
) -> Layer | None:
    m, n = rows.shape
    fixed, free = architecture.fixed_threshold, (-np.inf, np.inf)
    low, high = free if fixed is None else {0: (0.0, 0.0), 1: (1.0, np.inf), -1: (-np.inf, -1.0)}[int(np.sign(fixed))]
    model = ModelBuilder()
    weights = model.add_columns("w", n, -np.inf, np.inf)
    threshold = model.add_columns("t", 1, low, high)
    slacks = model.add_columns("x", m, 0, np.inf, cost=row_weights / row_weights.max())
    signs = np.where(on, 1.0, -1.0)
    model.add_rows(
        [
            (np.broadcast_to(weights, (m, n)), signs[:, None] * rows),
            (np.broadcast_to(threshold, m), -signs),
            (slacks, 1.0),
        ],
        lower=1.0,
    )
    try:
        outcome = Highs().solve(Task(model.build(), time_limit=time_limit, should_stop=should_stop))
    except SolverFailure:
        return None
    if outcome.status != "optimal" or outcome.point is None:
        return None
    return Layer(outcome.point[weights][None, :], outcome.point[threshold])


def _complements(architecture: Architecture) -> bool:
    """Whether the layers above the first, which pass one bit on, complement it an odd number of times."""
    fixed = architecture.fixed_threshold
    return fixed is not None and fixed <= 0 and len(architecture.hidden) % 2 == 1


def embedded(neuron: Layer, architecture: Architecture) -> Network:
    """The network whose first neuron in each layer passes the bit of ``neuron`` on; the others have no weights.

    With a fixed threshold c <= 0 a layer can only pass on the complement: it is on where its input is 0.
    """
    fixed, threshold = architecture.fixed_threshold, float(neuron.thresholds[0])
    inputs = neuron.weights[0] * (fixed / threshold if fixed else 1.0)
    layers = []
    for width in architecture.widths:
        weights = np.zeros((width, len(inputs)))
        weights[0] = inputs
        layers.append(Layer(weights, np.full(width, threshold if fixed is None else fixed)))
        inputs, threshold = np.zeros(width), 0.5
        inputs[0] = 1.0 if fixed is None else (2 * fixed if fixed else -1.0)
    return Network(tuple(layers))
