"""Robust votes: networks trained for the worst case, each on rows drawn at random, that vote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from stepnet.estimators.pairs import Pairs, require_votes, train_pair
from stepnet.methods.base import Method
from stepnet.model.network import Network
from stepnet.model.votes import majority, pairwise_votes
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.parallel import in_order
from stepnet.runtime.progress import Progress


def train_votes(
    problem: Problem,
    n_classes: int,
    n_members: int,
    method: Method,
    seed: int,
    budget: Budget,
    n_jobs: int | None,
    show: Callable[[Progress], None] | None,
) -> tuple[list[Network], Network]:
    """The members, and their vote as one network; several classes by votes on every pair of them."""
    if n_classes > 2:
        require_votes(problem, n_classes, n_members)
    parts = _Whole(problem) if n_classes == 2 else Pairs(problem, n_classes)
    method.plan(parts.part(0))
    members = _train_members(parts, n_members, method, seed, budget, n_jobs, show)
    return members, majority(members) if n_classes == 2 else pairwise_votes(members, n_classes)


class _Whole(Pairs):
    """Two classes: the only pair is the problem itself."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, 2)

    def part(self, number: int) -> Problem:
        return self.problem


def _train_members(
    parts: Pairs,
    n_members: int,
    method: Method,
    seed: int,
    budget: Budget,
    n_jobs: int | None,
    show: Callable[[Progress], None] | None,
) -> list[Network]:
    """Rounds of one network per pair; an interrupt or the time limit keeps the rounds that are complete.

    If the first round is not, rough networks complete it.
    """
    jobs, total = max(1, int(effective_n_jobs(n_jobs))), n_members * len(parts)
    members: list[Network] = []

    def tasks() -> Iterator[tuple[Any, ...]]:
        for place in range(total):
            turn, number = divmod(place, len(parts))
            own = [seed, turn, number] if len(parts) > 1 else [seed, turn]
            reserve = parts.seconds_to_evaluate(members)
            if budget.is_used_up() or budget.remaining <= reserve:
                return
            until = budget.until(budget.time_limit - reserve)
            yield parts.part(number), own, method, until, min(1.0, jobs / (total - place))

    for member in in_order(_train_member, tasks(), n_jobs):
        members.append(member)
        if show is not None:
            show(Progress.of_parts(budget.elapsed, len(members), total, "members"))
        if budget.is_used_up():
            break
    if len(members) < total:
        budget.stop("time")
    if len(members) < len(parts):
        members += [parts.rough_network(number) for number in range(len(members), len(parts))]
    return members[: len(members) // len(parts) * len(parts)]


def _train_member(problem: Problem, seed: list[int], method: Method, budget: Budget, share: float) -> Network:
    """One member; runs in any thread or process, or on any machine."""
    return train_pair(_bootstrapped(problem, seed), method, seed[0] + seed[1], budget, share).network


def _bootstrapped(problem: Problem, seed: list[int]) -> Problem:
    """The problem on a bootstrap of its rows; a row that is drawn twice weighs twice as much."""
    dataset = problem.dataset
    drawn = np.random.default_rng(seed).multinomial(dataset.n_rows, np.full(dataset.n_rows, 1 / dataset.n_rows))
    if len(np.unique(dataset.y[drawn > 0])) < len(np.unique(dataset.y)):
        return problem
    weighted = Dataset.from_rows(dataset.X, dataset.y, dataset.weights * drawn, dataset.radii)
    return replace(problem, dataset=weighted)
