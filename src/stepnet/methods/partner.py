"""Partner: a second process that works on some ways of a plan at the same time.

Both processes have the same problem. Each has ways of its own, and tells the other about better networks; the partner
tells its bounds, too, with their evidence. Networks are evaluated again where they arrive. Messages are read where the
budget is looked at, in the thread that began: nothing changes behind anybody's back.
"""

from __future__ import annotations

import contextlib
import math
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from queue import SimpleQueue

from joblib import effective_n_jobs

from stepnet.methods.journal import Journal
from stepnet.methods.partner_process import CODE, WHERE, Ended, Found, Inbox, Job, listen, send
from stepnet.methods.plan import Plan, Way
from stepnet.methods.run import Run
from stepnet.runtime.interpreter import started

_PATIENCE = 1.0  # seconds: what takes no longer is not worth a process
_FEWEST_SECONDS = 5.0  # that must be left
_GLANCE = 0.05  # seconds between two looks at messages
_FAREWELL = 0.5  # seconds to end by itself
_SHARE = 0.8  # of the time, for a prover of the free problem that is followed by others


def close_in_two(run: Run, close: Callable[[Run], None]) -> None:
    """Try the ways of a run's plan by ``close``: in two processes if the run has two jobs, otherwise in this one."""
    assert run.plan is not None
    plan, n_jobs = run.plan, run.n_jobs
    mine, theirs = shared_out(plan.ways)
    is_worthwhile = bool(theirs) and not run.problem.is_uncertain and run.budget.remaining > _FEWEST_SECONDS
    if n_jobs is None or int(effective_n_jobs(n_jobs)) < 2 or not is_worthwhile:
        close(run)
        return
    run.n_jobs = 1
    try:
        run.plan = replace(plan, ways=mine)
        with Partner(run, replace(plan, ways=theirs), close).beside() as partner:
            close(run)
            partner.wait()
        if not partner.has_finished and not run.is_over:  # it was not needed so far, or could not work
            run.plan = replace(plan, ways=theirs)
            close(run)
    finally:
        run.plan, run.n_jobs = plan, n_jobs


def shared_out(ways: Sequence[Way]) -> tuple[tuple[Way, ...], tuple[Way, ...]]:
    """The ways of this process and those of the partner: every second one, or those of the free problem."""
    free = list({way.name: way for way in ways if way.is_free}.values())
    if free:
        theirs = [replace(way, share=_SHARE, seconds=math.inf) for way in free]
        return _with_the_rest([way for way in ways if not way.is_free]), _with_the_rest(theirs)
    return _with_the_rest(ways[::2]), _with_the_rest(ways[1::2])


def _with_the_rest(ways: Sequence[Way]) -> tuple[Way, ...]:
    """The last of some ways has all the time that is left."""
    return (*ways[:-1], replace(ways[-1], share=1.0, seconds=math.inf)) if ways else ()


class Partner:
    """The other process, as seen from here."""

    def __init__(self, run: Run, plan: Plan, close: Callable[[Run], None]) -> None:
        self.run, self.plan, self.close = run, plan, close
        self.begin, self.looked = run.budget.elapsed, 0.0
        self.told = run.loss  # the best loss that the partner knows
        self.has_begun = self.has_ended = self.has_finished = False
        self._process: subprocess.Popen[bytes] | None = None
        self._inbox: Inbox = SimpleQueue()
        self._thread, self._is_reading = threading.get_ident(), False

    @contextmanager
    def beside(self) -> Iterator[Partner]:
        """Inside, the partner works as soon as it is worthwhile; the budget ends when both together are done."""
        try:
            with self.run.within(1.0, is_enough=self._is_settled):
                yield self
        finally:
            self._part()

    def wait(self) -> None:
        """Until the partner has nothing left to try, or the run is over."""
        while self.has_begun and not self.has_ended and not self.run.is_over:
            time.sleep(_GLANCE)

    def _is_settled(self) -> bool:
        if threading.get_ident() == self._thread and not self._is_reading:
            self._is_reading = True
            try:
                self._exchange()
            finally:
                self._is_reading = False
        return self.run.is_proven

    def _exchange(self) -> None:
        run, now = self.run, self.run.budget.elapsed
        if self.has_ended or now - self.looked < _GLANCE:
            return
        self.looked = now
        if not self.has_begun:
            if now - self.begin > _PATIENCE and not run.is_proven:
                self._start()
            return
        while not self._inbox.empty():
            self._hear()
        if run.loss < self.told and run.network is not None:
            self._tell(Found(run.network, run.stage))

    def _start(self) -> None:
        run, process = self.run, started(CODE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if process is None or process.stdout is None:
            self.has_ended = True
            return
        self._process, self.has_begun = process, True
        listen(process.stdout, self._inbox)
        run.note(", ".join(way.name for way in self.plan.ways), WHERE)
        self._tell(Job(replace(run, plan=self.plan, kept={}, journal=Journal()), self.close))

    def _tell(self, message: Found | Job) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self.told = self.run.loss
        if not send(self._process.stdin, message):
            self.has_ended = True

    def _hear(self) -> None:
        message = self._inbox.get()
        if message is None:
            self.has_ended = True
            return
        message.apply(self.run)
        self.told = min(self.told, self.run.loss) if isinstance(message, Found) else self.told
        self.has_finished |= isinstance(message, Ended)

    def _part(self) -> None:
        """End the other process, and hear what it has to say at last."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        end = time.monotonic() + _FAREWELL
        while not self.has_ended and time.monotonic() < end:
            if self._inbox.empty():
                time.sleep(_GLANCE)
            else:
                self._hear()
        self._process.kill()
        self._process.wait()
