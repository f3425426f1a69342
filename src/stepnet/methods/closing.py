"""Closing: tries the ways of a plan one after the other on what a run has left open."""

from __future__ import annotations

import math
from functools import partial

from stepnet.methods.plan import Way
from stepnet.methods.programs import Programs
from stepnet.methods.run import Run
from stepnet.methods.search import search_meanwhile, search_within
from stepnet.model.network import Network
from stepnet.provers.base import Prover
from stepnet.search.local.local_search import Effort
from stepnet.solvers.backends.registry import backend_for

_FAR = 64.0  # a loss that is so many times smaller has fallen far
_SHARE = 0.8  # of the time, for a prover that is followed by others
_SEARCH = Effort(moves=2_000, starts=1)  # from a better network of a prover


def close(run: Run, solver: str) -> None:
    """Try the ways of the run's plan until loss and bound meet or the time is up."""
    assert run.plan is not None
    run.recheck()
    ways = run.plan.ways
    for number, way in enumerate(ways):
        run.note(way.name, way.reason)
        run.stage = way.name
        if way.prover is not None:
            # A program rarely proves more than the last prover.
            with run.within(1.0 if number + 2 >= len(ways) else _SHARE):
                _prove(run, way.prover)
        elif not _solve(run, way, solver):
            return
        if run.is_over:
            return


def prepare(run: Run) -> None:
    """Have the kernels of the plan's provers loaded or compiled while something else is done."""
    assert run.plan is not None
    for way in run.plan.ways:
        if way.prover is not None:
            way.prover.kernels.begin()


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
    """Provers count in units of the best loss at their start: if it falls far, they start again in smaller units."""
    if not prover.kernels.is_done(0.0):
        search_meanwhile(run, prover.kernels)
        run.stage = prover.name
        if run.is_over:
            return
    if not run.compiles(prover.kernels):
        return
    before = math.inf
    while not run.is_over and run.loss < before / _FAR:
        before = run.loss
        prover.work(run, partial(_offer, run))


def _offer(run: Run, network: Network) -> float:
    """Offer a prover's network; if it is better than all before, it starts a short local search."""
    before, stage = run.loss, run.stage
    loss = run.offer(network)
    if loss < before and not run.is_over:
        search_within(run, 0.1, _SEARCH)
    run.stage = stage
    return loss
