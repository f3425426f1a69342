"""Journal: what happened in a fit, and who is told of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from stepnet.certificate.result import Claim, Points, Round, points_of
from stepnet.runtime.progress import Callback, Progress

logger = logging.getLogger("stepnet")


@dataclass
class Journal:
    """Stages, progress, claims of solvers, rounds of generation and troubles, in the order in which they came."""

    callbacks: tuple[Callback, ...] = ()
    stage: str = "start"
    share: float | None = None  # how much of the stage is done, if known
    trace: list[Progress] = field(default_factory=list)
    earlier: Points = ()  # of the runs that this one resumes
    ways: list[str] = field(default_factory=list)  # to an exact answer that were tried, and why
    claims: list[Claim] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)  # of column-and-constraint generation
    trouble: str | None = None  # what a solver died of, if one did

    @property
    def points(self) -> Points:
        """Seconds, loss and bound so far, those of the runs that this one resumes included."""
        return self.earlier + points_of(self.trace)

    def note(self, seconds: float, way: str, reason: str) -> None:
        """Why a way is taken, or left out."""
        self.ways.append(f"{way}: {reason}")
        logger.info("%7.2f s  %s", seconds, self.ways[-1])

    def tell(self, progress: Progress) -> bool:
        """Tell everyone who wants to know; whether someone wants the fit to end."""
        self.trace.append(progress)
        logger.info("%7.2f s  loss %g  bound %g  (%s)", progress.runtime, progress.loss, progress.bound, progress.stage)
        answers = [callback(progress) for callback in self.callbacks]  # all of them are told
        return any(answers)
