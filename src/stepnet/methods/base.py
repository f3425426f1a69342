"""Method: an arrangement of bounds, searches, provers and programs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Self

from stepnet.certificate.result import Result
from stepnet.errors import YES, Answer, InvalidInputError, NotAcceptedError
from stepnet.methods.plan import Plan
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget


class Method(ABC):
    """Works on a run until it is over, or nothing is left to try."""

    @abstractmethod
    def plan(self, problem: Problem) -> Plan:
        """What the method will do; raises NotAcceptedError, with the way out, if it does not accept the problem."""

    @abstractmethod
    def work(self, run: Run, start: Network | None = None) -> None:
        """Offer networks and raise bounds."""

    @classmethod
    def of(cls, **options: Any) -> Self:
        """The method with options by name, including those of its parts."""
        known = set(cls.__dataclass_fields__)  # type: ignore[attr-defined]
        if unknown := [name for name in options if name not in known]:
            names = ", ".join(sorted(known)) or "no options"
            raise InvalidInputError(f"method={cls.__name__.lower()!r} has no option {unknown[0]!r}; it has {names}.")
        return cls(**options)

    def accepts(self, problem: Problem) -> Answer:
        """Whether this method accepts the problem; if not, the reason and the way out."""
        try:
            self.plan(problem)
        except NotAcceptedError as refusal:
            return Answer(str(refusal))
        return YES

    def planned(self, run: Run) -> Plan:
        """The plan of a run; it is made if there is none yet."""
        if run.plan is None:
            run.plan = self.plan(run.problem)
        return run.plan

    def solve(
        self,
        problem: Problem,
        start: Network | None = None,
        *,
        time_limit: float = math.inf,
        on_interrupt: str = "raise",
    ) -> Result:
        """Work on a new run until the end; with ``on_interrupt="keep"``, Ctrl-C returns what was found so far."""
        run = Run(problem, Budget(time_limit))
        with run.budget.catching_interrupts(on_interrupt):
            self.work(run, start)
        return run.result()
