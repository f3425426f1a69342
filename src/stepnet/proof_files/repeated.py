"""Repeated: kinds of proof without files, whose checker does all of the work again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from stepnet.certificate.verification import Check
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.kind import BetterNetworkError, Kind, Parts, Task, outcome
from stepnet.proof_files.question import LossError, Question, Watch
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.limits import Budget


class Repeated(Kind):
    """What the checker would refuse, or has no time for, is not written."""

    kernels: ClassVar[Compiling]  # of the checker
    claimed: ClassVar[str]

    @abstractmethod
    def repeat(self, question: Question, watch: Watch) -> str:
        """Do the work; in words, what was done. LossError if the claim is false, TimeoutError if the time is up."""

    def write(self, task: Task, budget: Budget) -> Parts | None:
        if not self.kernels.is_done(budget.remaining):
            return None
        try:
            self.repeat(task.question, Watch(budget))
        except LossError as error:
            raise BetterNetworkError(task.weights.loss_of(error.units)) from error
        except TimeoutError:
            return None
        return Parts()

    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        def work() -> str:
            if not self.kernels.is_done(watch.budget.remaining):
                raise TimeoutError
            return self.repeat(claim.question, watch)

        yield outcome(self.claimed, work)
