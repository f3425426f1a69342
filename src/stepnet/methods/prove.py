"""Prove: the smallest training loss, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from sklearn.base import BaseEstimator

from stepnet.methods.base import Method
from stepnet.methods.begin import begin
from stepnet.methods.closing import prepare
from stepnet.methods.exact import Exact, stages_before
from stepnet.methods.feasible import meet_limits
from stepnet.methods.plan import Plan
from stepnet.methods.run import Run
from stepnet.methods.search import effort_before, search_within
from stepnet.methods.thinning import thin
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.search.local.local_search import Effort
from stepnet.search.polish.polish import centred, polished

_FREE_SHARE = 0.3  # of the time, for the problem without its restrictions if programs are out of reach


@dataclass(kw_only=True, repr=False)
class Prove(Method, BaseEstimator):  # type: ignore[misc]
    """Free bounds, then search, then an exact proof of what is still open, then wider margins.

    Parameters
    ----------
    exact : Exact
        The exact method that closes the gap.
    search_share : float
        The share of the time that the search may take.
    sparse : bool
        Whether to reduce the number of non-zero weights at the end, at the same loss.
    """

    exact: Exact = field(default_factory=lambda: Exact(search_share=0.0))
    search_share: float = 0.3
    sparse: bool = False

    @classmethod
    def of(cls, **options: Any) -> Self:
        """With its own options, and those of the exact method under the same names."""
        own = {name: options.pop(name) for name in ("exact", "search_share", "sparse") if name in options}
        exact = {"exact": Exact.of(search_share=0.0, **options)} if options else {}
        return cls(**exact | own)

    def plan(self, problem: Problem) -> Plan:
        plan = self.exact.plan(problem)
        return replace(plan, stages=stages_before(problem, bounds=True, search_share=self.search_share))

    def work(self, run: Run, start: Network | None = None) -> None:
        plan = self.planned(run)
        begin(run, start)
        meet_limits(run, self.work)
        if not run.is_over and self.search_share and plan.search:
            # If the exact program is out of reach, the search gets all of the time, but for bounds of the free problem.
            is_last = not plan.has_time(run.budget)
            if not is_last:
                prepare(run)
            effort = Effort(starts=10**9) if is_last else effort_before(plan.own, run.problem)
            rest = _FREE_SHARE if any(way.is_free for way in plan.ways) else 0.0
            search_within(run, 1.0 - rest if is_last else self.search_share, effort)
        if not run.is_over:
            self.exact.close(run)
        if not run.is_over and self.search_share and plan.search and plan.leaves_time(run.budget):
            search_within(run, 1.0, Effort(starts=10**9), others=2)
        thin(run, self.exact.solver)
        if not run.has_time_to("polish"):
            return
        if run.fewest is not None:
            run.reshape(centred)
            return
        sparse = self.sparse or run.problem.constraints.fewest
        run.reshape(partial(polished, sparse=sparse, should_stop=run.must_stop))
