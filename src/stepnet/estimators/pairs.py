"""One network for each pair of classes: several classes by votes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from stepnet.data import Dataset
from stepnet.limits import Budget
from stepnet.methods.base import Method, Run
from stepnet.network import Network
from stepnet.parallel import in_order
from stepnet.problem.problem import Problem


def pair_problems(problem: Problem, n_classes: int) -> list[Problem]:
    """For each pair a < b the rows of the two classes, b as class 1; pairs in lexical order."""
    dataset, problems = problem.dataset, []
    for a, b in combinations(range(n_classes), 2):
        members = (dataset.y == a) | (dataset.y == b)
        if not members.any():  # neither class has come yet: any network will do
            members[0] = True
        radii = None if dataset.radii is None else dataset.radii[members]
        rows = Dataset.from_rows(dataset.X[members], dataset.y[members] == b, dataset.weights[members], radii)
        problems.append(replace(problem, dataset=rows))
    return problems


def train_pairs(
    problem: Problem,
    n_classes: int,
    method: Method,
    seed: int,
    budget: Budget,
    n_jobs: int | None,
    starts: list[Network] | None = None,
) -> list[Network]:
    """The networks of all pairs, each with its share of the time and a seed of its own."""
    problems = pair_problems(problem, n_classes)
    jobs = max(1, int(effective_n_jobs(n_jobs)))
    tasks: list[tuple[Any, ...]] = [
        (pair, method, seed + number, budget, min(1.0, jobs / (len(problems) - number)), starts and starts[number])
        for number, pair in enumerate(problems)
    ]
    return list(in_order(train_pair, tasks, n_jobs))


def train_pair(
    problem: Problem, method: Method, seed: int, budget: Budget, share: float, start: Network | None = None
) -> Network:
    """One pair's network; runs in any thread, process or machine."""
    left = budget.remaining
    part = budget.until(budget.elapsed + share * left) if np.isfinite(left) else budget
    run = Run(problem, part, seed=seed % 2**31)
    method.work(run, start)
    return run.result().network
