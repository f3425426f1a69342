"""What a fit shows while it runs: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepnet.progress import Progress


@contextlib.contextmanager
def showing(time_limit: float) -> Iterator[Callable[[Progress], None]]:
    """Gives a callback for ``fit(..., on_incumbent=...)``; everything goes to standard error."""
    if not sys.stderr.isatty():
        yield _print_line
        return
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table as Grid

    begin = time.perf_counter()
    latest: list[Progress] = []

    def render() -> Grid:
        grid = Grid(box=None, pad_edge=False)
        for name in ("seconds", "of", "loss", "bound", "gap", "stage"):
            grid.add_column(name, justify="right", min_width=8)
        limit = f"{time_limit:g}" if math.isfinite(time_limit) else "-"
        state = [f"{p.loss:g}|{p.bound:g}|{100 * p.gap:.1f} %|{p.stage}" for p in latest[-1:]] or ["-|-|-|start"]
        grid.add_row(f"{time.perf_counter() - begin:.1f}", limit, *state[0].split("|"))
        return grid

    with Live(console=Console(stderr=True), get_renderable=render, refresh_per_second=4, transient=True):
        yield latest.append


def _print_line(progress: Progress) -> None:
    print(
        f"{progress.runtime:8.2f} s  loss {progress.loss:g}  bound {progress.bound:g}  "
        f"gap {100 * progress.gap:.1f} %  ({progress.stage})",
        file=sys.stderr,
        flush=True,
    )
