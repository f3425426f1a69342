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
    held_out = _held_out(problem.dataset, max(n_members, _FEWEST_PARTS), seed)
    total, jobs = len(kinds) * n_members, max(1, int(effective_n_jobs(n_jobs)))
    trained: list[Trained] = []

    def tasks() -> Iterator[tuple[Any, ...]]:
        for place in range(total):
            kind, number = divmod(place, n_members)
            # The sum is evaluated on all rows, each member on one part of them.
            reserve = _JOINING + len(held_out) * sum(one.seconds for one in trained)
            if place and (budget.is_used_up() or budget.remaining <= reserve):
                return
            until = budget.until(budget.time_limit - reserve)
            yield problem, kinds[kind], held_out[number], [seed, kind, number], until, min(1.0, jobs / (total - place))

    for member in in_order(train_member, tasks(), n_jobs):
        trained.append(member)
        if show is not None:
            show(Progress.of_parts(budget.elapsed, len(trained), total, "members", is_learned=True))
        if budget.is_used_up():
            break
    if len(trained) < total:
        budget.stop("time")
    return _weighted(problem.dataset, held_out, trained, n_members)


def train_member(
    problem: Problem, kind: Kind, held_out: Floats, seed: list[int], budget: Budget, share: float
) -> Trained:
    """One member; runs in any thread or process, or on any machine. So much of the weight of each row is held out."""
    part = budget.until(budget.elapsed + share * budget.remaining)
    weights, is_held_out = problem.dataset.weights, held_out > 0
    kept = weights - held_out if (held_out < weights).any() else weights
    with budget.catching_interrupts("keep"):  # another process gets the Ctrl-C of the terminal too
        network = kind.train(problem, kept, seed, part.remaining, part.is_used_up)
    begin = time.perf_counter()
    sums = network.predict(problem.dataset.X[is_held_out]) if is_held_out.any() else np.zeros((0, network.widths[-1]))
    return Trained(network, sums, time.perf_counter() - begin)


def _weighted(dataset: Dataset, held_out: Floats, trained: list[Trained], n_members: int) -> list[Network]:
    """The members times what their kind counts; kinds that are not complete are left out."""
    n_kinds = len(trained) // n_members
    n_members = n_members if n_kinds else len(trained)
    trained = trained[: max(n_kinds, 1) * n_members]
    part, rows = np.nonzero(held_out[:n_members])
    sums = np.array(
        [np.concatenate([one.sums for one in trained[k : k + n_members]]) for k in range(0, len(trained), n_members)]
    )
    factors, offsets = stacked_weights(sums, dataset.y[rows], held_out[part, rows])
    networks = [one.network for one in trained]
    return scaled_members(networks, np.repeat(factors / n_members, n_members).tolist(), offsets)


def _held_out(dataset: Dataset, n_parts: int, seed: int) -> Floats:
    """Parts × rows: how much of the weight of each row a part holds, evenly within each class.

    A row that stands for several equal ones is divided, as these would be: its members learn from the others.
    """
    order = np.random.default_rng(seed).permutation(dataset.n_rows)
    if dataset.y.ndim == 1:
        order = order[np.argsort(dataset.y[order], kind="stable")]
    times = dataset.repetitions.astype(np.int64) if dataset.has_repetitions else np.ones(dataset.n_rows, np.int64)
    units = np.repeat(order, times[order])
    cells = np.arange(len(units)) % n_parts * dataset.n_rows + units
    counts = np.bincount(cells, minlength=n_parts * dataset.n_rows).reshape(n_parts, dataset.n_rows)
    return np.asarray(counts / times * dataset.weights)
