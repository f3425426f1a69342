"""What a fit shows while it runs: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import sys
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

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:

        def show(progress: Progress) -> None:
            grid = Grid(box=None, pad_edge=False)
            for name in ("seconds", "of", "loss", "bound", "gap", "stage"):
                grid.add_column(name, justify="right", min_width=8)
            limit = f"{time_limit:g}" if math.isfinite(time_limit) else "-"
            gap = f"{100 * progress.gap:.1f} %"
            grid.add_row(
                f"{progress.runtime:.1f}", limit, f"{progress.loss:g}", f"{progress.bound:g}", gap, progress.stage
            )
            live.update(grid)

        yield show


def _print_line(progress: Progress) -> None:
    print(
        f"{progress.runtime:8.2f} s  loss {progress.loss:g}  bound {progress.bound:g}  "
        f"gap {100 * progress.gap:.1f} %  ({progress.stage})",
        file=sys.stderr,
        flush=True,
    )
