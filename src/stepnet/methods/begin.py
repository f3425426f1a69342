"""How every method begins: a first network, and the bounds that take almost no time."""

from __future__ import annotations

import math

from stepnet.bounds.conflicts import conflict_bound
from stepnet.bounds.overlaps import lightest_cover
from stepnet.constructions.discriminants import discriminant_network
from stepnet.constructions.last_layer import refitted
from stepnet.constructions.linear import constant_network, linear_network
from stepnet.constructions.moved_threshold import with_limits_met
from stepnet.errors import InvalidInputError
from stepnet.methods.construct import construct
from stepnet.methods.run import Run
from stepnet.model.network import Network

_SHARE = 0.15  # of the time, for the linear program
_COVER_SHARE = 0.2  # of the time, for pairs of rows that perturbations make equal
_ROBUST_SHARE = 0.3  # of the time, for robust neurons and votes


def begin(
    run: Run,
    start: Network | None,
    *,
    constants: bool = True,
    separate: bool = True,
    bounds: bool = True,
    cover_seconds: float = math.inf,
) -> None:
    """Offer the start, the constants and linear discriminants; raise the conflict bound; try a linear separation.

    Pairs of rows that perturbations make equal are looked for no longer than ``cover_seconds``.
    """
    problem = run.problem
    if start is not None:
        run.stage = "a warm start"
        reason = problem.refuses(start)
        if reason is not None:
            raise InvalidInputError(f"start is not a network of this problem: {reason}.")
        run.offer(start)
    run.stage = "constants"
    for code in problem.loss.constants(problem.dataset) if constants else ():
        if run.network is None or not run.is_over:
            run.offer(refitted(problem, constant_network(problem, code), run.budget))
    if separate and bounds and not run.is_proven:  # even if the time is over: it must leave more than a constant
        run.stage = "linear discriminants"
        rough = discriminant_network(problem)
        if rough is not None and run.can_evaluate(rough):
            _offer(run, rough)
    is_covered = bounds and problem.is_uncertain and problem.loss.counts_errors
    cover = None
    if is_covered:
        with run.within(_COVER_SHARE, cover_seconds):
            cover = lightest_cover(problem, run.must_stop)
    if bounds:
        run.raise_bound(conflict_bound(problem, cover))
    if separate and cover is not None and not run.is_over:
        construct(run, cover, _ROBUST_SHARE)
    elif separate and bounds and not run.is_over:
        network = linear_network(problem.without_limits, _SHARE * run.budget.remaining, run.must_stop)
        if network is not None:
            run.stage = "linear separation"
            _offer(run, network)


def _offer(run: Run, network: Network) -> None:
    """Offer a network, and with limits on errors the one with the best threshold that meets them."""
    run.offer(network)
    if run.problem.constraints.demands:
        moved = with_limits_met(run.problem, network)
        if moved is not None:
            run.offer(moved)
