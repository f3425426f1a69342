"""Search: the local search alone, until its bound is met or the time is up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sklearn.base import BaseEstimator

from stepnet.errors import Answer
from stepnet.methods.base import Method, Run
from stepnet.methods.begin import begin
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.base import Prover
from stepnet.provers.cells import Cells, estimate
from stepnet.search.local.local_search import Effort, accepts_search, local_search, search_kernels
from stepnet.search.polish.polish import centred


@dataclass(kw_only=True, repr=False)
class Search(Method, BaseEstimator):  # type: ignore[misc]
    """Exact line searches of one neuron at a time, from many random starts.

    It proves nothing by itself: its certificate has the free bounds alone, and is OPTIMAL only
    where the loss meets them.

    Parameters
    ----------
    moves : int
        Moves without a better network until a new start.
    starts : int or None
        Starts without a better network until it gives up; None: never before the time is up.
    """

    moves: int = 20_000
    starts: int | None = None

    def accepts(self, problem: Problem) -> Answer:
        return accepts_search(problem)

    def work(self, run: Run, start: Network | None = None) -> None:
        self.require(run.problem)
        begin(run, start)
        if not run.is_over:
            search_within(run, 1.0, Effort(moves=self.moves, starts=self.starts or 10**9))
        run.reshape(centred)


# Before an exact proof, for what only the general search takes.
BRIEF = Effort(moves=2_000, starts=3)
_ROBUST_SMALL, _ROBUST = Effort(moves=300, starts=2), Effort(moves=3_000, starts=8)
_SMALL = 200  # rows × neurons: generation of scenarios may prove something


def effort_before_proof(problem: Problem, way: object) -> Effort:
    """How long to search before an exact program or a proof; proofs find networks themselves."""
    if isinstance(way, Cells):
        n_planes, _ = estimate(problem.dataset.n_rows, problem.dataset.n_features)
        return Effort(
            moves=min(max(100, n_planes // 20), 2_000), starts=1
        )  # enumeration needs a cut-off, not a good one
    if isinstance(way, Prover):
        return Effort(starts=4)
    if not problem.is_uncertain:
        return Effort(starts=8) if problem.is_plain else BRIEF
    is_small = problem.dataset.n_rows * sum(problem.architecture.widths) <= _SMALL
    return _ROBUST_SMALL if is_small else _ROBUST


def search_within(run: Run, share: float, effort: Effort | None = None) -> None:
    """Local search within a share of the time that is left."""
    if run.problem.is_plain and not run.compiles(search_kernels(run.problem.dataset.n_rows), 0.5):
        return
    run.stage = "local search"
    end = math.inf
    if math.isfinite(run.budget.remaining):
        end = min(run.budget.elapsed + share * run.budget.remaining, run.last_call)
    local_search(
        run.problem,
        seed=run.seed,
        offer=run.offer,
        budget=run.budget.until(end),
        should_stop=lambda: run.is_over,
        target=run.bound.value,
        effort=effort,
        n_jobs=run.n_jobs,
        start=run.network,
    )


@contextmanager
def improving(run: Run) -> Iterator[None]:
    """Inside, every better network that is offered is the start of a short local search."""

    def search_on() -> None:
        stage, run.on_better = run.stage, None
        if not run.is_over:
            search_within(run, 0.1, Effort(moves=2_000, starts=1))
        run.stage, run.on_better = stage, search_on

    run.on_better = search_on
    try:
        yield
    finally:
        run.on_better = None
