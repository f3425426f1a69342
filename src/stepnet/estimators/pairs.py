"""Several classes by votes: one network per pair of classes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from stepnet.estimators.checkpoint import Checkpoint, Reached
from stepnet.methods.base import Method
from stepnet.methods.learn import descends
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.memory import require
from stepnet.runtime.parallel import in_order
from stepnet.runtime.progress import Callback, Progress


def pair_problems(problem: Problem, n_classes: int) -> list[Problem]:
    """For each pair a < b the rows of these classes, with b as class 1; pairs in lexicographic order."""
    dataset, problems = problem.dataset, []
    for a, b in combinations(range(n_classes), 2):
        members = (dataset.y == a) | (dataset.y == b)
        if not members.any():  # neither class has rows yet: any network will do
            members[0] = True
        radii = None if dataset.radii is None else dataset.radii[members]
        rows = Dataset.from_rows(dataset.X[members], dataset.y[members] == b, dataset.weights[members], radii)
        problems.append(replace(problem, dataset=rows))
    return problems


def require_votes(problem: Problem, n_classes: int, n_rounds: int = 1) -> None:
    """Raise if the vote, all pairs side by side in one network, would not fit in memory."""
    n_networks = n_rounds * n_classes * (n_classes - 1) // 2
    first, *above = pairwise((problem.dataset.n_features, *problem.architecture.widths))
    entries = n_networks * math.prod(first) + n_networks**2 * sum(map(math.prod, above))
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

    Callbacks are called for each pair that is done, without a loss: only the vote has one.
    """
    require_votes(problem, n_classes)
    problems = pair_problems(problem, n_classes)
    jobs = max(1, int(effective_n_jobs(n_jobs)))
    before = [None if checkpoint is None else checkpoint.reached(f"pair {number}") for number in range(len(problems))]
    networks = [None if one is None else one.network for one in before]
    open_pairs = [number for number, one in enumerate(before) if one is None or not one.is_final]
    shares = [min(1.0, jobs / left) for left in range(len(open_pairs), 0, -1)]
    tasks: list[tuple[Any, ...]] = [
        (problems[number], method, seed + number, budget, share, networks[number] or (starts and starts[number]))
        for number, share in zip(open_pairs, shares, strict=True)
    ]
    for number, found in zip(open_pairs, in_order(train_pair, tasks, n_jobs), strict=True):
        networks[number] = found.network
        if checkpoint is not None:
            checkpoint.keep(found, f"pair {number}")
        done = sum(network is not None for network in networks)
        progress = Progress.of_parts(budget.elapsed, done, len(networks), "pairs", is_learned=descends(method, problem))
        for callback in callbacks:
            if callback(progress):
                budget.stop("callback")
    return [network for network in networks if network is not None]


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
