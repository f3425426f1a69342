"""Backend: the interface to a solver; Task and Outcome: what it is given and what it returns."""

from __future__ import annotations

import atexit
import importlib
import importlib.metadata
import importlib.util
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from stepnet.errors import YES, Answer, MissingExtraError, SolverFailure
from stepnet.model.arithmetic import Floats
from stepnet.solvers.model import Model

Status = Literal["optimal", "infeasible", "stopped"]
Statuses = dict[Status, tuple[Any, ...]]  # which of a solver's own codes mean what
LARGEST_SAFE = 1e4
POLL_SECONDS = 0.02
THREAD_NAME = "stepnet solver"


@dataclass(frozen=True)
class Task:
    """A program, and everything that a solver is told about it."""

    model: Model
    start: Floats | None = None
    time_limit: float = float("inf")
    gap: float = 0.0
    threads: int = 1
    seed: int = 0
    tolerance: float | None = None  # of rows and integrality; None: the solver's own default
    on_solution: Callable[[Floats, float], None] = lambda point, objective: None
    on_bound: Callable[[float], None] = lambda bound: None
    should_stop: Callable[[], bool] = lambda: False
    refine: Callable[[Floats], Floats] = lambda point: point  # better reals for the same integers


@dataclass(frozen=True)
class Outcome:
    """A solver's claims, yet to be verified; ``bound`` is one for the program as given."""

    status: Status
    bound: float
    point: Floats | None = None
    objective: float = float("inf")


class Backend(ABC):
    """One solver: its name, its Python package, the extra that installs it, and the meaning of its status codes."""

    name: ClassVar[str]
    title: ClassVar[str]
    package: ClassVar[str]
    extra: ClassVar[str | None] = None
    statuses: ClassVar[Statuses]

    def is_available(self) -> bool:
        """Whether the package can be imported; uses no licence."""
        return importlib.util.find_spec(self.package) is not None

    def version(self) -> str:
        return importlib.metadata.version(self.package)

    def require(self) -> None:
        if not self.is_available():
            raise MissingExtraError(
                f"solver={self.name!r} needs the package {self.package!r}, which is not installed. "
                f"Install it with: pip install 'stepnet[{self.extra}]'"
            )

    def accepts(self, model: Model) -> Answer:
        """Whether this solver accepts programs of this kind; if not, the reason and the way out."""
        return YES

    @abstractmethod
    def solve(self, task: Task) -> Outcome:
        """Solve within the task's limits; raises only if the solver itself fails."""

    def status_of(self, code: Any) -> Status:
        """The meaning of the solver's own status; raises SolverFailure if it is not a known one."""
        for status, codes in self.statuses.items():
            if code in codes:
                return status
        instead = "scip" if self.name == "highs" else "highs"
        raise SolverFailure(f"{self.title} ended with status {code}; try solver={instead!r}.")


def too_large_for_floats(model: Model) -> Answer:
    """All-integer programs have exact answers, which a float solver's tolerances miss if coefficients are large."""
    if model.integer.all() and np.abs(model.matrix.data).max(initial=0.0) > LARGEST_SAFE:
        return Answer(
            f"this all-integer program has coefficients above {LARGEST_SAFE:g}, where tolerances lead to false claims. "
            f"Use solver='cpsat', or round the data to fewer digits."
        )
    return YES


def run_stoppable(solve: Callable[[], None], stop: Callable[[], None], task: Task, *, grace: float = math.inf) -> bool:
    """Run a solver in its own thread, so that Ctrl-C reaches Python, and stop it when asked.

    Some solvers check the clock too rarely. One that is still running ``grace`` seconds after its
    time limit, or after it was asked to stop, is abandoned, and False is returned. The first error
    raised in the solver's thread is raised here.
    """
    errors: list[BaseException] = []

    def work() -> None:
        try:
            solve()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name=THREAD_NAME, daemon=True)
    deadline = time.perf_counter() + task.time_limit + grace
    thread.start()
    try:
        while thread.is_alive() and time.perf_counter() < deadline:
            thread.join(POLL_SECONDS)
            if thread.is_alive() and task.should_stop():
                stop()
                deadline = min(deadline, time.perf_counter() + grace)
    except BaseException:
        stop()
        thread.join(min(grace, 5.0))
        raise
    if thread.is_alive():
        stop()
        atexit.register(thread.join, 10.0)  # a solver must not outlive the interpreter
        return False
    if errors:
        raise errors[0]
    return True
