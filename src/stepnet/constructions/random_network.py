"""Random networks of any architecture, to start from."""

from __future__ import annotations

import numpy as np

from stepnet.constructions.feasibility import feasible_weights
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem


def random_network(problem: Problem, rng: np.random.Generator) -> Network:
    """Random weights of the domains; learned thresholds at sums of random rows."""
    return problem.restore(random_scaled_network(problem, problem.scaling.apply(problem.dataset.X), rng))


def random_scaled_network(problem: Problem, rows: Floats, rng: np.random.Generator) -> Network:
    """The same, for the scaled rows."""
    architecture = problem.architecture
    layers, signals = [], rows
    given = feasible_weights(problem, rng) if problem.constraints.restrict_weights else None
    for k, (width, domain) in enumerate(zip(architecture.widths, architecture.domains, strict=True)):
        shape = (width, signals.shape[1])
        weights = rng.choice(domain.values, shape) if domain.is_integer else rng.normal(size=shape)
        weights = weights if given is None else given[k]
        if k == len(architecture.hidden) and problem.loss.bound is not None:
            weights = np.clip(weights, -problem.loss.bound, problem.loss.bound)
        values = signals @ weights.T
        layer = Layer(weights, _thresholds(problem, k, values, rng), architecture.activations[k])
        layers.append(layer)
        if k < len(architecture.hidden):
            reached = values[:, :, None] >= layer.thresholds.reshape(width, 1, -1).transpose(1, 0, 2)
            signals = layer.outputs(reached.sum(axis=2))
    return Network(tuple(layers))


def _thresholds(problem: Problem, k: int, values: Floats, rng: np.random.Generator) -> Floats:
    architecture, kind = problem.architecture, problem.architecture.activations[k]
    shape = kind.threshold_shape(values.shape[1])
    scale = problem.scaling.grid if k == 0 else 1.0
    if kind.thresholds is not None:
        return np.broadcast_to(np.multiply(kind.thresholds, scale), shape)
    if not kind.has_levels:
        return np.zeros(shape)
    if architecture.fixed_threshold is not None:
        return np.full(shape, architecture.fixed_threshold * scale)
    chosen = values[rng.integers(len(values), size=kind.n_thresholds)].T  # width × thresholds
    if architecture.domains[k].is_integer:
        chosen = np.round(chosen) - 0.5
    if architecture.threshold == "layer":
        chosen = np.full_like(chosen, chosen.flat[0])
    return np.sort(chosen, axis=1).reshape(shape)
