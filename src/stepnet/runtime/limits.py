"""Limits: one time budget for a whole fit, and the ways to end it early."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType

_GRACE, _LONGEST_GRACE = 0.02, 1.0  # of the limit, and seconds


@dataclass
class Budget:
    """The clock of one fit. Everything that takes time checks it, and stops when it is used up."""

    time_limit: float = math.inf
    gap: float = 0.0
    started: float = field(default_factory=time.perf_counter)
    _stop_reason: str | None = None

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.started

    @property
    def remaining(self) -> float:
        return max(0.0, self.time_limit - self.elapsed)

    @property
    def stop_reason(self) -> str | None:
        """Why the fit must end now ("interrupted", "callback", "time"), or None if it may continue."""
        if self._stop_reason is None and self.remaining <= 0:
            self._stop_reason = "time"
        return self._stop_reason

    def is_used_up(self) -> bool:
        """Whether the fit must end now."""
        return self.stop_reason is not None

    def until(self, end: float) -> Budget:
        """A budget that ends ``end`` seconds after this one began, or earlier if this one does.

        When it is used up, this one continues.
        """
        part = _Part(min(end, self.time_limit), self.gap, self.started)
        part.whole = self
        return part

    def after(self, seconds: float) -> Budget:
        """The budget of work that resumes: the time spent before counts as elapsed, the remaining time is the same."""
        return Budget(self.time_limit + seconds, self.gap, self.started - seconds, self._stop_reason)

    def with_grace(self) -> Budget:
        """For last work that is left out rather than finished late: a moment after the end of this one."""
        end = self.elapsed if self.is_used_up() else self.time_limit
        return Budget(end + min(_GRACE * self.time_limit, _LONGEST_GRACE), 0.0, self.started)

    def stop(self, reason: str) -> None:
        """End the fit; the first reason is kept."""
        if self._stop_reason is None:
            self._stop_reason = reason

    def __getstate__(self) -> dict[str, object]:
        """Another process has another clock, so the remaining time is pickled."""
        return {"time_limit": self.remaining, "gap": self.gap, "_stop_reason": self._stop_reason}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, started=time.perf_counter())

    @contextlib.contextmanager
    def catching_interrupts(self) -> Iterator[None]:
        """Inside, a first Ctrl-C ends the fit with a result; a second one interrupts as usual."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = signal.getsignal(signal.SIGINT)

        def on_interrupt(signum: int, frame: FrameType | None) -> None:
            self.stop("interrupted")
            signal.signal(signal.SIGINT, previous)

        signal.signal(signal.SIGINT, on_interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)


class _Part(Budget):
    """A part of another budget; stops when that one does."""

    whole: Budget | None = None

    @property
    def stop_reason(self) -> str | None:
        reason = self.whole.stop_reason if self.whole is not None else None
        return reason or super().stop_reason

    def stop(self, reason: str) -> None:
        """End the whole fit, not only this part of it."""
        super().stop(reason)
        if self.whole is not None:
            self.whole.stop(reason)

    def __getstate__(self) -> dict[str, object]:
        return super().__getstate__() | {"whole": None}
