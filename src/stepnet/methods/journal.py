"""Journal: what happened in a fit, and who is told."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from stepnet.certificate.result import Claim, Points, Round, points_of
from stepnet.runtime.progress import Callback, Progress

logger = logging.getLogger("stepnet")


@dataclass
class Journal:
    """Progress, ways to an exact answer, claims of solvers, rounds of generation and failures, in order."""

    callbacks: tuple[Callback, ...] = ()
    trace: list[Progress] = field(default_factory=list)
    earlier: Points = ()  # points of the runs that this one resumes
    ways: list[str] = field(default_factory=list)  # to an exact answer that were tried, and why
    reached: list[str] = field(default_factory=list)  # what was known after each turn of a way
    claims: list[Claim] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)  # of column-and-constraint generation
    trouble: str | None = None  # why the work ended early, if it did

    @property
    def points(self) -> Points:
        """Seconds, loss and bound so far, including those of the runs that this one resumes."""
        return self.earlier + points_of(self.trace)

    def note(self, seconds: float, way: str, reason: str) -> None:
        """Record why a way is tried or left out."""
        self.ways.append(f"{way}: {reason}")
        logger.info("%7.2f s  %s", seconds, self.ways[-1])

    def reach(self, seconds: float, way: str, loss: float, bound: float) -> None:
        """Record what is known after a turn of a way."""
        self.reached.append(f"{way}: loss {loss:g}, bound {bound:g} after {seconds:.2f} s")
        logger.info("%7.2f s  turn of %s ends: loss %g  bound %g", seconds, way, loss, bound)

    def tell(self, progress: Progress) -> bool:
        """Record progress and call all callbacks; whether one of them wants the fit to end."""
        self.trace.append(progress)
        logger.info("%7.2f s  loss %g  bound %g  (%s)", progress.runtime, progress.loss, progress.bound, progress.stage)
        answers = [callback(progress) for callback in self.callbacks]
        return any(answers)
