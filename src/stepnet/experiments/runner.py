"""Run the missing cells, several at once, and store each as soon as it is finished."""

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

_QUICK = 1.5  # typical seconds of a cell that seldom reaches its time limit


@dataclass
class CellProgress:
    """How far a run is, with an estimate of the time left."""

    n_cells: int
    n_jobs: int
    expected: float  # core seconds for all cells of this run
    n_done: int = 0
    n_kept: int = 0  # finished by an earlier run
    done: float = 0.0  # of the expected seconds
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds_left(self) -> float:
        """At first from the expected times alone; the longer the run, the more from the measured ones."""
        elapsed = (time.perf_counter() - self.started) * self.n_jobs
        prior = 0.1 * self.expected
        factor = (elapsed + prior) / (self.done + prior) if self.expected else 1.0
        return factor * (self.expected - self.done) / self.n_jobs


Show = Callable[[CellProgress, Cell | None, Record | None], None]


def run_cells(cells: Sequence[Cell], store: Store, n_jobs: int | None, show: Show) -> None:
    """Run the cells that ``store`` lacks, except for methods that lack something to run here.

    ``n_jobs=None`` stands for joblib's configuration, such as a cluster.
    """
    lacking = [cell for cell in cells if store.get(cell) is None]
    missing = [cell for cell in lacking if not CONTENDERS[cell.method].lacks()]
    n_kept, n_jobs_used = len(cells) - len(lacking), min(effective_n_jobs(n_jobs), max(1, len(missing)))
    progress = CellProgress(n_kept + len(missing), n_jobs_used, sum(map(_expected, missing)), n_kept=n_kept)
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
