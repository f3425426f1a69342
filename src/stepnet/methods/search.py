"""Search: the local search alone, until the free bound is met or the time is up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from sklearn.base import BaseEstimator

from stepnet.errors import NotAcceptedError
from stepnet.methods.base import Method
from stepnet.methods.begin import begin
from stepnet.methods.feasible import meet_limits
from stepnet.methods.plan import Plan, Way
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.compiling import Compiling
from stepnet.search.local.local_search import Effort, accepts_search, local_search
from stepnet.search.polish.polish import centred, polished


@dataclass(kw_only=True, repr=False)
class Search(Method, BaseEstimator):  # type: ignore[misc]
    """Exact line searches of one neuron at a time, from many random starts.

    A neuron with integer or few weights also begins with rounded sparse logistic fits, and sees all changes of one
    weight and all exchanges of two features at once.

    It proves nothing by itself: its certificate has only the free bounds, and is OPTIMAL only
    if the loss meets them.

    Parameters
    ----------
    moves : int
        Moves without a better network before a new start.
    starts : int or None
        Starts without a better network before it gives up; None: it continues until the time is up.
    """

    moves: int = 20_000
    starts: int | None = None

    def plan(self, problem: Problem) -> Plan:
        if not (answer := accepts_search(problem)):
            raise NotAcceptedError(answer.reason)
        end = f"{self.starts} starts find nothing better" if self.starts else "the time is up"
        return Plan.of(problem, "free bounds and linear separation", f"local search, until {end}")

    def work(self, run: Run, start: Network | None = None) -> None:
        self.planned(run)
        begin(run, start)
        meet_limits(run, self.work)
        if not run.is_over:
            search_within(run, 1.0, Effort(moves=self.moves, starts=self.starts or 10**9))
        is_sparse = run.problem.constraints.fewest
        if run.has_time_to("polish"):
            run.reshape(partial(polished, sparse=True, should_stop=run.must_stop) if is_sparse else centred)


# Before an exact answer, for problems that only the general search accepts.
_BRIEF = Effort(moves=2_000, starts=3)
_ROBUST_SMALL, _ROBUST = Effort(moves=300, starts=2), Effort(moves=3_000, starts=8)
_SMALL = 200  # rows × neurons: generation of scenarios may prove something


def effort_before(way: Way | None, problem: Problem) -> Effort:
    """How long to search before an exact answer; provers find networks on their own."""
    if way is not None and way.prover is not None:
        moves = way.prover.moves_before(problem)
        return Effort(starts=4) if moves is None else Effort(moves=moves, starts=1)
    if not problem.is_uncertain:
        return Effort(starts=8) if problem.is_plain else _BRIEF
    is_small = problem.dataset.n_rows * sum(problem.architecture.widths) <= _SMALL
    return _ROBUST_SMALL if is_small else _ROBUST


def search_within(run: Run, share: float, effort: Effort | None = None, *, others: int = 0) -> None:
    """Local search within a share of the remaining time; from other starts than before if ``others`` is not 0."""
    run.stage = "local search"
    end = math.inf
    if math.isfinite(run.budget.remaining):
        end = min(run.budget.elapsed + share * run.budget.remaining, run.last_call)
    local_search(
        run.problem,
        seed=run.seed + others,
        offer=run.offer,
        budget=run.budget.until(end),
        should_stop=lambda: run.is_over,
        target=run.bound.value,
        effort=effort,
        n_jobs=run.n_jobs,
        start=run.network,
    )


def search_meanwhile(run: Run, kernels: Compiling) -> None:
    """Search on while a prover's kernels are compiled, from other starts than before."""
    if run.plan is None or not run.plan.search or run.must_stop():
        return
    run.announce("local search")
    local_search(
        run.problem,
        seed=run.seed + 1,
        offer=run.offer,
        budget=run.budget.until(run.last_call, lambda: kernels.is_done(0.0)),
        should_stop=lambda: run.is_over,
        target=run.bound.value,
        effort=Effort(starts=10**9),
        n_jobs=run.n_jobs,
    )
