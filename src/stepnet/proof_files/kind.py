"""Kind of proof: one way to show that no network loses less than a bound; it writes its files and checks them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from stepnet.certificate.verification import Check
from stepnet.errors import SolverError
from stepnet.problem.problem import Problem
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.question import CheckError, Question, Watch
from stepnet.provers.pool import Pool
from stepnet.provers.row_weights import RowWeights
from stepnet.runtime.limits import Budget


class BetterNetworkError(SolverError):
    """There is a network that loses less than the bound."""

    def __init__(self, loss: float) -> None:
        self.loss = loss
        super().__init__(
            f"no proof was written: there is a network that loses {loss:g}, so the bound does not hold for all "
            f"networks. Fit again with this network as the start."
        )


@dataclass(frozen=True)
class Task:
    """A bound to be proven: for a problem on correct sets, with subsystems that are known and a thread to work in."""

    problem: Problem
    question: Question
    weights: RowWeights
    pool: Pool
    seed: int
    worker: ThreadPoolExecutor

    @cached_property
    def units(self) -> int:
        """The bound, in units of the row weights."""
        return self.question.limit + 1


@dataclass(frozen=True)
class Parts:
    """What a kind adds to a folder: entries of ``proof.json``, and files by name."""

    entries: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def outcome(claimed: str, work: Callable[[], str]) -> Check:
    """What becomes of a claim: ``work`` checks it and says in words how."""
    begin = time.monotonic()
    try:
        done = work()
    except CheckError as error:
        return Check(claimed, False, str(error))
    except TimeoutError:
        return Check(claimed, None, "the time is up")
    return Check(claimed, True, f"{done} ({time.monotonic() - begin:.1f} s)")


class Kind(ABC):
    """One way to prove a bound. To add one, write such a class in a file of its own and list it in ``kinds``."""

    name: ClassVar[str]  # in proof.json
    knows_forms: ClassVar[bool] = False  # whether it proves claims about scorecards of a form

    @abstractmethod
    def accepts(self, task: Task) -> bool:
        """Whether it may prove the bound."""

    def seconds(self, task: Task) -> float:
        """About how long writing takes, or 0 if that cannot be told: then it is tried for a while."""
        return 0.0

    @abstractmethod
    def write(self, task: Task, budget: Budget) -> Parts | None:
        """Prove the bound; None if the time is up, or this kind cannot.

        Raises BetterNetworkError if there is a network that loses less.
        """

    def n_checks(self, claim: Claim) -> int:
        """How many checks there are, at most."""
        return 1

    @abstractmethod
    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        """Check that the files prove the claim, and say what believed it."""
