"""The output of the commands ``reproduce`` and ``instances``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepnet.cli.output import exit_if
from stepnet.errors import InvalidInputError, MissingExtraError
from stepnet.runtime.files import write_atomically

if TYPE_CHECKING:
    from stepnet.experiments.cell import Cell
    from stepnet.experiments.instances import Instance
    from stepnet.experiments.measure import Record
    from stepnet.experiments.runner import CellProgress, Show


@contextlib.contextmanager
def showing_cells() -> Iterator[Show]:
    """A bar with the time left on a terminal, plain lines elsewhere; everything goes to standard error."""
    if not sys.stderr.isatty():
        yield _print_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", left="")

        def show(progress: CellProgress, cell: Cell | None, record: Record | None) -> None:
            done = progress.n_kept + progress.n_done
            text = "" if cell is None or record is None else f"{cell.name}: {_outcome(record)}"
            bar.update(task, total=progress.n_cells, completed=done, left=_left(progress), description=text)

        yield show


def _print_line(progress: CellProgress, cell: Cell | None, record: Record | None) -> None:
    done = progress.n_kept + progress.n_done
    if cell is None or record is None:
        kept = f", {progress.n_kept} of them finished by an earlier run" if progress.n_kept else ""
        line = f"{progress.n_cells} cells{kept}; {progress.n_jobs} in parallel, {_left(progress)}"
    else:
        line = f"[{done}/{progress.n_cells}] {cell.name}: {_outcome(record)}; {_left(progress)}"
    print(line, file=sys.stderr, flush=True)


def _left(progress: CellProgress) -> str:
    seconds = progress.seconds_left
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"


def _outcome(record: Record) -> str:
    if "error" in record:
        return f"failed, {record['error']}"
    parts = [f"accuracy {100 * record['accuracy']:.1f} %" if "accuracy" in record else record["note"]]
    if "loss" in record:
        parts.append(f"loss {record['loss']:g} of {record['total']:g}")
    if record.get("claim_is_true") is False and "claimed_loss" in record:
        parts.append(f"FALSE claim {record['claimed_loss']:g}")
    return ", ".join([*parts, f"{record['seconds']:.2f} s"])


@contextlib.contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Inside, joblib runs its work on a Dask scheduler."""
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise MissingExtraError("--dask needs dask and distributed: pip install 'stepnet[dask]'") from error
    import joblib

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"no Dask scheduler answers at {address}; start one, or omit --dask.") from error
    with client, joblib.parallel_config(backend="dask"):
        yield


def write_library(chosen: Sequence[Instance], out: Path, formulation: str, seconds: float) -> bool:
    """Write instances, their table and their records to a folder; returns whether every record is true.

    Ctrl-C keeps those that are finished.
    """
    from stepnet.experiments import instances as library

    known = library.best_known()
    records, verifications, programs, is_interrupted = {}, {}, {}, False
    try:
        for instance in chosen:
            name = instance.name
            is_kept = name in known and not seconds
            records[name] = known[name] if is_kept else library.solve_again(instance, known.get(name), seconds)
            verifications[name] = library.check(instance, records[name])
            programs[name] = library.write_instance(instance, out, formulation)
            certificate = records[name].certificate
            print(f"{name}: loss {certificate.loss:g}, bound {certificate.bound:g}, {certificate.status}", flush=True)
            if not verifications[name]:
                print(verifications[name], file=sys.stderr)
    except KeyboardInterrupt:
        is_interrupted = True
    done = [instance for instance in chosen if instance.name in programs]
    table = library.table_of(done, records, verifications, programs)
    write_atomically(out / "instances.md", table.markdown() + "\n")
    write_atomically(out / "instances.csv", table.csv())
    library.write_records({one.name: records[one.name] for one in done}, out / library.BEST_KNOWN)
    n_true = sum(bool(verifications[one.name]) for one in done)
    print(f"{len(done)} instances in {out}, {n_true} records verified; {out / 'instances.md'} has the table")
    exit_if(is_interrupted)
    return n_true == len(chosen)
