"""Limits: one budget of time for a whole fit, and the ways to end it early."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType


@dataclass
class Budget:
    """The clock of one fit. Everything that takes time asks it, and stops when it says so."""

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
        """Why the fit must end now ("interrupted", "callback", "time"), or None if it may go on."""
        if self._stop_reason is None and self.remaining <= 0:
            self._stop_reason = "time"
        return self._stop_reason

    def is_used_up(self) -> bool:
        """Whether the fit must end now."""
        return self.stop_reason is not None

    def until(self, end: float) -> Budget:
        """A budget that ends ``end`` seconds after this one began, if this one does not end before.

        Its clock is its own: used up, it gives this one no reason to stop.
        """
        part = _Part(min(end, self.time_limit), self.gap, self.started)
        part.whole = self
        return part

    def after(self, seconds: float) -> Budget:
        """The same for work that goes on: its clock shows what was spent before, the time left is the same."""
        return Budget(self.time_limit + seconds, self.gap, self.started - seconds, self._stop_reason)

    def stop(self, reason: str) -> None:
        """End the fit; the first reason stays."""
        if self._stop_reason is None:
            self._stop_reason = reason

    def __getstate__(self) -> dict[str, object]:
        """Another process has another clock: what travels is the time that is left."""
        return {"time_limit": self.remaining, "gap": self.gap, "_stop_reason": self._stop_reason}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, started=time.perf_counter())

    @contextlib.contextmanager
    def catching_interrupts(self) -> Iterator[None]:
        """Within it a first Ctrl-C ends the fit in good order; a second one interrupts as usual."""
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
    """A share of another budget; stops when that one does."""

    whole: Budget | None = None

    @property
    def stop_reason(self) -> str | None:
        reason = self.whole.stop_reason if self.whole is not None else None
        return reason or super().stop_reason

    def __getstate__(self) -> dict[str, object]:
        return super().__getstate__() | {"whole": None}
