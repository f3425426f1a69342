"""Limits: one time budget for a whole fit, and the ways to end it early."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType

from stepnet.errors import InvalidInputError

ON_INTERRUPT = ("raise", "keep")
_GRACE, _LONGEST_GRACE = 0.02, 1.0  # of the limit, and seconds


@dataclass
class Budget:
    """The clock of one fit. Everything that takes time checks it, and stops when it is used up."""

    time_limit: float = math.inf
    gap: float = 0.0
    started: float = field(default_factory=time.perf_counter)
    _stop_reason: str | None = None
    is_interrupted: bool = field(default=False, init=False)  # by Ctrl-C, whatever the reason to stop
    _is_catching: bool = field(default=False, init=False, repr=False, compare=False)

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

    def until(self, end: float, is_enough: Callable[[], bool] | None = None) -> Budget:
        """A budget that ends ``end`` seconds after this one began, or earlier if this one does or ``is_enough``.

        When it is used up, this one continues.
        """
        part = _Part.of(self, min(end, self.time_limit), self.started)
        part.is_enough = is_enough
        return part

    def after(self, seconds: float) -> Budget:
        """The budget of work that resumes: the time spent before counts as elapsed, the remaining time is the same."""
        return _Part.of(self, self.time_limit + seconds, self.started - seconds)

    def lasting(self, seconds: float) -> Budget:
        """A budget that begins now and ends after ``seconds``, or earlier if this one does."""
        return _Part.of(self, seconds, time.perf_counter())

    def with_grace(self) -> Budget:
        """For last work that is left out rather than finished late: a moment after the end of this one."""
        end = self.elapsed if self.is_used_up() else self.time_limit
        return Budget(end + min(_GRACE * self.time_limit, _LONGEST_GRACE), 0.0, self.started)

    def stop(self, reason: str) -> None:
        """End the fit; the first reason is kept."""
        self.is_interrupted |= reason == "interrupted"
        if self._stop_reason is None:
            self._stop_reason = reason

    def __getstate__(self) -> dict[str, object]:
        """Another process has another clock, so the remaining time is pickled."""
        return {"time_limit": self.remaining, "gap": self.gap, "_stop_reason": self._stop_reason}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, started=time.perf_counter())

    @property
    def _catches(self) -> bool:
        return self._is_catching

    @contextlib.contextmanager
    def catching_interrupts(self, on_interrupt: str = "raise") -> Iterator[None]:
        """Inside, a first Ctrl-C ends the work early, in good order; a second one interrupts at once.

        At the end the first one is raised again, so that loops around the work end too, unless ``on_interrupt`` is
        "keep". An error of interrupted work is raised as an interrupt. Nested, the outermost one catches.
        """
        if on_interrupt not in ON_INTERRUPT:
            raise InvalidInputError(f"on_interrupt={on_interrupt!r} must be 'raise' or 'keep'.")
        previous = signal.getsignal(signal.SIGINT)
        if self._catches or previous is None or threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(signum: int, frame: FrameType | None) -> None:
            self.stop("interrupted")
            signal.signal(signal.SIGINT, previous)

        signal.signal(signal.SIGINT, stop)
        self._is_catching = True
        try:
            yield
        except Exception as error:
            if not self.is_interrupted:
                raise
            raise KeyboardInterrupt("interrupted before there was a result.") from error
        finally:
            self._is_catching = False
            signal.signal(signal.SIGINT, previous)
        if self.is_interrupted and on_interrupt == "raise":
            raise KeyboardInterrupt


class _Part(Budget):
    """A part of another budget; stops when that one does."""

    whole: Budget | None = None
    is_enough: Callable[[], bool] | None = None

    @classmethod
    def of(cls, whole: Budget, time_limit: float, started: float) -> _Part:
        part = cls(time_limit, whole.gap, started)
        part.whole = whole
        return part

    @property
    def stop_reason(self) -> str | None:
        if self.is_enough is not None and self.is_enough():
            super().stop("enough")
        reason = self.whole.stop_reason if self.whole is not None else None
        return reason or super().stop_reason

    @property
    def _catches(self) -> bool:
        return self._is_catching or (self.whole is not None and self.whole._catches)

    def stop(self, reason: str) -> None:
        """End the whole fit, not only this part of it."""
        super().stop(reason)
        if self.whole is not None:
            self.whole.stop(reason)

    def __getstate__(self) -> dict[str, object]:
        return super().__getstate__() | {"whole": None, "is_enough": None}
