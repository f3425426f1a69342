"""Local search: many exact line searches of one neuron at a time, from several random starts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np

from stepnet.arithmetic import Floats
from stepnet.data import Dataset
from stepnet.errors import Answer
from stepnet.limits import Budget
from stepnet.network import Layer, Network
from stepnet.parallel import in_order
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem
from stepnet.search.kernels import State, search
from stepnet.search.padding import accepts_width

_CHUNK_WORK = 2_000_000  # rows × moves between two looks at the clock
_PATIENCE = 200  # moves without gain before stubborn rows get heavier


_compiling: threading.Thread | None = None


def kernels_ready(timeout: float) -> bool:
    """Whether the kernels are compiled, waiting for them up to ``timeout`` seconds.

    They compile once after an installation, in a thread of their own, so that a time limit can be
    kept; later processes load them from numba's cache in a moment.
    """
    global _compiling
    if _compiling is None:
        _compiling = threading.Thread(target=_compile, name="stepnet kernels", daemon=True)
        _compiling.start()
    _compiling.join(timeout)
    return not _compiling.is_alive()


def _compile() -> None:
    architecture = Architecture.of(1, (1,), "neuron", "real")
    problem = Problem(Dataset.from_rows([[0.0], [1.0]], [0, 1]), architecture)
    search_once(problem, [0], Budget(), 0.0, 1)


def accepts_search(problem: Problem) -> Answer:
    """Real weights, any depth and threshold."""
    if problem.architecture.weights.is_integer:
        return Answer("the local search takes real weights. Use method=Exact(formulation='tight').")
    return accepts_width(problem.architecture)


@dataclass(frozen=True)
class Effort:
    """When to give up: moves without a better network until a new start, and starts in vain."""

    moves: int = 20_000
    starts: int = 3


def local_search(
    problem: Problem,
    *,
    seed: int,
    offer: Callable[[Network], float],
    budget: Budget,
    should_stop: Callable[[], bool] = lambda: False,
    target: float = 0.0,
    effort: Effort | None = None,
    n_jobs: int | None = 1,
) -> None:
    """Offer ever better networks until ``target`` is reached, the budget or the effort is spent.

    Every start has a seed of its own, and their results are taken in order, so that any number of
    jobs gives the same networks. ``offer`` returns the exact loss of a network.
    """
    effort = effort or Effort()
    best, starts_in_vain = np.inf, 0
    now_and_then = (lambda network: offer(network)) if n_jobs == 1 else None
    seeds = ((problem, [seed, number], budget, target, effort.moves, now_and_then) for number in count())
    for network in in_order(search_once, seeds, n_jobs):
        loss = offer(network) if network is not None else np.inf
        starts_in_vain = 0 if loss < best else starts_in_vain + 1
        best = min(best, loss)
        if best <= target or starts_in_vain >= effort.starts or budget.stop_reason or should_stop():
            return


def search_once(
    problem: Problem,
    seed: list[int],
    budget: Budget,
    target: float,
    patience: int,
    offer: Callable[[Network], float] | None = None,
) -> Network | None:
    """The best network from one random start; ``patience`` moves in vain end the search."""
    rng = np.random.default_rng(seed)
    rows = np.ascontiguousarray(problem.scaling.apply(problem.dataset.X))
    state = _random_state(problem, rows, rng)
    chunk = max(50, min(patience, _CHUNK_WORK // len(rows)))
    best_W, best_t = state.W.copy(), state.t.copy()
    running, best, best_network, in_vain = np.inf, np.inf, None, 0
    moves_threshold = problem.architecture.threshold == "neuron"
    scales_freely = moves_threshold or problem.architecture.fixed_threshold == 0
    while in_vain < patience and best > target and not budget.stop_reason:
        reached = search(
            state,
            best_W,
            best_t,
            running,
            moves_threshold,
            scales_freely,
            chunk,
            _PATIENCE,
            int(rng.integers(2**31)),
            target,
        )
        in_vain += chunk
        if reached < running:
            running, in_vain = reached, 0
            network = _network(problem, state, best_W, best_t)
            loss = (offer or problem.evaluate)(network)
            if loss < best:
                best, best_network = loss, network
    return best_network


def random_network(problem: Problem, seed: int) -> Network:
    """A network of random hyperplanes, those of the first layer through random rows."""
    rows = np.ascontiguousarray(problem.scaling.apply(problem.dataset.X))
    state = _random_state(problem, rows, np.random.default_rng(seed))
    network = _network(problem, state, state.W, state.t)
    if not problem.architecture.weights.is_integer:
        return network
    limit = problem.architecture.weights.limit
    rounded = (np.clip(np.round(layer.weights * limit), -limit, limit) for layer in network.layers)
    return Network(tuple(Layer(w, layer.thresholds) for w, layer in zip(rounded, network.layers, strict=True)))


def _random_state(problem: Problem, rows: Floats, rng: np.random.Generator) -> State:
    """Random hyperplanes, in the first layer through random rows; fixed thresholds as they must be."""
    architecture, dataset = problem.architecture, problem.dataset
    m, n = rows.shape
    widths = np.array([n, *architecture.widths])
    n_layers, widest, n_neurons = len(widths) - 1, widths[1:].max(), int(widths[1:].sum())
    W, t = np.zeros((n_layers, widest, widths[:-1].max())), np.zeros((n_layers, widest))
    for k, (n_inputs, width) in enumerate(pairwise(widths.tolist())):
        weights = rng.normal(size=(width, n_inputs))
        W[k, :width, :n_inputs] = weights
        through = rows[rng.integers(m, size=width)] if k == 0 else rng.random((width, n_inputs))
        t[k, :width] = _thresholds(architecture, (weights * through).sum(axis=1), rng)
    first = np.concatenate([[0], np.cumsum(widths[1:])[:-1]])
    return State(
        X=rows,
        y=dataset.y.astype(np.int8),
        weights=dataset.weights,
        penalties=dataset.weights.copy(),
        W=W,
        t=t,
        A=np.zeros((n_neurons, m)),
        B=np.zeros((n_neurons, m), dtype=np.int8),
        widths=widths,
        first=first,
    )


def _thresholds(architecture: Architecture, wished: Floats, rng: np.random.Generator) -> Floats:
    if architecture.threshold == "neuron":
        return wished
    if architecture.threshold == "layer":
        return np.full_like(wished, rng.choice([-0.5, 0.5]))
    return np.full_like(wished, architecture.fixed_threshold)


def _network(problem: Problem, state: State, W: Floats, t: Floats) -> Network:
    layers = [
        Layer(W[k, :width, :n_inputs], t[k, :width])
        for k, (n_inputs, width) in enumerate(pairwise(state.widths.tolist()))
    ]
    return problem.restore(Network(tuple(layers)))
