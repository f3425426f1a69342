"""Closing: tries the ways of a plan one after the other on what a run has left open."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from stepnet.methods.free_run import FreeRun
from stepnet.methods.plan import Plan, Way
from stepnet.methods.programs import Programs
from stepnet.methods.run import Run
from stepnet.methods.search import search_meanwhile, search_within
from stepnet.methods.turns import take_turns
from stepnet.model.network import Network
from stepnet.provers.base import Prover
from stepnet.search.local.local_search import Effort
from stepnet.solvers.backends.registry import backend_for

_HOPE, _NEAR = 0.2, 0.1  # of the time without a better bound; a gap that may still be closed
_FAR = 64.0  # a loss that is so many times smaller has fallen far
_SEARCH = Effort(moves=2_000, starts=1)  # from a better network of a prover


def close(run: Run, solve: Callable[[Way], None]) -> None:
    """Try the ways of the run's plan until loss and bound meet or the time is up; ``solve`` those with programs."""
    assert run.plan is not None
    run.recheck()
    free: list[FreeRun] = []
    try:
        _try_ways(run, run.plan, solve, free)
    finally:
        for prover in (way.prover for way in run.plan.ways if way.prover is not None):
            for host in (run, *free):
                prover.release(host)


def _try_ways(run: Run, plan: Plan, solve: Callable[[Way], None], frees: list[FreeRun]) -> None:
    """Add the run of the free problem, if there is one."""
    free: FreeRun | None = None
    in_turns = [way for way in plan.ways if way.takes_turns]
    for way in plan.ways:
        is_settled = free is not None and free.is_proven  # the free problem has no larger bound
        if is_settled and way.is_free:
            continue
        if way in in_turns:
            if way is in_turns[0]:
                take_turns(run, in_turns, _prove)
            if run.is_over:
                return
            continue
        run.note(*way.note)
        run.stage = way.name
        with run.within(1.0 if is_settled else way.share, way.seconds):
            if way.prover is None:
                with run.within(1.0, is_enough=None if free is None else _hopeless(run)):
                    solve(way)
            elif way.is_free:
                is_first, free = free is None, free or FreeRun.of(run)
                frees[:] = [free]
                free.resume(way.name)
                if is_first:
                    search_within(free, 0.1, _SEARCH)  # the network of a restricted problem may be far from a good one
                _prove(free, way.prover)
            else:
                _prove(run, way.prover)
        run.journal.reach(run.budget.elapsed, way.name, run.loss, min(run.bound.value, run.loss))
        if run.is_over:
            return


def _hopeless(run: Run) -> Callable[[], bool]:
    """Whether a program has not raised the bound of the free problem for long, and is far from the loss."""
    clock, bound = run.budget, run.bound.value
    end = math.inf if run.problem.is_uncertain else clock.elapsed + _HOPE * clock.remaining
    return lambda: clock.elapsed > end and run.bound.value <= bound and run.gap > _NEAR


def prepare(run: Run) -> None:
    """Have the kernels of the plan's provers loaded or compiled while something else is done."""
    assert run.plan is not None
    for way in run.plan.ways:
        if way.prover is not None:
            way.prover.kernels_for(run.problem).begin()


def solve_programs(run: Run, solver: str, way: Way) -> None:
    """Branch and bound on the way's programs, if there is time and memory for them."""
    assert run.plan is not None
    assert way.formulation is not None
    if short := run.plan.short_of(run.budget, way):
        run.journal.trouble = f"program too large for the {short}"
        return
    encodings = list(way.formulation.encode(run.problem))
    Programs(run, backend_for(solver, encodings[0].model), encodings).work()


def _prove(run: Run, prover: Prover) -> None:
    """Provers count in units of the best loss at their start: if it falls far, they start again in smaller units."""
    run.stage = prover.name
    kernels = prover.kernels_for(run.problem)
    if not kernels.is_done(0.0):
        search_meanwhile(run, kernels)
        run.stage = prover.name
        if run.is_over:
            return
    if not run.compiles(kernels):
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
