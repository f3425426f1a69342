"""The best last layer above given signals: a convex problem, solved at once.

Squared errors have a closed form (with a bound on the weights, an active-set method); absolute errors and
the hinge are linear programs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.loss import Hinge, Loss, RealLoss, Squared, signs
from stepnet.problem.losses.box_least_squares import box_least_squares
from stepnet.problem.problem import Problem

_SCATTER = 1e-9  # bounds are kept this far from what a solver's tolerance could pass


def refuses_loss(problem: Problem) -> str:
    """Why no search and no program takes the problem's loss, or nothing if they do."""
    architecture, loss = problem.architecture, problem.loss
    if not isinstance(loss, RealLoss):
        return ""
    if not architecture.hidden:
        return f"loss={loss.name!r} needs a hidden layer. Use hidden=(1,) or more."
    if isinstance(loss, Hinge) and (architecture.fixed_threshold is not None or architecture.n_outputs > 1):
        return "loss='hinge' takes one output with a learned threshold. Use threshold='neuron', output='one_vs_one'."
    if architecture.domains[-1].is_integer:
        return f"loss={loss.name!r} needs real weights in the last layer. Use weights=(..., 'real')."
    return ""


def refitted(problem: Problem, network: Network) -> Network:
    """The network with the best last layer above its hidden ones; itself if that is no better, or not a real loss."""
    if problem.uncertainty is not None:
        return network
    if not isinstance(problem.loss, RealLoss) or not problem.architecture.hidden:
        return network
    candidate = _replaced(problem, network, best_last_layer)
    if problem.refuses(candidate):
        return network
    return candidate if problem.evaluate(candidate) <= problem.evaluate(network) else network


def cautious(problem: Problem, network: Network) -> Network:
    """The network with the last layer that new rows ask for, whatever the training rows then cost."""
    return _replaced(problem, network, cautious_last_layer)


def _replaced(problem: Problem, network: Network, fit: Callable[[Problem, Floats], tuple[Floats, Floats]]) -> Network:
    signals = network.layers[-2].outputs(network.levels(problem.dataset.X)[-2])
    weights, intercepts = fit(problem, signals)
    return Network((*network.layers[:-1], network.layers[-1].with_(weights, -intercepts)))


def _limit(loss: Loss) -> float:
    return np.inf if loss.bound is None else loss.bound * (1 - _SCATTER)


def best_last_layer(problem: Problem, signals: Floats) -> tuple[Floats, Floats]:
    """Weights (outputs × inputs) and intercepts with the least loss on these signals (rows × inputs)."""
    loss, dataset = problem.loss, problem.dataset
    assert isinstance(loss, RealLoss)
    intercept, limit = problem.architecture.intercept, _limit(loss)
    if isinstance(loss, Squared):
        return _least_squares(signals, dataset.y, dataset.weights, loss.ridge, limit, intercept=intercept)
    targets = signs(dataset.y)[:, None] if isinstance(loss, Hinge) else dataset.y
    fits = [
        _least_misses(signals, target, dataset.weights, limit, intercept=intercept, one_sided=isinstance(loss, Hinge))
        for target in targets.T
    ]
    return np.array([weights for weights, _ in fits]), np.array([constant for _, constant in fits])


def cautious_last_layer(problem: Problem, signals: Floats) -> tuple[Floats, Floats]:
    """Weights and intercepts for new rows: least squares with the ridge of the loss, or else a chosen one.

    It is chosen by generalised cross-validation, where every weight counts twice: the neurons below were
    learned from the same rows.
    """
    loss, dataset = problem.loss, problem.dataset
    ridge = loss.ridge if isinstance(loss, Squared) else 0.0
    ridge = ridge or _ridge_for_new_rows(signals, dataset.y, dataset.weights)
    intercept = problem.architecture.intercept
    return _least_squares(signals, dataset.y, dataset.weights, ridge, _limit(loss), intercept=intercept)


def _ridge_for_new_rows(signals: Floats, y: Floats, row_weights: Floats) -> float:
    shares, roots = row_weights / row_weights.sum(), np.sqrt(row_weights / row_weights.mean())[:, None]
    left, right = roots * (signals - shares @ signals), roots * (y - shares @ y)
    basis, sizes, _ = np.linalg.svd(left, full_matrices=False)
    explained = ((basis.T @ right) ** 2).sum(axis=1)
    ridges, n_rows = len(signals) * np.geomspace(1e-6, 10.0, 50)[:, None], len(signals)
    kept = sizes**2 / (sizes**2 + ridges)
    errors = (right**2).sum() - ((2 * kept - kept**2) * explained).sum(axis=1)
    freedom = n_rows - 1 - 2 * kept.sum(axis=1)
    scores = np.where(freedom > 0, errors / np.maximum(freedom, 1e-9) ** 2, np.inf)
    return float(ridges[scores.argmin(), 0] * row_weights.mean())


def _least_squares(
    signals: Floats, y: Floats, row_weights: Floats, ridge: float, limit: float, *, intercept: bool
) -> tuple[Floats, Floats]:
    """min Σ_i weight_i |W h_i + c - y_i|² + ridge |W|²."""
    n = signals.shape[1]
    shares = row_weights / row_weights.sum()
    means, centre = (shares @ signals, shares @ y) if intercept else (np.zeros(n), np.zeros(y.shape[1]))
    roots = np.sqrt(row_weights)[:, None]
    left, right = roots * (signals - means), roots * (y - centre)
    if ridge:
        left = np.vstack([left, np.sqrt(ridge) * np.eye(n)])
        right = np.vstack([right, np.zeros((n, y.shape[1]))])
    weights = box_least_squares(left, right, limit).T
    return weights, centre - weights @ means


def _least_misses(
    signals: Floats, target: Floats, row_weights: Floats, limit: float, *, intercept: bool, one_sided: bool
) -> tuple[Floats, float]:
    """min Σ_i weight_i e_i with e_i >= |w·h_i + c - y_i|, or for y = ±1 with e_i >= 1 - y_i (w·h_i + c), e_i >= 0."""
    m, n = signals.shape
    left = np.column_stack([signals, np.full(m, 1.0 if intercept else 0.0)])
    slack = sparse.eye_array(m)
    if one_sided:
        rows = sparse.hstack([sparse.csr_array(-target[:, None] * left), -slack])
        right = -np.ones(m)
    else:
        rows = sparse.vstack(
            [sparse.hstack([sparse.csr_array(left), -slack]), sparse.hstack([sparse.csr_array(-left), -slack])]
        )
        right = np.concatenate([target, -target])
    bounds = [(-limit, limit)] * n + [(None, None)] + [(0, None)] * m
    cost = np.concatenate([np.zeros(n + 1), row_weights / row_weights.max()])
    found = linprog(cost, A_ub=rows, b_ub=right, bounds=bounds)
    if found.x is None:
        return np.zeros(n), 0.0
    return found.x[:n], float(found.x[n]) if intercept else 0.0
