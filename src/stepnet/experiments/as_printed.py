"""The paper's exact method and its Algorithm 1 as printed: the weights that HiGHS returns are the network.

:class:`~stepnet.methods.exact.Exact` and :class:`~stepnet.methods.alternating.Alternating` repair such weights; here
nothing is repaired or checked, and the caller has to evaluate the network.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

import numpy as np

from stepnet.constructions.random_network import random_network
from stepnet.formulations.halves import half
from stepnet.formulations.layered_encoding import LayeredEncoding
from stepnet.formulations.paper import Paper
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.polish.polish import centred
from stepnet.solvers.backends.base import THREAD_NAME, Outcome, Task
from stepnet.solvers.backends.highs import Highs


@dataclass(frozen=True)
class Claimed:
    """The network of a solver's last point, and the loss and bound that the solver claims for it."""

    network: Network | None
    loss: float
    bound: float
    is_finished: bool  # before the time limit
    is_infeasible: bool = False  # the solver claims that no network exists


def solve_exactly(problem: Problem, time_limit: float) -> Claimed:
    """Theorem 2 by branch and bound, without a warm start."""
    clock = Budget(time_limit)
    encoding = _encoding(problem)
    outcome = Highs().solve(Task(encoding.model, time_limit=clock.remaining, tolerance=encoding.tolerance))
    network = None if outcome.point is None else encoding.decode(outcome.point)
    return _claimed(problem, network, outcome, is_finished=outcome.status != "stopped")


def alternate(problem: Problem, time_limit: float, seed: int) -> Claimed:
    """Algorithm 1 from a random network: H1 and H2 in turn, until neither improves or the time is up.

    Each half may use all of the remaining time, and starts from the current point.
    """
    clock = Budget(time_limit)
    encoding = _encoding(problem)
    network = centred(problem, random_network(problem, np.random.default_rng(seed)))
    point = encoding.start(network)
    assert point is not None  # a random network has no constraints to break
    best = Outcome("stopped", -math.inf)
    while True:
        before = best.objective
        for odd in (True, False):
            if clock.stop_reason:
                return _claimed(problem, network, best, is_finished=False)
            model, limit = half(encoding, point, odd=odd), clock.remaining
            task = Task(model, start=point, time_limit=limit, seed=seed, tolerance=encoding.tolerance)
            outcome = Highs().solve(task)
            if outcome.point is not None and outcome.objective <= best.objective:
                best, point = outcome, _with_whole_bits(encoding, outcome.point)
                network = encoding.decode(outcome.point)
        if best.objective >= before:
            return _claimed(problem, network, best, is_finished=not clock.stop_reason)


def wait_for_solvers() -> None:
    """Wait for solvers still running past their limit, so that they do not slow down the next cell."""
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join()


def _encoding(problem: Problem) -> LayeredEncoding:
    (encoding,) = Paper().encode(problem)
    assert isinstance(encoding, LayeredEncoding)
    return encoding


def _with_whole_bits(encoding: LayeredEncoding, point: Floats) -> Floats:
    """The point with activations of exactly 0 or 1, since the other half fixes them."""
    point = point.copy()
    for outputs in encoding.outputs:
        point[outputs] = np.round(point[outputs])
    return point


def _claimed(problem: Problem, network: Network | None, outcome: Outcome, *, is_finished: bool) -> Claimed:
    unit = problem.accuracy.unit
    is_infeasible = outcome.status == "infeasible"
    return Claimed(network, outcome.objective * unit, outcome.bound * unit, is_finished, is_infeasible)
