"""Committees: members of several kinds, each trained without another part of the rows, whose sum is one network.

What a member says about the rows that it was not trained on is what it would say about new rows. From this follows how
much each kind counts (:mod:`stepnet.estimators.stacking`), and that the sum is calibrated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from stepnet.estimators.members import Kind
from stepnet.estimators.stacking import stacked_weights
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.model.sums import scaled_members
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.parallel import in_order
from stepnet.runtime.progress import Progress

_FEWEST_PARTS = 5  # of the rows
_JOINING = 0.02  # seconds


class Trained(NamedTuple):
    """A member, what it says about the rows that it was not trained on, and how long that took."""

    network: Network
    sums: Floats
    seconds: float


def train_committee(
    problem: Problem,
    kinds: Sequence[Kind],
    n_members: int,
    seed: int,
    budget: Budget,
    n_jobs: int | None,
    show: Callable[[Progress], None] | None = None,
) -> list[Network]:
    """Members that add up to the committee's answer, ``n_members`` of each kind; the offset is in the first.

    When time is up, kinds of which not all members are trained are left out; of the first kind, those that are remain.
    """
    parts = _parts(problem.dataset, max(n_members, _FEWEST_PARTS), seed)
    total, jobs = len(kinds) * n_members, max(1, int(effective_n_jobs(n_jobs)))
    trained: list[Trained] = []

    def tasks() -> Iterator[tuple[Any, ...]]:
        for place in range(total):
            kind, number = divmod(place, n_members)
            # The sum is evaluated on all rows, each member on one part of them.
            reserve = _JOINING + (parts.max() + 1) * sum(one.seconds for one in trained)
            if place and (budget.is_used_up() or budget.remaining <= reserve):
                return
            until = budget.until(budget.time_limit - reserve)
            yield problem, kinds[kind], parts == number, [seed, kind, number], until, min(1.0, jobs / (total - place))

    for member in in_order(train_member, tasks(), n_jobs):
        trained.append(member)
        if show is not None:
            show(Progress.of_parts(budget.elapsed, len(trained), total, "members", is_learned=True))
        if budget.is_used_up():
            break
    if len(trained) < total:
        budget.stop("time")
    return _weighted(problem.dataset, parts, trained, n_members)


def train_member(
    problem: Problem, kind: Kind, is_held_out: Any, seed: list[int], budget: Budget, share: float
) -> Trained:
    """One member; runs in any thread or process, or on any machine."""
    part = budget.until(budget.elapsed + share * budget.remaining)
    is_used = ~is_held_out if not is_held_out.all() else is_held_out
    with budget.catching_interrupts("keep"):  # another process gets the Ctrl-C of the terminal too
        network = kind.train(problem, is_used, seed, part.remaining, part.is_used_up)
    begin = time.perf_counter()
    sums = network.predict(problem.dataset.X[is_held_out]) if is_held_out.any() else np.zeros((0, network.widths[-1]))
    return Trained(network, sums, time.perf_counter() - begin)


def _weighted(dataset: Dataset, parts: Any, trained: list[Trained], n_members: int) -> list[Network]:
    """The members times what their kind counts; kinds that are not complete are left out."""
    n_kinds = len(trained) // n_members
    n_members = n_members if n_kinds else len(trained)
    trained = trained[: max(n_kinds, 1) * n_members]
    rows = np.concatenate([np.flatnonzero(parts == number) for number in range(n_members)])
    sums = np.array(
        [np.concatenate([one.sums for one in trained[k : k + n_members]]) for k in range(0, len(trained), n_members)]
    )
    factors, offsets = stacked_weights(sums, dataset.y[rows], dataset.weights[rows])
    networks = [one.network for one in trained]
    return scaled_members(networks, np.repeat(factors / n_members, n_members).tolist(), offsets)


def _parts(dataset: Dataset, n_parts: int, seed: int) -> Any:
    """A number from 0 to ``n_parts - 1`` for each row, evenly within each class."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(dataset.n_rows)
    if dataset.y.ndim == 1:
        order = order[np.argsort(dataset.y[order], kind="stable")]
    parts = np.empty(dataset.n_rows, dtype=np.int64)
    parts[order] = np.arange(dataset.n_rows) % n_parts
    return parts
