"""Reproduce: run the missing cells of the paper's experiments, and write the results."""

from __future__ import annotations

from pathlib import Path

from stepnet.experiments.figures import require_matplotlib
from stepnet.experiments.output import write_results
from stepnet.experiments.plan import PARTS, cells_of, effort_of, parts_of
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
        A folder; cells that an earlier run finished there are not run again.
    n_jobs : int or None
        Number of cells at once, each a process with one thread; None for joblib's configuration, such as a cluster.
    show : callable
        Called once at the start and after every cell.
    render_only : bool
        Run nothing, and write the results of the cells finished so far.
    """
    require_matplotlib()
    asked, effort = parts_of(which), effort_of(budget)
    store = Store(out)
    if not render_only:
        run_cells(cells_of(asked, effort), store, n_jobs, show)
    # Parts that an earlier run left in the folder are shown too.
    present = {cell.experiment for cell in cells_of(tuple(PARTS), effort) if store.get(cell) is not None}
    parts = tuple(part for part, experiment in PARTS.items() if part in asked or experiment in present)
    results = Results.read(parts, effort, cells_of(parts, effort), store)
    return results, write_results(results, store.records(), out)
