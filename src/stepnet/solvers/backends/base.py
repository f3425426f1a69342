"""Backend: what every solver offers, and Outcome: what it answers."""

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
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from stepnet.errors import YES, Answer, MissingExtraError
from stepnet.model.arithmetic import Floats
from stepnet.solvers.model import Model

Status = Literal["optimal", "infeasible", "stopped"]
LARGEST_SAFE = 1e4
POLL_SECONDS = 0.02
GRACE_SECONDS = 0.3
THREAD_NAME = "stepnet solver"


@dataclass(frozen=True)
class Task:
    """A program with everything a solver is told about it."""

    model: Model
    start: Floats | None = None
    time_limit: float = float("inf")
    gap: float = 0.0
    threads: int = 1
    seed: int = 0
    tolerance: float | None = None  # of rows and integrality; None: the solver's own default
    on_solution: Callable[[Floats, float], None] = field(default=lambda point, objective: None)
    on_bound: Callable[[float], None] = field(default=lambda bound: None)
    should_stop: Callable[[], bool] = field(default=lambda: False)
    refine: Callable[[Floats], Floats] = field(default=lambda point: point)  # better reals for the same integers


@dataclass(frozen=True)
class Outcome:
    """What a solver says: claims, not facts. ``bound`` is valid for the program it was given."""

    status: Status
    bound: float
    point: Floats | None = None
    objective: float = float("inf")


class Backend(ABC):
    """One solver. Its name, its Python package, and the extra that installs it."""

    name: ClassVar[str]
    title: ClassVar[str]
    package: ClassVar[str]
    extra: ClassVar[str | None] = None

    def is_available(self) -> bool:
        """Whether the package can be imported; takes no licence."""
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
        """Whether this solver takes programs of this kind."""
        return YES

    @abstractmethod
    def solve(self, task: Task) -> Outcome:
        """Solve within the task's limits; raises only if the solver itself fails."""


def too_large_for_floats(model: Model) -> Answer:
    """Programs of integers alone are exact; a float solver's tolerances are not safe for large ones."""
    if model.integer.all() and np.abs(model.matrix.data).max(initial=0.0) > LARGEST_SAFE:
        return Answer(
            f"this program of integers has coefficients above {LARGEST_SAFE:g}, where tolerances make false claims. "
            f"Use solver='cpsat', or round the data to fewer digits."
        )
    return YES


def run_stoppable(solve: Callable[[], None], stop: Callable[[], None], task: Task, *, grace: float = math.inf) -> bool:
    """Run a solver in a thread of its own, so that Ctrl-C reaches Python, and stop it when asked.

    Some solvers look at the clock too rarely. One that is still at work ``grace`` seconds after its
    time limit, or after it was asked to stop, is left to end by itself; then the answer is False. The
    first error raised in the solver's thread is raised here.
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
