"""Reproduce: run the paper's experiments, or what is missing of them, and write what came out."""

from __future__ import annotations

from pathlib import Path

from stepnet.experiments.figures import require_matplotlib
from stepnet.experiments.output import write_results
from stepnet.experiments.plan import PARTS, Scale, cells_of, effort_of, parts_of
from stepnet.experiments.results import Results
from stepnet.experiments.runner import Show, run_cells
from stepnet.experiments.store import Store


def reproduce(
    which: str, *, budget: str, out: Path, n_jobs: int | None, show: Show, render_only: bool = False
) -> tuple[Results, list[Path]]:
    """Run the cells that ``out`` lacks, then write tables, figures and the page there.

    Parameters
    ----------
    which : str
        "table1", "table2", "table3", "figures", "robust" or "all".
    budget : "quick" or "full"
    out : Path
        A folder; cells that an earlier run left in it are not run again.
    n_jobs : int or None
        Cells at once, each a process with one thread; None for what joblib is configured for, such as a cluster.
    show : callable
        Told after every cell.
    render_only : bool
        Run nothing: write what the cells at hand give.
    """
    require_matplotlib()
    asked, effort = parts_of(which), effort_of(budget)
    cells, store = cells_of(asked, effort), Store(out)
    if not render_only:
        run_cells(cells, store, n_jobs, show)
    parts = _parts_at_hand(asked, effort, store)
    results = Results.read(parts, effort, cells_of(parts, effort), store)
    return results, write_results(results, store.records(), out)


def _parts_at_hand(asked: tuple[str, ...], effort: Scale, store: Store) -> tuple[str, ...]:
    """What was asked for, and what an earlier run has left in the folder."""
    present = {cell.experiment for cell in cells_of(tuple(PARTS), effort) if store.get(cell) is not None}
    return tuple(part for part, experiment in PARTS.items() if part in asked or experiment in present)
