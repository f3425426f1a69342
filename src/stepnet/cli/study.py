"""Commands for research and on the installation: reproduce, instances, solvers, warm-up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from stepnet.cli import options
from stepnet.cli.inputs import check_folder
from stepnet.cli.output import EXIT_FALSE, say


def reproduce(
    which: Annotated[str, typer.Argument(help="table1, table2, table3, figures, robust or all.")] = "all",
    budget: Annotated[str, typer.Option(help="quick (minutes) or full (hours).")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder for cells, tables, figures and the page.")] = Path("paper-results"),
    n_jobs: Annotated[int, typer.Option(help="Cells in parallel; -1 for all cores.")] = -1,
    dask: Annotated[str, typer.Option(help="Address of a Dask scheduler to run the cells on.")] = "",
    render: Annotated[bool, typer.Option("--render", help="Run nothing; write the results of finished cells.")] = False,
    config: options.Config = None,
) -> None:
    """Run the paper's experiments with ours beside them; started again, it resumes."""
    import contextlib

    from stepnet.cli.experiments import on_cluster, showing_cells
    from stepnet.experiments.reproduce import reproduce as run

    check_folder(out)
    try:
        with showing_cells() as show, on_cluster(dask) if dask else contextlib.nullcontext():
            jobs = None if dask else n_jobs
            results, paths = run(which, budget=budget, out=out, n_jobs=jobs, show=show, render_only=render)
    except KeyboardInterrupt:
        print(f"interrupted; finished cells are in {out}, and the same command resumes from there", file=sys.stderr)
        raise
    for reason, count in results.reasons().items():
        print(f"{count} cells are missing: {reason}", file=sys.stderr)
    print(f"tables and figures in {out}; open {paths[0]} in a browser")
    if results.has_errors:
        sys.exit(EXIT_FALSE)


def instances(
    out: Annotated[Path, typer.Option(help="Folder for the programs, the rows and the table.")] = Path("instances"),
    only: Annotated[list[str] | None, typer.Option(help="Name of an instance; may be repeated. Default: all.")] = None,
    formulation: options.ProgramName = "tight",
    solve: Annotated[float, typer.Option(help="Seconds to try to improve each record.")] = 0.0,
    config: options.Config = None,
) -> None:
    """Write benchmark instances as .mps, with the best known loss and bound of each, verified."""
    from stepnet.cli.experiments import write_library
    from stepnet.experiments.instances import chosen_instances

    chosen = chosen_instances(only or [])
    check_folder(out)
    if not write_library(chosen, out, formulation, solve):
        sys.exit(EXIT_FALSE)


def solvers(as_json: options.Json = False) -> None:
    """List the solvers, whether they are installed, and how to install the others."""
    from stepnet.solvers.backends.registry import BACKENDS

    lines, found = [], {}
    for backend in BACKENDS.values():
        version = backend.version() if backend.is_available() else None
        state = f"not installed: pip install 'stepnet[{backend.extra}]'" if version is None else f"version {version}"
        lines.append(f"{backend.name:8} {backend.title:8} {state}")
        found[backend.name] = {"title": backend.title, "version": version, "extra": backend.extra}
    say("\n".join(lines), {"solvers": found}, as_json=as_json)


def warm_up(as_json: options.Json = False) -> None:
    """Compile all kernels now, rather than during the first fits after an installation."""
    import os

    from stepnet.estimators.warm_up import Warmed
    from stepnet.estimators.warm_up import warm_up as run

    def show(group: Warmed) -> None:
        state = (
            f"compiled in {group.seconds:.1f} s"
            if group.seconds
            else "in the cache"
            if group.folder
            else "not compiled"
        )
        print(f"{group.name:26} {state}", file=sys.stderr if as_json else sys.stdout, flush=True)

    groups = run(show)
    folders = [group.folder for group in groups if group.folder is not None]
    cache = os.path.commonpath(folders) if len(folders) == len(groups) else None
    text = f"all kernels are in the cache, in {cache}"
    if cache is None:
        text = "no cache: set NUMBA_CACHE_DIR to a folder that can be written, and do not set NUMBA_DISABLE_JIT."
    seconds = {group.name: group.seconds for group in groups}
    say(text, {"seconds": seconds, "cache": cache}, as_json=as_json)
