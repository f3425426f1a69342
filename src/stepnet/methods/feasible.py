"""A first network that meets all limits on errors, or the proof that there is none.

Limits Σ a_i e_i <= b with a_i >= 0 are met one after the other. Each in turn is what is minimised, under those that are
met already, until its sum is small enough: so there is always a network to start with, and if the proven least sum is
too large, no network meets them all. Constant answers treat all groups alike, so parity is demanded from the outset.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from stepnet.errors import InfeasibleError, NoNetworkError
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.error_limits.demand import Demand
from stepnet.problem.losses.misclassified import MISCLASSIFIED
from stepnet.problem.problem import Problem

_ROUNDING = 1e-9  # relative, of sums of coefficients with many digits


def meet_limits(run: Run, work: Callable[[Run, Network | None], None]) -> None:
    """Offer a network that meets the limits on errors; ``work`` is that of the method.

    Raises
    ------
    InfeasibleError
        If no network meets them.
    NoNetworkError
        If none was found in the time.
    """
    demands = run.problem.constraints.demands
    if not demands or run.network is not None:
        return
    stage, network = run.stage, None
    met = [one for one in demands if not one.is_monotone]
    for demand in reversed([one for one in demands if one.is_monotone]):  # the first one last: messages are about it
        run.announce(f"a network with {demand.name} {_demanded(demand)}")
        phase = _Phase(run, demand, tuple(met))
        network = phase.solved(work, network)
        met.append(demand)
    run.stage = "meeting the limits on errors"
    if network is not None:
        run.offer(network)
    run.stage = stage


class _Phase:
    """The problem of meeting one limit, under those that are met already."""

    def __init__(self, run: Run, demand: Demand, met: tuple[Demand, ...]) -> None:
        self.run, self.demand, self.met = run, demand, met
        (inequality,) = demand.inequalities
        coefficients, self.most = inequality.scaled(2.0**40)
        data, problem = run.problem.dataset, run.problem
        self.is_exact = coefficients.dtype != object and bool((coefficients == inequality.coefficients).all())
        self.problem: Problem = replace(
            problem,
            dataset=Dataset(data.X, data.y, coefficients),
            loss=MISCLASSIFIED,
            constraints=replace(problem.constraints.with_demands(lambda one: one in met), fewest=False),
        )

    def solved(self, work: Callable[[Run, Network | None], None], start: Network | None) -> Network:
        """A network that meets the limit and the others before it."""
        run = self.run
        phase = Run(self.problem, run.budget, run.n_jobs, run.seed, pool=run.pool)
        with phase.within(1.0, is_enough=lambda: phase.loss <= self.most):
            work(phase, start)
        if phase.network is not None and phase.loss <= self.most:
            return phase.network
        raise self._refusal(phase)

    def _refusal(self, phase: Run) -> NoNetworkError:
        """What is known about a limit that was not met."""
        problem, demand = self.run.problem, self.demand
        shape = f"hidden={problem.architecture.hidden}"
        others = " and ".join(f"{one.name} {_demanded(one)}" for one in self.met)
        what = f"{demand.name} {_demanded(demand)}" + (f" together with {others}" if others else "")
        bound, way_out = (
            phase.best_bound,
            "Loosen a limit or give more neurons; stepnet.tradeoff shows what is possible.",
        )
        slack = 0.0 if self.is_exact else _ROUNDING * self.problem.dataset.total_weight
        is_proven = min(bound.value, phase.loss) > self.most + slack
        found = self._nearest(phase, is_best=phase.is_proven)
        if not is_proven:
            return NoNetworkError(
                f"no network was found of {shape} with {what}{found}. Give more time or neurons, or loosen a limit."
            )
        message = f"no network of {shape} has {what}{found}. Proven for {bound.scope}: {bound.evidence}. {way_out}"
        if phase.network is None:
            return InfeasibleError(message, None, bound)
        wrong = phase.network.predict(problem.dataset.X) != problem.dataset.y
        return InfeasibleError(message, demand.statement(wrong), bound, phase.network)

    def _nearest(self, phase: Run, *, is_best: bool) -> str:
        """The value of the network that comes nearest, in words, and what is known to be impossible."""
        if phase.network is None:
            return ""
        data, demand = self.run.problem.dataset, self.demand
        value = demand.statement(phase.network.predict(data.X) != data.y).value_in_words
        share = demand.shares[0]
        if share.bottom_rises.any() or not self.is_exact:  # the sum says little about a ratio of sums
            return f"; the nearest has {value}"
        if is_best:
            return f"; the {'largest' if demand.relation == '>=' else 'smallest'} is {value}"
        size = Fraction(int(np.abs(share.rises).max()), int(demand.inequalities[0].coefficients.max()))
        sign = -1 if demand.relation == ">=" else 1
        end = (share.top + sign * size * math.ceil(min(phase.bound.value, phase.loss))) / share.bottom
        limit = replace(demand.statement(np.zeros(data.n_rows, dtype=bool)), value=end).value_in_words
        return f"; {value} was found, and none beyond {limit} is possible"


def _demanded(demand: Demand) -> str:
    return demand.statement(np.zeros(len(demand.shares[0].rises), dtype=bool)).demanded
