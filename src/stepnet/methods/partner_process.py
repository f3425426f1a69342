"""The partner's side: the main function of the second process, and the messages between the two.

Messages come by its standard input and go by its standard output. Whoever gets one applies it to its own run.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import IO, Protocol

from stepnet.bounds.bound import Bound
from stepnet.certificate.result import Claim
from stepnet.methods.journal import Journal
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.provers.subsystem import Subsystem

CODE = "from stepnet.methods.partner_process import work_here; work_here()"
WHERE = "in the second process"


class Message(Protocol):
    def apply(self, run: Run) -> None:
        """Let a run know."""


Inbox = SimpleQueue[Message | None]  # None: the other process has ended


@dataclass(frozen=True)
class Job:
    """What the partner is given: a run, and the function that tries the ways of its plan."""

    run: Run
    close: Callable[[Run], None]


@dataclass(frozen=True)
class Found:
    """A better network, and the stage that found it."""

    network: Network
    stage: str

    def apply(self, run: Run) -> None:
        before, run.stage = run.stage, self.stage
        run.offer(self.network)
        run.stage = before


@dataclass(frozen=True)
class Raised:
    """A better bound."""

    bound: Bound

    def apply(self, run: Run) -> None:
        run.raise_bound(self.bound)


@dataclass(frozen=True)
class Tried:
    """A way is tried; or, with what was reached, its turn has ended."""

    line: str
    is_end: bool = False

    def apply(self, run: Run) -> None:
        (run.journal.reached if self.is_end else run.journal.ways).append(f"{self.line} ({WHERE})")


@dataclass(frozen=True)
class Ended:
    """Nothing is left to try: what else is known."""

    subsystems: tuple[Subsystem, ...]
    claims: tuple[Claim, ...]
    trouble: str | None

    def apply(self, run: Run) -> None:
        for subsystem in self.subsystems:
            run.pool.add(subsystem)
        run.journal.claims.extend(self.claims)
        run.journal.trouble = run.journal.trouble or self.trouble


def send(pipe: IO[bytes], message: Message | Job) -> bool:
    """Whether the message could be sent."""
    try:
        pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
        pipe.flush()
    except (OSError, ValueError):  # the other process has ended
        return False
    return True


def listen(pipe: IO[bytes], inbox: Inbox) -> None:
    """Have a thread put the messages of a pipe into an inbox."""

    def read() -> None:
        with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                inbox.put(pickle.load(pipe))
        inbox.put(None)

    threading.Thread(target=read, name="stepnet: messages", daemon=True).start()


class _Journal(Journal):
    """Sends its lines."""

    pipe: IO[bytes]

    def note(self, seconds: float, way: str, reason: str) -> None:
        super().note(seconds, way, reason)
        send(self.pipe, Tried(self.ways[-1]))

    def reach(self, seconds: float, way: str, loss: float, bound: float) -> None:
        super().reach(seconds, way, loss, bound)
        send(self.pipe, Tried(self.reached[-1], is_end=True))


class _Run(Run):
    """What it finds is sent, and what it hears is applied."""

    pipe: IO[bytes]
    inbox: Inbox

    @classmethod
    def of(cls, run: Run, pipe: IO[bytes], inbox: Inbox) -> _Run:
        own = cls(**{name: getattr(run, name) for name in Run.__dataclass_fields__})
        own.pipe, own.inbox, own.journal = pipe, inbox, _Journal()
        own.journal.pipe = pipe
        return own

    def must_stop(self) -> bool:
        while threading.current_thread() is threading.main_thread() and not self.inbox.empty():
            message = self.inbox.get()
            if message is None:
                self.budget.stop("interrupted")
            else:
                message.apply(self)
        return super().must_stop()

    def raise_bound(self, bound: Bound) -> None:
        is_new = bound.is_better_than(self.bound) or bound.is_better_than(self.free_bound)
        super().raise_bound(bound)
        if is_new:
            send(self.pipe, Raised(bound))

    def _keep(self, network: Network, loss: float) -> None:
        super()._keep(network, loss)
        send(self.pipe, Found(network, self.stage))


def work_here() -> None:
    """Do the job that comes first, and end."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # solvers print
    job: Job = pickle.load(sys.stdin.buffer)
    inbox: Inbox = SimpleQueue()
    run = _Run.of(job.run, pipe, inbox)
    listen(sys.stdin.buffer, inbox)
    job.close(run)
    send(pipe, Ended(tuple(run.pool.subsystems), tuple(run.journal.claims), run.journal.trouble))
    os._exit(0)  # solvers that overran their limit may still be at work in threads
