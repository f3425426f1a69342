"""Run: the state of one fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stepnet.bounds.bound import Bound
from stepnet.certificate.result import Result
from stepnet.errors import NoNetworkError
from stepnet.methods.incumbent import Incumbent
from stepnet.methods.journal import Journal
from stepnet.methods.plan import Plan
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.pool import Pool
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Progress

_SILENCE = 1.0  # seconds without a sign of life
_GLANCE = 0.1  # seconds between two looks at the clock
_VERIFY = 4  # evaluations that take as long as to verify and describe the result


@dataclass
class Run:
    """A problem, a budget and a plan; the best network and bound so far; and what happened.

    A network counts only after :meth:`offer` has evaluated it in exact arithmetic.
    """

    problem: Problem
    budget: Budget
    n_jobs: int | None = 1
    seed: int = 0
    plan: Plan | None = None
    pool: Pool = field(default_factory=Pool)  # of rows that no neuron gets right together
    best: Incumbent = field(default_factory=Incumbent)
    journal: Journal = field(default_factory=Journal)
    evaluation_time: float = 0.0  # of the slowest exact evaluation

    # What is known.

    @property
    def network(self) -> Network | None:
        return self.best.network

    @property
    def loss(self) -> float:
        return self.best.loss

    @property
    def bound(self) -> Bound:
        return self.best.bound

    @property
    def gap(self) -> float:
        return self.problem.accuracy.gap(self.loss, self.bound.value)

    @property
    def is_proven(self) -> bool:
        return self.problem.accuracy.are_equal(self.loss, self.bound.value)

    # Networks and bounds.

    def evaluate(self, network: Network) -> float:
        """The exact loss, infinite where the constraints do not admit the network."""
        begin = self.budget.elapsed
        loss = self.problem.price(network)
        self.evaluation_time = max(self.evaluation_time, self.budget.elapsed - begin)
        return loss

    def offer(self, network: Network) -> float:
        """Evaluate a network; keep it if it is better. Returns its exact loss.

        A solver's rounding may carry a network out of the problem's constraints: it counts for nothing.
        """
        loss = self.evaluate(network)
        if loss < self.loss:
            self._keep(network, loss)
        return loss

    def settle(self, network: Network) -> None:
        """Make a network the answer, whatever its loss."""
        self._keep(network, self.evaluate(network))

    def recheck(self) -> None:
        """Compute the loss once more, before it becomes a cut-off that a proof rests on."""
        if self.network is not None:
            self.best.loss = self.evaluate(self.network)

    def reshape(self, polish: Callable[[Problem, Network], Network]) -> None:
        """Replace the network by one of no larger loss and a better shape."""
        if self.network is not None:
            network = polish(self.problem, self.network)
            if (loss := self.evaluate(network)) <= self.loss:
                self.best.network, self.best.loss = network, loss

    def thin(self, network: Network) -> None:
        """Replace the network by one with fewer non-zero weights, if its loss is no larger."""
        if self.network is None or self.problem.refuses(network) or network.n_weights >= self.network.n_weights:
            return
        if (loss := self.evaluate(network)) <= self.loss:
            self._keep(network, loss)

    def raise_bound(self, bound: Bound) -> None:
        """Keep a bound if it is better than the one known: larger, or as large and nobody's mere word."""
        if self.best.raise_bound(bound):
            self._report()

    def _keep(self, network: Network, loss: float) -> None:
        self.best.network, self.best.loss, self.best.found_by = network, loss, self.stage
        self._report()

    # Time.

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do or no leave to go on."""
        return self.is_proven or self.gap <= self.budget.gap or self.must_stop()

    def must_stop(self) -> bool:
        """Whether there is no leave to go on."""
        return self.budget.stop_reason is not None

    @property
    def last_call(self) -> float:
        """Seconds after the start when work must end, so that the result is verified within the limit."""
        return self.budget.time_limit - _VERIFY * self.evaluation_time

    @contextmanager
    def within(self, share: float) -> Iterator[None]:
        """Inside, there is only a share of the time that is left."""
        whole = self.budget
        if share < 1 and math.isfinite(whole.remaining):
            self.budget = whole.until(whole.elapsed + share * whole.remaining)
        try:
            yield
        finally:
            self.budget = whole

    def compiles(self, kernels: Compiling, share: float = 1.0) -> bool:
        """Wait for kernels, for a share of the time that is left; False if they are not ready then."""
        end = self.budget.elapsed + share * self.budget.remaining
        if kernels.is_done(min(_SILENCE, share * self.budget.remaining)):
            return True
        stage = self.stage
        self.announce("compiling, once per installation")
        while not kernels.is_done(_GLANCE):
            if self.must_stop() or self.budget.elapsed > end:
                return False
        self.stage = stage
        return True

    # Telling.

    @property
    def stage(self) -> str:
        """What is going on now, in words that fit behind "a network found by"."""
        return self.journal.stage

    @stage.setter
    def stage(self, stage: str) -> None:
        self.journal.stage = stage

    def choose(self, way: str, reason: str) -> None:
        """Begin with a way to an exact answer."""
        self.note(way, reason)
        self.stage = way

    def note(self, way: str, reason: str) -> None:
        """Why a way is taken, or left out."""
        self.journal.note(self.budget.elapsed, way, reason)

    def announce(self, stage: str) -> None:
        """Tell the outside what is going on now."""
        self.stage, self.journal.share = stage, None
        self._report()

    def advance(self, share: float) -> None:
        """Tell the outside how much of the stage is done, where that takes long enough to wonder."""
        is_long = self.budget.elapsed - self.journal.trace[-1].runtime > _SILENCE
        if is_long and share < 1:
            self.journal.share = share
            self._report()

    def _report(self) -> None:
        bound = min(self.bound.value, self.loss)
        elapsed, share = self.budget.elapsed, self.journal.share
        if self.journal.tell(Progress(elapsed, self.loss, bound, self.gap, self.stage, self.network, share)):
            self.budget.stop("callback")

    def result(self) -> Result:
        if self.network is None:
            raise NoNetworkError(
                "no network was found that the constraints admit; loosen them, or give more time or neurons."
            )
        journal = self.journal
        reached = "proven" if self.is_proven else ("gap" if self.gap <= self.budget.gap else None)
        is_late = self.budget.elapsed >= self.last_call
        return Result(
            self.network,
            self.loss,
            self.best.best_bound,
            reached or self.budget.stop_reason or journal.trouble or ("time" if is_late else "finished"),
            self.budget.elapsed,
            self.best.found_by,
            tuple(journal.claims),
            tuple(journal.trace),
            self.best.fewest,
            tuple(journal.rounds),
            tuple(self.pool.subsystems),
            tuple(journal.ways),
            journal.points,
            self.plan,
        )
