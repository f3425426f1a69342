"""Run cells: those that are missing, several at once, each kept as soon as it is finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from joblib import effective_n_jobs

from stepnet.experiments.cell import Cell
from stepnet.experiments.contenders import CONTENDERS
from stepnet.experiments.measure import Record, measured
from stepnet.experiments.store import Store
from stepnet.runtime.parallel import as_finished

_QUICK = 1.5  # seconds that a cell takes which seldom reaches its limit


@dataclass
class CellProgress:
    """How far a run is, and how long the rest will take if cells go on as they did."""

    n_cells: int
    n_jobs: int
    expected: float  # seconds of one core for all cells of this run
    n_done: int = 0
    n_kept: int = 0  # finished by an earlier run
    done: float = 0.0  # of the expected seconds
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds_left(self) -> float:
        """At first what cells are expected to take; the longer it runs, the more what they did take."""
        elapsed = (time.perf_counter() - self.started) * self.n_jobs
        prior = 0.1 * self.expected
        factor = (elapsed + prior) / (self.done + prior) if self.expected else 1.0
        return factor * (self.expected - self.done) / self.n_jobs


Show = Callable[[CellProgress, Cell | None, Record | None], None]


def run_cells(cells: Sequence[Cell], store: Store, n_jobs: int | None, show: Show) -> None:
    """Run the cells that ``store`` lacks, as far as their methods can be run here.

    ``n_jobs=None`` is what joblib is configured for, such as a cluster.
    """
    cells = [cell for cell in cells if store.get(cell) is not None or not CONTENDERS[cell.method].lacks()]
    missing = [cell for cell in cells if store.get(cell) is None]
    progress = CellProgress(
        n_cells=len(cells),
        n_jobs=min(effective_n_jobs(n_jobs), max(1, len(missing))),
        expected=sum(map(_expected, missing)),
        n_kept=len(cells) - len(missing),
    )
    show(progress, None, None)
    for cell, record in as_finished(_run, ((cell,) for cell in missing), n_jobs, prefer="processes"):
        store.put(cell, record)
        progress.n_done += 1
        progress.done += _expected(cell)
        show(progress, cell, record)


def _run(cell: Cell) -> tuple[Cell, Record]:
    return cell, measured(cell)


def _expected(cell: Cell) -> float:
    return cell.time_limit if CONTENDERS[cell.method].takes_limit else min(_QUICK, cell.time_limit)
