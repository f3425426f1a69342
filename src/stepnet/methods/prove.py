"""Prove: the smallest training loss, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from sklearn.base import BaseEstimator

from stepnet.errors import Answer
from stepnet.methods.base import Method, Run
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.search import effort_before_proof, search_within
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.search.local.local_search import Effort, accepts_search
from stepnet.search.polish.polish import centred, polished


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
        Whether to end with as few non-zero weights as can be had at the same loss.
    """

    exact: Exact = field(default_factory=lambda: Exact(search_share=0.0))
    search_share: float = 0.3
    sparse: bool = False

    def accepts(self, problem: Problem) -> Answer:
        return self.exact.accepts(problem)

    def work(self, run: Run, start: Network | None = None) -> None:
        way = self.exact.check(run.problem)
        begin(run, start)
        if not run.is_over and self.search_share and accepts_search(run.problem):
            # Where the exact program is out of reach, the search may have all of the time.
            is_last = not self.exact.has_time(run)
            effort = Effort(starts=10**9) if is_last else effort_before_proof(run.problem, way)
            search_within(run, 1.0 if is_last else self.search_share, effort)
        if not run.is_over:
            self.exact.close(run)
        self.exact.thin(run)
        run.stage = "polish"
        if run.fewest is not None:
            run.reshape(centred)
            return
        sparse = self.sparse or run.problem.constraints.fewest
        run.reshape(partial(polished, sparse=sparse, should_stop=run.must_stop))
