"""What work shows while it runs: a live line with a progress bar on a terminal, plain lines elsewhere.

Plain lines come with every report, and at least every five seconds: a thread repeats the last state, since a log that
is silent looks like a program that hangs. Solvers run without the lock of the interpreter, so the thread is on time.
Work may be part of other work, as reading a table is part of a command: then the innermost is what is repeated, and
the silence counts from the last line of any of them.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from stepnet.runtime.progress import Progress

_SILENCE = 4.5  # seconds between plain lines, at most: five with whatever delays the thread


@contextlib.contextmanager
def showing(time_limit: float, stage: str = "") -> Iterator[Callable[[Progress], None]]:
    """Yields a callback for ``fit(..., on_incumbent=...)`` that writes to standard error.

    With a ``stage`` it is for work without losses and bounds, which this stage begins.
    """
    if sys.stderr.isatty():
        with _live(time_limit, stage) as show:
            yield show
        return
    with _LOG.having(_Lines(stage)) as lines:
        yield lines.show


@contextlib.contextmanager
def breaking_silence(stage: str) -> Iterator[None]:
    """Inside, a plain log gets a line at least every five seconds, and a terminal none."""
    is_log = sys.stderr is not None and not sys.stderr.isatty()  # None: the shell has closed it
    with _LOG.having(_Lines(stage)) if is_log else contextlib.nullcontext():
        yield


class _Log:
    """The plain lines of all work that is going on, the innermost last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.said = 0.0  # when the last line was written
        self._all: list[_Lines] = []

    @contextlib.contextmanager
    def having(self, lines: _Lines) -> Iterator[_Lines]:
        with self.lock:
            if not self._all:
                self.said = time.perf_counter()
            self._all.append(lines)
        is_done = threading.Event()
        beat = threading.Thread(target=self._repeat, args=(is_done,), name="plain progress", daemon=True)
        beat.start()
        try:
            yield lines
        finally:
            is_done.set()
            beat.join()
            with self.lock:
                self._all.remove(lines)

    def _repeat(self, is_done: threading.Event) -> None:
        """Say the last state again whenever nothing was said for a while."""
        while not is_done.wait(max(0.0, self.said + _SILENCE - time.perf_counter())):
            with self.lock:
                if time.perf_counter() - self.said >= _SILENCE:
                    self._all[-1].again()


_LOG = _Log()


class _Lines:
    """The plain lines of one piece of work, one at a time."""

    def __init__(self, stage: str) -> None:
        self._has_losses = not stage
        self._latest = Progress(0.0, math.inf, 0.0, 1.0, stage or "start")
        self._reported = time.perf_counter()

    def show(self, progress: Progress) -> None:
        with _LOG.lock:
            self._latest, self._reported = progress, time.perf_counter()
            self._write(progress)

    def again(self) -> None:
        runtime = self._latest.runtime + time.perf_counter() - self._reported
        self._write(replace(self._latest, runtime=runtime))

    def _write(self, progress: Progress) -> None:
        _LOG.said = time.perf_counter()
        done = "" if progress.share is None else f", {progress.share:.0%} done"
        text = f"{progress.stage}{done}"
        if self._has_losses:
            numbers = "  ".join(f"{name} {number}" for name, number in _numbers(progress).items())
            text = f"{numbers}  ({text})"
        sys.stderr.write(f"{progress.runtime:8.2f} s  {text}\n")
        sys.stderr.flush()


@contextlib.contextmanager
def _live(time_limit: float, stage: str) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table as Grid

    begin = time.perf_counter()
    latest = [Progress(0.0, math.inf, 0.0, 1.0, stage or "start")]

    def render() -> Grid:
        grid, now = Grid(box=None, pad_edge=False), latest[-1]
        losses = {} if stage else _numbers(now)
        for name in ("seconds", "left", *losses, "stage"):
            grid.add_column(name, justify="right", min_width=8, no_wrap=True)
        grid.add_column("", width=24)
        bar: Any = "" if now.share is None else ProgressBar(total=1.0, completed=now.share, width=24)
        elapsed = time.perf_counter() - begin
        left = f"{max(0.0, time_limit - elapsed):.0f}" if math.isfinite(time_limit) else "-"
        grid.add_row(f"{elapsed:.1f}", left, *losses.values(), now.stage, bar)
        return grid

    with Live(console=Console(stderr=True), get_renderable=render, refresh_per_second=4, transient=True):
        yield latest.append


def _numbers(progress: Progress) -> dict[str, str]:
    """Loss, bound and, unless a network is learned for new rows, gap; dashes as long as there is no loss."""
    numbers = {"loss": "-", "bound": "-", "gap": "-"}
    if math.isfinite(progress.loss):
        gap = f"{100 * progress.gap:.1f} %"
        numbers = {"loss": f"{progress.loss:g}", "bound": f"{progress.bound:g}", "gap": gap}
    if progress.is_learned:
        del numbers["gap"]
    return numbers
