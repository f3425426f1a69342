"""The network of the problem, from the latent weights and offsets at the end of a descent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Layer, Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.search.descent.forward_in_numpy import put_back, rounded
from stepnet.search.descent.layer_rule import LayerRule
from stepnet.search.descent.rules import Rules
from stepnet.uncertainty.above import Above
from stepnet.uncertainty.hyperplanes import Hyperplanes

_ROUNDS = 1_000  # of projections onto constraints


def finished(problem: Problem, layers: Sequence[LayerRule], rules: Rules, W: Floats, b: Floats) -> Network:
    """In the units of the data, rounded where weights are whole, within all constraints."""
    _settle(problem, rules, W)
    made = []
    for k, layer in enumerate(layers):
        weights = W[k, : layer.width, : len(layer.unit)]
        offsets = b[k, : layer.width * layer.n_steps].reshape(layer.width, -1)
        whole, scales = rounded(rules, k, weights) if layer.domain.is_integer else (None, np.ones(layer.width))
        made.append(layer.layer(weights, offsets, whole, scales))
    return Network(tuple(made))


def _settle(problem: Problem, rules: Rules, W: Floats) -> None:
    """Put the weights back until all constraints hold; neurons for which that takes too long get weights of 0."""
    for _ in range(_ROUNDS):
        put_back(rules, W)
        beyond = _beyond(rules, W)
        if not len(beyond):
            return
    for row in beyond.tolist():
        for k, j, _ in rules.terms[rules.starts[row] : rules.starts[row + 1]]:
            W[k, j] = 0.0


def _beyond(rules: Rules, W: Floats) -> Ints:
    """The linear constraints that do not hold."""
    parts = rules.coefficients.astype(np.float64) * W[tuple(rules.terms.T)]
    if not len(parts):
        return np.zeros(0, dtype=np.int64)
    values, sizes = np.add.reduceat(parts, rules.starts[:-1]), np.add.reduceat(np.abs(parts), rules.starts[:-1])
    slack = 1e-7 * sizes
    return np.flatnonzero((values < rules.sides[:, 0] - slack) | (values > rules.sides[:, 1] + slack))


def with_best_offset(problem: Problem, network: Network) -> Network:
    """Only the output's scale and offset fitted anew, by logistic regression on its value, in the worst case if any."""
    dataset = problem.dataset
    values = worst_values(problem, network) if problem.is_uncertain else network.decision(dataset.X)
    slope, offset = _logistic(values, dataset)
    if not (np.isfinite([slope, offset]).all() and slope > 0):
        return network
    output = network.layers[-1]
    return Network((*network.layers[:-1], Layer(output.weights, output.thresholds - offset / slope)))


def _logistic(values: Floats, dataset: Dataset) -> tuple[float, float]:
    """Slope and offset of a logistic regression on one value: Newton's method, its steps halved until the loss falls.

    The value is standardised for it: whole weights give large ones, from where whole steps lead astray.
    """
    shares = dataset.weights / dataset.weights.sum()
    mean = shares @ values
    spread = float(np.sqrt(shares @ (values - mean) ** 2)) or 1.0
    signals, fit = np.column_stack([(values - mean) / spread, np.ones(len(values))]), np.array([1.0, 0.0])

    def loss_of(fit: Floats) -> float:
        sums = signals @ fit
        return float(shares @ (np.logaddexp(0.0, sums) - dataset.y * sums) + 1e-6 * fit[0] ** 2)

    loss = loss_of(fit)
    for _ in range(30):
        answers = 1 / (1 + np.exp(-np.clip(signals @ fit, -500, 500)))
        gradient = signals.T @ (shares * (answers - dataset.y)) + [2e-6 * fit[0], 0.0]
        hessian = (signals * (shares * answers * (1 - answers))[:, None]).T @ signals + np.diag([2e-6, 1e-9])
        step = np.linalg.solve(hessian, gradient)
        while (new := loss_of(fit - step)) > loss and np.abs(step).max() > 1e-8:
            step = step / 2
        if not new < loss:
            break
        fit, loss = fit - step, new
    return float(fit[0] / spread), float(fit[1] - fit[0] * mean / spread)


def worst_values(problem: Problem, network: Network) -> Floats:
    """Of the only output: for each row the value that is worst for its class, if every neuron moves at its worst."""
    dataset, ball, on = problem.dataset, problem.perturbations, problem.dataset.y == 1
    if len(network.layers) == 1:
        reach = ball.reach(network.layers[0].weights, dataset.X, problem.radii)[:, 0]
        return np.asarray(network.values(dataset.X)[:, 0] + np.where(on, -reach, reach))
    planes = Hyperplanes(network, ball)
    sides = planes.in_reach(dataset.X, problem.radii, planes.sides(network.levels(dataset.X)[0]))
    least, most = Above(network).value_ranges(*planes.levels(sides))
    return np.asarray(np.where(on, least[:, 0], most[:, 0]))
