"""Polish: the same loss with wider margins, or with fewer weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import SolverFailure
from stepnet.model.activations.base import Levels
from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Floats, activations
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem
from stepnet.search.polish.robust import robustly_polished
from stepnet.solvers.backends.base import Task
from stepnet.solvers.backends.highs import Highs
from stepnet.solvers.model import ModelBuilder

_MOST_ROWS = 20_000  # beyond, gaps are tiny and not worth the time


def centred(problem: Problem, network: Network) -> Network:
    """Every threshold moved to the middle of the gap between the rows it tells apart.

    Where neurons share a threshold or it is fixed, their weights are scaled instead. Returns the
    network itself where that would raise its loss.
    """
    if problem.dataset.n_rows > _MOST_ROWS or problem.is_uncertain:
        return network
    layers: list[Layer] = []
    signals = problem.dataset.X
    for k, layer in enumerate(network.layers):
        if layer.activation.n_thresholds > 1 or not layer.activation.has_levels:
            layers.extend(network.layers[k:])  # what follows is left as it is
            break
        values, _ = activations(signals, layer.weights, np.zeros(layer.width))
        bits = (activations(signals, layer.weights, layer.thresholds)[1] >= 0).astype(np.int16)
        is_movable = layer.activation.thresholds is None
        layers.append(_centred_layer(layer, values, bits, problem.architecture, k) if is_movable else layer)
        signals = layer.outputs(bits)
    return _better_or_equal(problem, Network(tuple(layers)), network)


def _centred_layer(layer: Layer, values: Floats, bits: Levels, architecture: Architecture, k: int) -> Layer:
    off = np.where(bits == 0, values, -np.inf).max(axis=0)
    on = np.where(bits == 1, values, np.inf).min(axis=0)
    movable = np.isfinite(off) & np.isfinite(on) & (on > off)
    middle = np.where(movable, off / 2 + on / 2, layer.thresholds)
    if architecture.threshold == "neuron":
        return layer.with_(layer.weights, middle)
    if architecture.domains[k].is_integer:
        return layer
    movable &= middle * layer.thresholds > 0
    factors = np.where(movable, layer.thresholds / np.where(movable, middle, 1.0), 1.0)
    return layer.with_(layer.weights * factors[:, None], layer.thresholds)


def polished(
    problem: Problem, network: Network, *, sparse: bool = False, should_stop: Callable[[], bool] = lambda: False
) -> Network:
    """Thresholds centred; then first-layer neurons moved as far as possible from the rows that depend on them.

    A row depends on a neuron if its answer changes with the neuron's bit alone; all other rows leave
    the neuron free. One linear program per neuron; with ``sparse`` several, each with one weight less.
    """
    if problem.is_uncertain:
        return robustly_polished(problem, network, should_stop)
    network = centred(problem, network)
    architecture = problem.architecture
    is_step = architecture.activations[0] == STEP
    can_move = is_step and architecture.threshold == "neuron" and not architecture.domains[0].is_integer
    can_move &= not (problem.constraints.restrict_weights or problem.constraints.need_other_answers)
    if not can_move or problem.dataset.n_rows > _MOST_ROWS or should_stop():
        return network
    X, width = problem.dataset.X, network.layers[0].width
    rows = problem.scaling.apply(X)
    loss, margin = problem.evaluate(network), network.margin_unless(X, should_stop)
    if margin is None:
        return network
    done: dict[int, bytes] = {}
    for j in (*range(width), *range(width)):  # twice, since moving a neuron leaves other rows to the others
        if should_stop():
            break
        pivotal = network.hangs_on(X, j)
        if not pivotal.any() or done.get(j) == pivotal.tobytes():
            continue
        done[j] = pivotal.tobytes()
        on = network.levels(X)[0][pivotal, j] == 1
        neuron = _widest(rows[pivotal], on, should_stop)
        if neuron is not None and sparse:
            neuron = _sparsest(rows[pivotal], on, neuron, should_stop)
        if neuron is None:
            continue
        candidate = network.with_neuron(j, problem.scaling.restore(neuron))
        new_margin = candidate.margin_unless(X, should_stop)
        if new_margin is None:
            break
        is_kept = candidate.n_weights <= network.n_weights if sparse else new_margin >= margin
        if is_kept and (new_loss := problem.price(candidate)) <= loss:
            network, loss, margin = candidate, new_loss, new_margin
    return network


def _widest(
    rows: Floats, on: NDArray[np.bool_], should_stop: Callable[[], bool], used: NDArray[np.bool_] | None = None
) -> Layer | None:
    """max δ with ±(w·x - t) >= δ and |w| <= 1, over the features in use; None if there is no margin."""
    m, n = rows.shape
    signs = np.where(on, 1.0, -1.0)
    limit = np.ones(n) if used is None else used.astype(float)
    model = ModelBuilder()
    weights = model.add_columns("w", n, -limit, limit)
    threshold = model.add_columns("t", 1, -n - 1.0, n + 1.0)
    margin = model.add_columns("d", 1, 0.0, 2.0, cost=-1.0)
    model.add_rows(
        [
            (np.broadcast_to(weights, (m, n)), signs[:, None] * rows),
            (np.broadcast_to(threshold, m), -signs),
            (np.broadcast_to(margin, m), -1.0),
        ],
        lower=0.0,
    )
    try:
        outcome = Highs().solve(Task(model.build(), time_limit=10.0, should_stop=should_stop))
    except SolverFailure:
        return None
    if outcome.status != "optimal" or outcome.point is None or outcome.point[margin[0]] < 1e-7:
        return None
    return Layer(outcome.point[weights][None, :], outcome.point[threshold])


def _sparsest(rows: Floats, on: NDArray[np.bool_], neuron: Layer, should_stop: Callable[[], bool]) -> Layer:
    """Weights set to zero one by one, small ones first, as long as some margin is left."""
    used = np.ones(rows.shape[1], dtype=bool)
    for c in np.argsort(np.abs(neuron.weights[0]), kind="stable"):
        if should_stop():
            break
        used[c] = False
        thinner = _widest(rows, on, should_stop, used)
        if thinner is None:
            used[c] = True
        else:
            neuron = thinner
    return neuron


def _better_or_equal(problem: Problem, candidate: Network, network: Network) -> Network:
    if problem.refuses(candidate):
        return network
    return candidate if problem.evaluate(candidate) <= problem.price(network) else network
