"""Run: the state of one fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from stepnet.bounds.bound import Bound
from stepnet.certificate.result import Result
from stepnet.errors import NoNetworkError
from stepnet.methods.journal import Journal
from stepnet.methods.plan import Plan
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.provers.pool import Pool
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Progress

_SILENCE = 1.0  # seconds without a sign of life
_GLANCE = 0.1  # seconds between two checks of the clock
_TRIED = 500  # rows that tell how long an evaluation of all takes
_VERIFY = 4  # verifying and describing the result takes as long as so many evaluations
_WORST_CASE = 10  # times as long as an evaluation of the rows as they are, if nearly all are settled at a glance
_EVALUATION = 4e-8  # seconds per row and neuron, as long as no evaluation has been timed


@dataclass
class Run:
    """A problem, a budget and a plan; the best network and bounds so far; and what happened.

    A network counts only after :meth:`offer` has evaluated it in exact arithmetic.
    """

    problem: Problem
    budget: Budget
    n_jobs: int | None = 1
    seed: int = 0
    plan: Plan | None = None
    pool: Pool = field(default_factory=Pool)  # sets of rows that no neuron gets right together
    kept: dict[str, Any] = field(default_factory=dict)  # by name, what provers that resume have done so far
    journal: Journal = field(default_factory=Journal)
    network: Network | None = None
    loss: float = math.inf
    bound: Bound = field(default_factory=Bound)
    free_bound: Bound = field(default_factory=Bound)  # the best one that holds for all networks
    fewest: Bound | None = None  # on the number of non-zero weights at this loss
    found_by: str = ""  # the stage that found the network
    stage: str = "start"  # the current stage, in words that fit after "a network found by"
    share: float | None = None  # how much of the stage is done, if known
    is_learned: bool = False  # whether the network is trained for new rows, so that its loss need not be the smallest
    evaluation_time: float = 0.0  # of the slowest exact evaluation

    # What is known.

    @property
    def gap(self) -> float:
        return self.problem.accuracy.gap(self.loss, self.bound.value)

    @property
    def is_proven(self) -> bool:
        return self.problem.accuracy.are_equal(self.loss, self.bound.value)

    @property
    def best_bound(self) -> Bound:
        """The bound for all networks if it says as much about this network, otherwise the larger one."""
        return self.free_bound if self.free_bound.value >= min(self.bound.value, self.loss) else self.bound

    # Networks and bounds.

    def evaluate(self, network: Network) -> float:
        """The exact loss; infinite if the constraints do not admit the network."""
        begin = self.budget.elapsed
        loss = self.problem.price(network)
        self.evaluation_time = max(self.evaluation_time, self.budget.elapsed - begin)
        return loss

    def offer(self, network: Network) -> float:
        """Evaluate a network; keep it if it is better. Returns its exact loss.

        A network that a solver's rounding has moved out of the constraints has an infinite loss.
        """
        loss = self.evaluate(network)
        if loss < self.loss:
            self._keep(network, loss)
        return loss

    def settle(self, network: Network) -> None:
        """Make a network the answer, whatever its loss."""
        self._keep(network, self.evaluate(network))

    def recheck(self) -> None:
        """Compute the loss once more, before it becomes a cutoff on which a proof depends."""
        if self.network is not None:
            self.loss = self.evaluate(self.network)

    def reshape(self, polish: Callable[[Problem, Network], Network]) -> None:
        """Replace the network by one of no larger loss and a better shape."""
        if self.network is not None:
            network = polish(self.problem, self.network)
            if (loss := self.evaluate(network)) <= self.loss:
                self.network, self.loss = network, loss

    def thin(self, network: Network) -> None:
        """Replace the network by one with fewer non-zero weights, if its loss is no larger."""
        if self.network is None or self.problem.refuses(network) or network.n_weights >= self.network.n_weights:
            return
        if (loss := self.evaluate(network)) <= self.loss:
            self._keep(network, loss)

    def raise_bound(self, bound: Bound) -> None:
        """Keep a bound if it is better: larger, or as large and not merely somebody's claim."""
        if bound.scope.is_all and bound.is_better_than(self.free_bound):
            self.free_bound = bound
        if bound.is_better_than(self.bound):
            self.bound = bound
            self._report()

    def _keep(self, network: Network, loss: float) -> None:
        self.network, self.loss, self.found_by = network, loss, self.stage
        self._report()

    # Time.

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do, or the fit must end."""
        return self.is_proven or self.gap <= self.budget.gap or self.must_stop()

    def must_stop(self) -> bool:
        """Whether the fit must end now."""
        return self.budget.is_used_up()

    @property
    def last_call(self) -> float:
        """Seconds after the start when work must end, so that the result can be verified within the limit."""
        return self.budget.time_limit - _VERIFY * max(self.evaluation_time, self._evaluation_guess)

    @property
    def _evaluation_guess(self) -> float:
        seconds = _EVALUATION * self.problem.dataset.n_rows * sum(self.problem.architecture.widths)
        return seconds * (_WORST_CASE if self.problem.is_uncertain else 1)

    def can_evaluate(self, network: Network) -> bool:
        """Whether there is time for an exact evaluation; worst cases take long, so some rows are tried first."""
        dataset = self.problem.dataset
        if not self.problem.is_uncertain or dataset.n_rows <= _TRIED or math.isinf(self.budget.time_limit):
            return True
        radii = None if dataset.radii is None else dataset.radii[:_TRIED]
        first = Dataset(dataset.X[:_TRIED], dataset.y[:_TRIED], dataset.weights[:_TRIED], radii)
        begin = self.budget.elapsed
        replace(self.problem, dataset=first).price(network)
        seconds = (self.budget.elapsed - begin) * dataset.n_rows / _TRIED
        if seconds > self.budget.remaining:
            self.note(self.stage, f"left out, since its worst case takes about {seconds:.0f} s to evaluate")
        return seconds <= self.budget.remaining

    def has_time_to(self, stage: str) -> bool:
        """Begin a stage that takes as long as some evaluations, if there is time for it; otherwise say that not."""
        self.stage = stage
        is_there = _VERIFY * self.evaluation_time <= self.budget.with_grace().remaining
        if not is_there:
            self.note(stage, "left out for want of time")
        return is_there

    def hurry(self, way: str, reason: str) -> None:
        """Record that something was cut short because of the limit."""
        self.journal.trouble = "time"
        self.note(way, reason)

    @contextmanager
    def within(
        self, share: float, seconds: float = math.inf, is_enough: Callable[[], bool] | None = None
    ) -> Iterator[None]:
        """Inside, only a share of the remaining time is available, at most so many seconds, and until it is enough."""
        whole = self.budget
        left = min(seconds, share * whole.remaining if share < 1 else math.inf)
        if math.isfinite(left) or is_enough is not None:
            self.budget = whole.until(whole.elapsed + left, is_enough)
        try:
            yield
        finally:
            self.budget = whole

    def compiles(self, kernels: Compiling, share: float = 1.0) -> bool:
        """Wait for kernels, for a share of the remaining time; whether they are ready."""
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

    # Reports.

    def note(self, way: str, reason: str) -> None:
        """Record why a way to an exact answer is tried or left out."""
        self.journal.note(self.budget.elapsed, way, reason)

    def announce(self, stage: str) -> None:
        """Begin a stage, and report it."""
        self.stage, self.share = stage, None
        self._report()

    def advance(self, share: float) -> None:
        """Report how much of the stage is done, if the last report is long ago."""
        is_long = self.budget.elapsed - self.journal.trace[-1].runtime > _SILENCE
        if is_long and share < 1:
            self.share = share
            self._report()

    def _report(self) -> None:
        bound, elapsed = min(self.bound.value, self.loss), self.budget.elapsed
        known = (elapsed, self.loss, bound, self.gap, self.stage, self.network, self.share, self.is_learned)
        if self.journal.tell(Progress(*known)):
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
            self.best_bound,
            reached or self.budget.stop_reason or journal.trouble or ("time" if is_late else "finished"),
            self.budget.elapsed,
            self.found_by,
            tuple(journal.claims),
            tuple(journal.trace),
            self.fewest,
            tuple(journal.rounds),
            tuple(self.pool.subsystems),
            tuple(journal.ways),
            journal.points,
            self.plan,
            self.is_learned,
            tuple(journal.reached),
        )
