"""Learn: the best network for new data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from stepnet.constructions.discriminants import discriminant_network
from stepnet.constructions.moved_threshold import with_limits_met
from stepnet.methods.base import Method
from stepnet.methods.begin import begin
from stepnet.methods.feasible import meet_limits
from stepnet.methods.plan import Plan
from stepnet.methods.prove import Prove
from stepnet.methods.run import Run
from stepnet.methods.search import Search, search_within
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.search.descent.descent import DescentOptions, accepts_descent, descend_network
from stepnet.search.descent.stream import Stream, accepts_stream
from stepnet.search.local.local_search import Effort, accepts_search

# Of the search for what descent does not take: seconds for hundreds of rows.
_SHARE = 0.25  # of the time, at most
_STARTS = 2
_MOVES, _ROBUST_MOVES = 2_000, 300

_COVER_SECONDS = 1.0  # for a bound on the worst case, which learning does not need
_COMPARED = 5_000  # rows on which what was learned in a hurry is compared


@dataclass(kw_only=True, repr=False)
class Learn(Method, BaseEstimator):  # type: ignore[misc]
    """Noisy straight-through descent: fast, regularised, for any number of rows.

    Its certificate states the verified training loss and the free bound. If the training loss
    is what matters, use ``Prove``.

    It takes every weight domain, threshold and activation, limits on the number of weights, signs and other constraints
    that a projection keeps, and balls of perturbations. What is left goes to a local search that ends by itself, or
    else to ``Prove``; the plan gives the reason.

    Parameters
    ----------
    epochs : int
        Passes over the rows; at least 2,000 steps, and at most 50,000 (of millions of rows, 200,000).
    batch : int or None
        Rows per step; None is 64, and 256 for wide networks.
    rate : float or None
        Learning rate of Adam; None is 0.02, and 0.01 for wide networks.
    strength : float
        Factor on all regularisation, which decreases as the number of rows per feature grows.
    """

    epochs: int = 300
    batch: int | None = None
    rate: float | None = None
    strength: float = 0.7

    def plan(self, problem: Problem) -> Plan:
        if instead := _instead(problem):
            plan, reason = instead.plan(problem), accepts_descent(problem).reason
            return replace(plan, refused=(("descent", reason), *plan.refused))
        return Plan.of(problem, "free bounds", f"descent, {self.epochs} passes over the rows")

    def work(self, run: Run, start: Network | None = None) -> None:
        self.planned(run)
        if instead := _instead(run.problem):
            _leave(run, instead, start)
            return
        run.is_learned = True
        begin(run, start, constants=False, separate=False, cover_seconds=_COVER_SECONDS)
        run.announce("learning")
        network = descend_network(
            run.problem,
            seed=run.seed,
            options=self.options,
            should_stop=run.must_stop,
            on_share=run.advance,
            seconds=run.last_call - run.budget.elapsed,
            on_hurry=lambda: run.hurry("learning", "fewer steps than planned, for want of time"),
        )
        if run.journal.trouble == "time":
            network = better(run.problem.without_limits, network)
        if run.problem.constraints.demands:
            network = _within_limits(run, network)
        # The learned network is the answer even if a network with a smaller training loss is known.
        run.settle(network)

    def go_on(self, run: Run, stream: Stream) -> None:
        """Learn from the rows of a problem too, without the earlier ones."""
        run.is_learned = True
        begin(run, None, constants=False, separate=False)
        run.announce("learning")
        stream.learn(run.problem, self.options, np.random.default_rng([run.seed, stream.n_batches]), run.must_stop)
        run.settle(stream.network(run.problem.architecture))

    @property
    def options(self) -> DescentOptions:
        return DescentOptions(epochs=self.epochs, batch=self.batch, rate=self.rate, strength=self.strength)


def _within_limits(run: Run, learned: Network) -> Network:
    """What was learned with the threshold that meets the limits on errors; where none does, a network that does."""
    moved = with_limits_met(run.problem, learned)
    if moved is not None:
        return moved
    run.note("threshold", "no threshold of the output meets the limits on errors, so that a network is searched for")
    meet_limits(run, Prove().work)
    if not run.must_stop():
        search_within(run, _SHARE, Effort(moves=_MOVES, starts=_STARTS))
    assert run.network is not None
    return run.network


def better(problem: Problem, learned: Network) -> Network:
    """What was learned in a hurry, or linear discriminants where these have the smaller loss on the first rows."""
    rough = discriminant_network(problem)
    if rough is None:
        return learned
    dataset = problem.dataset
    radii = None if dataset.radii is None else dataset.radii[:_COMPARED]
    first = Dataset(dataset.X[:_COMPARED], dataset.y[:_COMPARED], dataset.weights[:_COMPARED], radii)
    sample = replace(problem, dataset=first)
    return rough if sample.price(rough) < sample.price(learned) else learned


def descends(method: Method, problem: Problem) -> bool:
    """Whether a method learns the problem by descent, for new rows."""
    return isinstance(method, Learn) and bool(accepts_descent(problem))


def streams(method: Method, problem: Problem) -> bool:
    """Whether a method goes on with new rows alone."""
    return isinstance(method, Learn) and bool(accepts_stream(problem))


def _instead(problem: Problem) -> Method | None:
    """The method for what descent does not take: a search if it takes that, else a proof; None for the rest."""
    if accepts_descent(problem):
        return None
    moves = _ROBUST_MOVES if problem.is_uncertain else _MOVES
    return Search(moves=moves, starts=_STARTS) if accepts_search(problem) else Prove()


def _leave(run: Run, method: Method, start: Network | None) -> None:
    """Leave the work to another method: a proof may take all of the time, a search a share of it."""
    if isinstance(method, Prove):
        method.work(run, start)
        return
    with run.within(_SHARE):
        method.work(run, start)
        is_late = run.budget.elapsed >= run.last_call
    if is_late:
        run.journal.trouble = "time"
