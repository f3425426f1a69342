"""Method: a way to arrange bounds, searches and solvers; Run: the state of one fit."""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stepnet.bounds.bound import Bound
from stepnet.certificate.certificate import is_optimal
from stepnet.certificate.result import Claim, Points, Result, Round, points_of
from stepnet.errors import Answer, NotAcceptedError
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.pool import Pool
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Callback, Progress

logger = logging.getLogger("stepnet")

_SILENCE = 1.0  # seconds without a sign of life
_GLANCE = 0.1  # seconds between two looks at the clock
_VERIFY = 4  # evaluations that take as long as to verify and describe the result


@dataclass
class Run:
    """The best verified network and the best bound of one fit, and its budget.

    A network counts only after :meth:`offer` has evaluated it in exact arithmetic.
    """

    problem: Problem
    budget: Budget
    n_jobs: int | None = 1
    seed: int = 0
    callbacks: tuple[Callback, ...] = ()
    network: Network | None = None
    loss: float = float("inf")
    bound: Bound = field(default_factory=Bound)
    free_bound: Bound = field(default_factory=Bound)  # the best that holds for all networks
    stage: str = "start"
    share: float | None = None  # how much of the stage is done, if known
    trouble: str | None = None  # what a solver died of, if one did
    claims: list[Claim] = field(default_factory=list)
    trace: list[Progress] = field(default_factory=list)
    evaluation_time: float = 0.0  # of the slowest exact evaluation
    fewest: Bound | None = None  # on the number of non-zero weights at this loss
    closed_in: str = ""  # the stage in which loss and bound met
    rounds: list[Round] = field(default_factory=list)  # of column-and-constraint generation
    pool: Pool = field(default_factory=Pool)  # of rows that no neuron gets right together
    ways: list[str] = field(default_factory=list)  # to an exact answer that were tried, and why
    earlier: Points = ()  # of the runs that this one goes on from
    on_better: Callable[[], None] | None = None  # called when a better network was offered

    def evaluate(self, network: Network) -> float:
        begin = self.budget.elapsed
        loss = self.problem.evaluate(network)
        self.evaluation_time = max(self.evaluation_time, self.budget.elapsed - begin)
        return loss

    def offer(self, network: Network) -> float:
        """Evaluate a network; keep it if it is better. Returns its exact loss.

        A solver's rounding may carry a network out of the problem's constraints: it counts for nothing.
        """
        if self.problem.constraints.refuses(network):
            return math.inf
        loss = self.evaluate(network)
        if loss < self.loss:
            self.network, self.loss = network, loss
            self._report()
            if self.on_better is not None:
                self.on_better()
        return loss

    def recheck(self) -> None:
        """Compute the loss once more, before it becomes a cut-off that a proof rests on."""
        if self.network is not None:
            self.loss = self.evaluate(self.network)

    def settle(self, network: Network) -> None:
        """Make a network the answer, whatever its loss."""
        self.network, self.loss = network, self.evaluate(network)
        self._report()

    def reshape(self, polish: Callable[[Problem, Network], Network]) -> None:
        """Replace the network by one of no larger loss and a better shape."""
        if self.network is not None:
            network = polish(self.problem, self.network)
            if self.problem.constraints.refuses(network):
                return
            loss = self.evaluate(network)
            if loss <= self.loss:
                self.network, self.loss = network, loss

    def thin(self, network: Network) -> None:
        """Replace the network by one with fewer non-zero weights, if its loss is no larger."""
        if self.network is None or self.problem.refuses(network):
            return
        loss = self.evaluate(network)
        if loss <= self.loss and network.n_weights < self.network.n_weights:
            self.network, self.loss = network, loss
            self._report()

    def raise_bound(self, bound: Bound) -> None:
        """Keep a bound if it is better than the one known: larger, or as large and nobody's mere word."""
        if bound.scope.is_all and bound.is_better_than(self.free_bound):
            self.free_bound = bound
        if bound.is_better_than(self.bound):
            self.bound = bound
            self._report()

    def choose(self, way: str, reason: str) -> None:
        """Begin with a way to an exact answer."""
        self.note(way, reason)
        self.stage = way

    def note(self, way: str, reason: str) -> None:
        """Why a way is taken, or left out."""
        self.ways.append(f"{way}: {reason}")
        logger.info("%7.2f s  %s", self.budget.elapsed, self.ways[-1])

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

    def announce(self, stage: str) -> None:
        """Tell the outside what is going on now."""
        self.stage, self.share = stage, None
        self._report()

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

    def advance(self, share: float) -> None:
        """Tell the outside how much of the stage is done, where that takes long enough to wonder."""
        is_long = self.budget.elapsed - self.trace[-1].runtime > _SILENCE
        if is_long and share < 1:
            self.share = share
            self._report()

    @property
    def gap(self) -> float:
        return self.problem.accuracy.gap(self.loss, self.bound.value)

    @property
    def is_proven(self) -> bool:
        return is_optimal(self.problem, self.loss, self.bound.value)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do or no leave to go on."""
        return self.is_proven or self.gap <= self.budget.gap or self.budget.stop_reason is not None

    @property
    def last_call(self) -> float:
        """Seconds after the start when work must end, so that the result is verified within the limit."""
        return self.budget.time_limit - _VERIFY * self.evaluation_time

    def must_stop(self) -> bool:
        """Whether there is no leave to go on."""
        return self.budget.stop_reason is not None

    @property
    def best_bound(self) -> Bound:
        """Where both say the same of this network, the bound that holds for all networks is the better one."""
        serves = self.free_bound.value >= min(self.bound.value, self.loss)
        return self.free_bound if serves else self.bound

    @property
    def points(self) -> Points:
        """Seconds, loss and bound so far, those of the runs that this one goes on from included."""
        return self.earlier + points_of(self.trace)

    def result(self) -> Result:
        if self.network is None:
            raise RuntimeError("a run ended before its first network")
        reached = "proven" if self.is_proven else ("gap" if self.gap <= self.budget.gap else None)
        is_late = self.budget.elapsed >= self.last_call
        reason = reached or self.budget.stop_reason or self.trouble or ("time" if is_late else "finished")
        return Result(
            self.network,
            self.loss,
            self.best_bound,
            reason,
            self.budget.elapsed,
            self.closed_in if reached == "proven" else "",
            tuple(self.claims),
            tuple(self.trace),
            self.fewest,
            tuple(self.rounds),
            tuple(self.pool.subsystems),
            tuple(self.ways),
            self.points,
        )

    def _report(self) -> None:
        bound = min(self.bound.value, self.loss)
        if not self.closed_in and self.network is not None and self.is_proven:
            self.closed_in = self.stage
        progress = Progress(self.budget.elapsed, self.loss, bound, self.gap, self.stage, self.network, self.share)
        self.trace.append(progress)
        logger.info("%7.2f s  loss %g  bound %g  (%s)", progress.runtime, self.loss, progress.bound, self.stage)
        if self.network is not None:
            for callback in self.callbacks:
                if callback(progress):
                    self.budget.stop("callback")


class Method(ABC):
    """Works on a run until it is over or the method has nothing more to try."""

    @abstractmethod
    def accepts(self, problem: Problem) -> Answer:
        """Whether this method takes the problem; if not, the reason and what would do."""

    @abstractmethod
    def work(self, run: Run, start: Network | None = None) -> None:
        """Offer networks and raise bounds."""

    def solve(self, problem: Problem, start: Network | None = None, *, time_limit: float = math.inf) -> Result:
        """Work on a run of its own, to the end."""
        run = Run(problem, Budget(time_limit))
        with run.budget.catching_interrupts():
            self.work(run, start)
        return run.result()

    def require(self, problem: Problem) -> None:
        """Raise the reason if this method does not take the problem."""
        answer = self.accepts(problem)
        if not answer:
            raise NotAcceptedError(answer.reason)
