"""The best last layer on given signals: a convex problem, which the loss solves directly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.losses.base import LastLayer
from stepnet.problem.losses.least_squares import least_squares, ridge_for_new_rows
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget


def refitted(problem: Problem, network: Network, budget: Budget | None = None) -> Network:
    """The network with the best last layer for its hidden layers; itself if that is not admitted or no better."""
    if problem.uncertainty is not None or not problem.loss.reads_values or not problem.architecture.hidden:
        return network
    candidate = _replaced(problem, network, best_last_layer, budget)
    if problem.refuses(candidate):
        return network
    return candidate if problem.evaluate(candidate) <= problem.price(network) else network


def cautious(problem: Problem, network: Network, budget: Budget | None = None) -> Network:
    """The network with a last layer that is regularised for new rows, at the expense of the training loss."""
    return _replaced(problem, network, cautious_last_layer, budget)


def _replaced(
    problem: Problem, network: Network, fit: Callable[[Problem, Floats, Budget], LastLayer], budget: Budget | None
) -> Network:
    signals = network.layers[-2].outputs(network.levels(problem.dataset.X)[-2])
    weights, intercepts = fit(problem, signals, budget or Budget())
    return Network((*network.layers[:-1], network.layers[-1].with_(weights, -intercepts)))


def best_last_layer(problem: Problem, signals: Floats, budget: Budget) -> LastLayer:
    """Weights (outputs × inputs) and intercepts with the least loss on these signals (rows × inputs)."""
    loss, dataset, intercept = problem.loss.of_values, problem.dataset, problem.architecture.intercept
    assert loss is not None
    return loss.last_layer(signals, dataset.y, dataset.weights, intercept=intercept, budget=budget)


def cautious_last_layer(problem: Problem, signals: Floats, budget: Budget) -> LastLayer:
    """For new rows: least squares with the ridge of the loss, or one chosen by cross-validation.

    Losses other than squared errors choose the intercepts themselves.
    """
    loss, y, row_weights = problem.loss.of_values, problem.dataset.y, problem.dataset.weights
    assert loss is not None
    ridge = loss.ridge or ridge_for_new_rows(signals, y, row_weights)
    limit, intercept = np.inf if loss.bound is None else loss.bound, problem.architecture.intercept
    weights, intercepts = least_squares(signals, y, row_weights, ridge, limit, intercept=intercept, budget=budget)
    if intercept and not loss.pays_squares:
        intercepts = loss.best_constants(y - signals @ weights.T, row_weights, np.zeros(len(y), dtype=np.int64))[0]
    return weights, intercepts
