"""Several classes by votes: one network per pair of classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from stepnet.constructions.discriminants import class_scores, discriminant_pairs
from stepnet.constructions.linear import constant_network
from stepnet.estimators.checkpoint import Checkpoint, Reached
from stepnet.methods.base import Method
from stepnet.methods.journal import logger
from stepnet.methods.learn import descends
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.memory import require
from stepnet.runtime.parallel import in_order
from stepnet.runtime.progress import Callback, Progress

_SCORED = 10_000  # rows that tell how hard pairs are
_EVALUATION, _JOINING = 5e-8, 2e-4  # seconds per row and neuron of a vote, and per network in it


class Pairs:
    """The problems of all pairs a < b of classes, in lexicographic order, and a rough network for each of them."""

    def __init__(self, problem: Problem, n_classes: int) -> None:
        self.problem, self.classes = problem, list(combinations(range(n_classes), 2))
        self.order = np.argsort(problem.dataset.y, kind="stable")
        self.ends = np.searchsorted(problem.dataset.y[self.order], np.arange(n_classes + 1))
        self.rough = discriminant_pairs(problem, n_classes)

    def __len__(self) -> int:
        return len(self.classes)

    def part(self, number: int) -> Problem:
        """The rows of the two classes, with b as class 1; made when it is needed, since there may be thousands."""
        dataset = self.problem.dataset
        a, b = self.classes[number]
        members = np.sort(np.concatenate([self.order[self.ends[c] : self.ends[c + 1]] for c in (a, b)]))
        if not len(members):  # neither class has rows yet: any network will do
            members = np.array([0])
        radii = None if dataset.radii is None else dataset.radii[members]
        rows = Dataset.from_rows(dataset.X[members], dataset.y[members] == b, dataset.weights[members], radii)
        return replace(self.problem, dataset=rows)

    def rough_network(self, number: int) -> Network:
        """A network that takes no time: linear discriminants, or where there are none the heavier class."""
        found = self.rough[number]
        if found is not None and not self.problem.constraints.restrict:
            return found
        part = self.part(number)
        heavier = int(part.dataset.weights @ (2.0 * part.dataset.y - 1.0) > 0)
        constant = constant_network(part, heavier)
        return constant if found is None or part.price(constant) < part.price(found) else found

    def hardest_first(self) -> list[int]:
        """The numbers of the pairs, those that the rough networks mix up most in front."""
        dataset, n_classes = self.problem.dataset, len(self.ends) - 1
        first = Dataset(dataset.X[:_SCORED].astype(np.float64), dataset.y[:_SCORED], dataset.weights[:_SCORED])
        directions, offsets = class_scores(first, n_classes)
        scores = first.X @ directions.T + offsets
        every = np.arange(first.n_rows)
        missed = (scores >= scores[every, first.y, None]) * first.weights[:, None]
        mixed = np.array([missed[first.y == c].sum(axis=0) for c in range(n_classes)])
        costs = [mixed[a, b] + mixed[b, a] for a, b in self.classes]
        return np.argsort(-np.array(costs), kind="stable").tolist()  # type: ignore[no-any-return]

    def seconds_to_evaluate(self, networks: Iterable[Network]) -> float:
        """About as long as joining and evaluating the vote of these networks takes, and of the rough others."""
        widths = [network.widths[0] for network in networks]
        n_neurons = sum(widths) + max(0, len(self) - len(widths))
        return _JOINING * max(len(self), len(widths)) + _EVALUATION * self.problem.dataset.n_rows * n_neurons


def require_votes(problem: Problem, n_classes: int, n_rounds: int = 1) -> None:
    """Raise if the vote, all pairs side by side in one network, would not fit in memory."""
    n_networks = n_rounds * n_classes * (n_classes - 1) // 2
    n_first, *above = (math.prod(pair) for pair in pairwise((problem.dataset.n_features, *problem.architecture.widths)))
    entries = n_networks * (n_first + 2 * sum(above))  # the layers above the first are sparse
    require(
        2 * 8.0 * entries,
        f"the vote of {n_networks} networks, each for two of {n_classes} classes,",
        "Use output='one_hot' or 'ordinal', or fewer classes; to predict numbers, StepRegressor.",
    )


def train_pairs(
    problem: Problem,
    n_classes: int,
    method: Method,
    seed: int,
    budget: Budget,
    n_jobs: int | None,
    starts: list[Network] | None = None,
    checkpoint: Checkpoint | None = None,
    callbacks: Iterable[Callback] = (),
) -> list[Network]:
    """The networks of all pairs, each with its share of the time and its own seed.

    Pairs that there is no time for keep a rough network. Callbacks are called for each pair that is done, without a
    loss: only the vote has one.
    """
    require_votes(problem, n_classes)
    pairs = Pairs(problem, n_classes)
    jobs = max(1, int(effective_n_jobs(n_jobs)))
    before = [None if checkpoint is None else checkpoint.reached(f"pair {number}") for number in range(len(pairs))]
    networks = [None if one is None else one.network for one in before]
    is_open = [one is None or not one.is_final for one in before]
    open_pairs = [number for number in pairs.hardest_first() if is_open[number]]
    n_done = len(pairs) - len(open_pairs)
    is_learned = descends(method, problem)

    def tasks() -> Iterator[tuple[Any, ...]]:
        for place, number in enumerate(open_pairs):
            reserve = pairs.seconds_to_evaluate(network for network in networks if network is not None)
            if budget.is_used_up() or budget.remaining <= reserve:
                return
            share = min(1.0, jobs / (len(open_pairs) - place))
            until = budget.until(budget.time_limit - reserve)
            start = networks[number] or (starts and starts[number])
            yield pairs.part(number), method, seed + number, until, share, start

    def tell() -> None:
        progress = Progress.of_parts(budget.elapsed, n_done, len(pairs), "pairs", is_learned=is_learned)
        for callback in callbacks:
            if callback(progress):
                budget.stop("callback")

    for number, found in zip(open_pairs, in_order(train_pair, tasks(), n_jobs), strict=False):
        networks[number], n_done = found.network, n_done + 1
        if checkpoint is not None:
            checkpoint.keep(found, f"pair {number}")
        tell()
    if n_rough := networks.count(None):
        logger.info("%d of %d pairs are linear discriminants: there was no time to train them", n_rough, len(pairs))
        budget.stop("time")
    return [network or pairs.rough_network(number) for number, network in enumerate(networks)]


def train_pair(
    problem: Problem, method: Method, seed: int, budget: Budget, share: float, start: Network | None = None
) -> Reached:
    """The network of one pair; runs in any thread or process, or on any machine."""
    left = budget.remaining
    part = budget.until(budget.elapsed + share * left) if np.isfinite(left) else budget
    run = Run(problem, part, seed=seed % 2**31)
    with budget.catching_interrupts("keep"):  # another process gets the Ctrl-C of the terminal too
        method.work(run, start)
    return Reached(run.result().network, run.loss, is_final=run.is_proven)
