"""What a fit shows while it runs: a live line with a progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepnet.runtime.progress import Progress


@contextlib.contextmanager
def showing(time_limit: float) -> Iterator[Callable[[Progress], None]]:
    """Yields a callback for ``fit(..., on_incumbent=...)`` that writes to standard error."""
    if not sys.stderr.isatty():
        yield _print_line
        return
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table as Grid

    begin = time.perf_counter()
    latest: list[Progress] = []

    def render() -> Grid:
        grid = Grid(box=None, pad_edge=False)
        for name in ("seconds", "left", "loss", "bound", *(("gap",) if _has_gap(latest) else ()), "stage"):
            grid.add_column(name, justify="right", min_width=8, no_wrap=True)
        grid.add_column("", width=24)
        cells: list[Any] = ["-"] * 3 + ["start", ""]
        for p in latest[-1:]:
            bar = ProgressBar(total=1.0, completed=p.share, width=24) if p.share is not None else ""
            cells = [*_numbers(p), p.stage, bar]
        elapsed = time.perf_counter() - begin
        left = f"{max(0.0, time_limit - elapsed):.0f}" if math.isfinite(time_limit) else "-"
        grid.add_row(f"{elapsed:.1f}", left, *cells)
        return grid

    with Live(console=Console(stderr=True), get_renderable=render, refresh_per_second=4, transient=True):
        yield latest.append


def _print_line(progress: Progress) -> None:
    done = "" if progress.share is None else f", {progress.share:.0%} done"
    names = ("loss", "bound", "gap")
    numbers = "  ".join(f"{name} {number}" for name, number in zip(names, _numbers(progress), strict=False))
    sys.stderr.write(f"{progress.runtime:8.2f} s  {numbers}  ({progress.stage}{done})\n")
    sys.stderr.flush()


def _numbers(progress: Progress) -> list[str]:
    """Loss, bound and, unless a network is learned for new rows, gap; dashes as long as there is no loss."""
    numbers = ["-", "-", "-"]
    if math.isfinite(progress.loss):
        numbers = [f"{progress.loss:g}", f"{progress.bound:g}", f"{100 * progress.gap:.1f} %"]
    return numbers[:2] if progress.is_learned else numbers


def _has_gap(latest: list[Progress]) -> bool:
    return not latest or not latest[-1].is_learned
