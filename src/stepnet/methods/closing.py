"""Closing: the ways of a plan, one after the other, on what a run has left open."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stepnet.bounds.bound import Bound
from stepnet.methods.plan import Way
from stepnet.methods.programs import Programs
from stepnet.methods.run import Run
from stepnet.methods.search import search_within
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.base import Prover
from stepnet.provers.pool import Pool
from stepnet.runtime.limits import Budget
from stepnet.search.local.local_search import Effort
from stepnet.solvers.backends.registry import backend_for

_FAR = 64.0  # how many times smaller a loss is that has fallen far
_SHARE = 0.8  # of the time, for a prover that others follow
_SEARCH = Effort(moves=2_000, starts=1)  # from a better network of a prover


def close(run: Run, solver: str) -> None:
    """Go the ways of the run's plan until loss and bound meet or the time is up."""
    assert run.plan is not None
    run.recheck()
    ways = run.plan.ways
    for number, way in enumerate(ways):
        run.choose(way.name, way.reason)
        if way.prover is not None:
            # A program seldom knows more than the last prover.
            with run.within(1.0 if number + 2 >= len(ways) else _SHARE):
                _prove(run, way.prover)
        elif not _solve(run, way, solver):
            return
        if run.is_over:
            return


def _solve(run: Run, way: Way, solver: str) -> bool:
    """Branch and bound on the way's programs; False if there is no time or memory for them."""
    assert run.plan is not None
    assert way.formulation is not None
    if short := run.plan.short_of(run.budget):
        run.journal.trouble = f"program too large for the {short}"
        return False
    encodings = list(way.formulation.encode(run.problem))
    Programs(run, backend_for(solver, encodings[0].model), encodings).work()
    return True


def _prove(run: Run, prover: Prover) -> None:
    """Provers count in units of the best loss when they begin: where it has fallen far, once more in smaller ones."""
    if not run.compiles(prover.kernels):
        return
    before = math.inf
    while not run.is_over and run.loss < before / _FAR:
        before = run.loss
        prover.work(_Improving(run))


@dataclass
class _Improving:
    """A run as the host of a prover: every better network that it offers is the start of a short local search."""

    run: Run

    @property
    def problem(self) -> Problem:
        return self.run.problem

    @property
    def budget(self) -> Budget:
        return self.run.budget

    @property
    def loss(self) -> float:
        return self.run.loss

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def pool(self) -> Pool:
        return self.run.pool

    @property
    def is_over(self) -> bool:
        return self.run.is_over

    def must_stop(self) -> bool:
        return self.run.must_stop()

    def raise_bound(self, bound: Bound) -> None:
        self.run.raise_bound(bound)

    def offer(self, network: Network) -> float:
        """Offer a network; if it is better than all before, search on from it. Returns its exact loss."""
        run, before, stage = self.run, self.run.loss, self.run.stage
        loss = run.offer(network)
        if loss < before and not run.is_over:
            search_within(run, 0.1, _SEARCH)
        run.stage = stage
        return loss
