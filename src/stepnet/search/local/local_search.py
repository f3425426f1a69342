"""Local search: many exact line searches of one neuron at a time, from several random starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from stepnet.constructions.linear import embedded
from stepnet.errors import Answer
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.limits import Budget
from stepnet.runtime.parallel import in_order
from stepnet.search.descent.descent import DescentOptions, accepts_descent, descend_network
from stepnet.search.local import in_numpy
from stepnet.search.local.climb import climb_once
from stepnet.search.local.kernels import search
from stepnet.search.local.limited import accepts_limited, limited
from stepnet.search.local.lines import FLAT
from stepnet.search.local.looks import RARELY, Looks
from stepnet.search.local.robust import accepts_robust_search
from stepnet.search.local.state import Buffers, Padded, State, padded, random_padded, unpadded
from stepnet.search.neuron.neuron_search import first_neuron, is_for_neuron, neuron_once
from stepnet.search.padding import accepts_width

_SHARE = 0.25  # of the time, for the first neuron of a network
_CHUNK_WORK = 2_000_000  # rows × moves between two looks at the clock
_SLOWER = 10  # in numpy, so many times fewer moves between two looks
_PATIENCE = 200  # moves without gain before stubborn rows get heavier
_MANY_ROWS = 200_000
_SAMPLE, _GROWTH = 5_000, 10  # rows of the first stage, and how stages grow
_SAMPLE_MOVES = 2_000  # moves of a stage
_SHORT = DescentOptions(epochs=20)  # where the search begins on many rows
_CLOSE = DescentOptions(strength=0.0, noise=0.0, rate=0.4)  # and without kernels: as few errors as it can reach


def search_kernels(n_rows: int = 0) -> Compiling:
    """The kernels for so many rows."""
    return _KERNELS[_dtype(n_rows)]


def _compile(dtype: type) -> None:
    problem = Problem(Dataset.from_rows([[0.0], [1.0]], [0, 1]), Architecture.of(1, (1,), "neuron", "real"))
    rng, rows = np.random.default_rng(0), problem.scaling.apply(problem.dataset.X, dtype)
    _search_rows(problem, rows, *random_padded(problem, rows, rng), rng, Budget(), 0.0, 1, is_compiled=True)


_KERNELS: dict[type, Compiling] = {
    np.float64: Compiling("local search", partial(_compile, np.float64), __name__, search),
    np.float32: Compiling("local search of many rows", partial(_compile, np.float32), __name__, search),
}


def _dtype(n_rows: int) -> type:
    """What the scaled rows are kept in: with many, memory counts for more than the last digits."""
    return np.float32 if n_rows > _MANY_ROWS else np.float64


def accepts_search(problem: Problem) -> Answer:
    """Anything but very wide layers: compiled kernels where they serve, else the general search.

    It leaves the outputs of real losses to least squares or a linear program, which know no constraints.
    """
    if problem.is_uncertain:
        return accepts_robust_search(problem)
    if reason := problem.loss.refuses_architecture(problem.architecture):
        return Answer(reason)
    if problem.loss.reads_values and problem.constraints.touch(len(problem.architecture.hidden)):
        return Answer(
            f"the search takes no constraints on the last layer with loss={problem.loss.name!r}. "
            f"Use method='exact', or sparsity of the other layers, such as (20, None)."
        )
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
    start: Network | None = None,
) -> None:
    """Offer ever better networks until ``target`` is reached, the budget or the effort is spent.

    ``start`` is a warm start for the first search of uncertain rows, or of one neuron with few or integer weights.
    Networks of such neurons begin with one of them, searched for alone; all others begin at random.
    Every start has a seed of its own, and their results are taken in order, so that any number of
    jobs gives the same networks. ``offer`` returns the exact loss of a network.
    """
    effort = effort or Effort()
    best, starts_in_vain, now_and_then = np.inf, 0, offer if n_jobs == 1 else None
    is_one = is_for_neuron(problem)
    once: Callable[..., Network | None] = _neuron_or_lines if is_one else _along_lines
    if not is_one and not problem.is_uncertain:
        start = _network_of_neuron(problem, seed, budget, target, effort)
    first = () if start is None else (start,)
    seeds: Iterator[tuple[Any, ...]] = (
        (problem, [seed, number], budget, target, effort.moves, now_and_then, *(first if number == 0 else ()))
        for number in count()
    )
    for network in in_order(once, seeds, n_jobs):
        loss = offer(network) if network is not None else np.inf
        starts_in_vain = 0 if loss < best else starts_in_vain + 1
        best = min(best, loss)
        is_met = best <= target + FLAT * problem.accuracy.scale
        if is_met or starts_in_vain >= effort.starts or budget.stop_reason or should_stop():
            return


def _along_lines(problem: Problem, *arguments: Any) -> Network | None:
    """One start of the search along lines: compiled where that serves, else general."""
    if accepts_limited(problem):
        return limited(search_once)(problem, *arguments)
    return (search_once if problem.is_plain else climb_once)(problem, *arguments)


def _on_support(problem: Problem, *arguments: Any) -> Network | None:
    """The same for one of many supports: each must be fast, which compiled kernels are."""
    is_compiled = problem.is_plain and search_kernels(problem.dataset.n_rows).is_compiled
    return (search_once if is_compiled else climb_once)(problem, *arguments)


def _neuron_or_lines(problem: Problem, seed: list[int], *arguments: Any) -> Network | None:
    """One start of the search for one neuron, or every second time along lines: neither is better on all problems."""
    number = seed[-1]
    if number % 2:
        return _along_lines(problem, seed, *arguments)
    return neuron_once(problem, [*seed[:-1], number // 2], *arguments, once=_on_support)


def _network_of_neuron(problem: Problem, seed: int, budget: Budget, target: float, effort: Effort) -> Network | None:
    """A network that passes on what its first neuron answers, which is searched for alone; None if there is none."""
    part = first_neuron(problem)
    if part is None:
        return None
    left = budget.remaining
    share = budget.until(budget.elapsed + _SHARE * left if math.isfinite(left) else math.inf)
    found = neuron_once(part, [seed, 0], share, target, effort.moves, once=_on_support)
    network = None if found is None else embedded(found.layers[0], problem.architecture)
    return network if network is not None and problem.refuses(network) is None else None


def search_once(
    problem: Problem,
    seed: list[int],
    budget: Budget,
    target: float,
    patience: int,
    offer: Callable[[Network], float] | None = None,
) -> Network | None:
    """The best network from one start; ``patience`` moves in vain end the search.

    Many rows begin with what a short descent learns, or else in stages: the network found on a
    sample is the start on ten times as many rows. Without kernels moves are slow, and few rows begin with descent too.
    """
    rng, n_rows = np.random.default_rng(seed), problem.dataset.n_rows
    learned = None
    if (n_rows > _SAMPLE or not search_kernels(n_rows).is_compiled) and accepts_descent(problem):
        should_stop, options = partial(getattr, budget, "stop_reason"), _SHORT if n_rows > _SAMPLE else _CLOSE
        learned = descend_network(problem, seed=seed, options=options, should_stop=should_stop)
    rows = problem.scaling.apply(problem.dataset.X, _dtype(n_rows))
    if learned is not None:
        W, t = padded(problem, learned)
    else:
        W, t = random_padded(problem, rows, rng)
        size = _SAMPLE
        while size < len(rows):
            W, t = _search_rows(problem, rows[:size], W, t, rng, budget, 0.0, _SAMPLE_MOVES)
            size *= _GROWTH
    looks = Looks(offer or problem.price, budget, target, RARELY)
    _search_rows(problem, rows, W, t, rng, budget, target, patience, looks)
    return looks.network or learned


def _search_rows(
    problem: Problem,
    rows: Floats,
    W: Floats,
    t: Floats,
    rng: np.random.Generator,
    budget: Budget,
    target: float,
    patience: int,
    looks: Looks | None = None,
    *,
    is_compiled: bool = False,
) -> Padded:
    """Search on the first rows of a problem; returns the best weights and thresholds.

    Without looks at exact losses the search ends after ``patience`` moves, in vain or not. It begins in numpy where
    the kernels are not compiled yet, and goes on with them as soon as they are.
    """
    state = State.of(problem, rows, W, t)
    buffers, best_W, best_t = Buffers.of(state), W.copy(), t.copy()
    whole = max(1, min(patience, _CHUNK_WORK // len(rows)))
    moves_threshold = problem.architecture.threshold == "neuron"
    scales_freely = moves_threshold or problem.architecture.fixed_threshold == 0
    best, loss, in_vain, is_met = np.inf, np.nan, 0, False
    while in_vain < patience and not is_met and not budget.stop_reason:
        number, before = int(rng.integers(2**31)), best
        is_compiled = is_compiled or _KERNELS[rows.dtype.type].is_compiled
        make_moves, chunk = (search, whole) if is_compiled else (in_numpy.search, -(-whole // _SLOWER))
        best, loss = make_moves(
            state, buffers, best_W, best_t, best, loss, moves_threshold, scales_freely, chunk, _PATIENCE, number, target
        )
        in_vain = in_vain + chunk if looks is None or best >= before else 0
        is_met = looks is not None and looks.look(best, unpadded(problem, best_W, best_t))
    if looks is not None:
        looks.look(best, unpadded(problem, best_W, best_t), at_once=True)
    return best_W, best_t
