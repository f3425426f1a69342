"""What commands do with tables that do not fit into memory: they read them in blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepnet.cli.output import columns_of, csv_of
from stepnet.errors import InvalidInputError, MissingExtraError

_COPIES = 4  # of a table in memory, during a fit
_CELL, _CHARACTER = 8.0, 2.5  # bytes in memory, of a cell and of a character of CSV
_SHARE = 0.5  # of the free memory
_COMPRESSED = {".gz": 4.0, ".bz2": 5.0, ".xz": 6.0, ".zip": 4.0}


def streamed(data: Path | None, memory: str, target: str | None = None, **options: Any) -> Any:
    """The rows of a table in blocks, if all of them do not fit into memory; otherwise None."""
    from stepnet.runtime.memory import available
    from stepnet.tables.rows import bytes_of, rows_in

    if data is None:
        return None
    limit = bytes_of(memory) if memory else None
    if data.is_file() and _size(data) <= (_SHARE * available() if limit is None else limit):
        return None
    if not data.is_file() and not data.is_dir() and not any(sign in str(data) for sign in "*?["):
        return None  # there is no such file, as the usual way will say
    return rows_in(data, target, memory_limit=limit, **options)


def _size(data: Path) -> float:
    """Bytes of a table in memory, during a fit."""
    if data.suffix.lower() == ".parquet":
        try:
            import pyarrow.parquet

            with pyarrow.parquet.ParquetFile(data) as file:
                return float(_COPIES * _CELL * file.metadata.num_rows * file.metadata.num_columns)
        except (ImportError, OSError, ValueError):
            return 0.0  # the usual way says what is wrong
    return _CHARACTER * _COMPRESSED.get(data.suffix.lower(), 1.0) * data.stat().st_size


@dataclass(frozen=True)
class OnDask:
    """A table whose partitions are read by the workers of a cluster."""

    client: Any
    X: Any
    y: Any
    weights: Any
    first: Any  # rows in blocks, for what must be known before the fit

    @property
    def columns(self) -> Any:
        return self.first.columns

    def pieces(self) -> Any:
        return self.first.pieces()


def on_dask(data: Path, address: str, target: str, **options: Any) -> OnDask:
    """The table on a cluster; columns of numbers alone."""
    from stepnet.tables.rows import rows_in

    try:
        import dask.dataframe
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("--dask needs Dask: pip install 'stepnet[dask,parquet]'") from error
    if options.pop("encode") or options.pop("impute"):
        raise InvalidInputError("--dask takes columns of numbers; encode and impute them first, or omit --dask.")
    try:
        client: Any = Client(address, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"--dask {address}: there is no scheduler ({error}).") from error
    first = rows_in(data, target, **{name: value for name, value in options.items() if name != "impute"})
    table = dask.dataframe.read_parquet(str(data))
    weights = options["sample_weight"]
    return OnDask(client, table[first.features], table[target], None if weights is None else table[weights], first)


def is_stream(rows: Any) -> bool:
    return hasattr(rows, "pieces")


def labels_of(rows: Any) -> Any:
    """Labels of the training rows; of a stream, those of its first rows."""
    import numpy as np

    if not is_stream(rows):
        return rows.y
    first = next(rows.pieces(), None)
    return np.array([]) if first is None else first.y


def fit_streamed(estimator: Any, rows: Any, out: Path) -> bool:
    """Fit with progress and write the model; returns whether Ctrl-C ended the fit."""
    from stepnet import save
    from stepnet.runtime.view import showing

    is_interrupted = False
    try:
        with showing(math.inf) as show:
            given = (rows.X, rows.y, rows.weights) if isinstance(rows, OnDask) else (rows,)
            estimator.fit(*given, on_incumbent=lambda now: show(now))
    except KeyboardInterrupt:
        is_interrupted = True
        if not hasattr(estimator, "result_"):
            raise
    save(estimator, out)
    return is_interrupted


def verify_streamed(model: Path, rows: Any) -> Any:
    """The verification of a model on all rows, with progress."""
    from stepnet import load
    from stepnet.estimators.fit_rows import verify_rows
    from stepnet.runtime.view import showing

    estimator = load(model)
    if not hasattr(estimator, "_piece_dataset"):
        raise InvalidInputError(f"{type(estimator).__name__} is verified with rows in memory; give more --memory.")
    with showing(math.inf, "verifying the certificate") as show:
        return verify_rows(estimator, rows, (lambda now: show(now),))


def predict_streamed(model: Path, rows: Any, out: Path) -> int:
    """Write the predictions of all rows, block by block; returns how many there are."""
    from stepnet import load
    from stepnet.estimators.fit_rows import features_by, nameless
    from stepnet.runtime.view import showing

    estimator = load(model)
    is_code = not hasattr(estimator, "predict")  # of an autoencoder
    twin = nameless(estimator)
    answer = twin.transform if is_code else twin.predict
    with showing(math.inf, f"predicting {rows.name}") as show:
        answers = _counted((answer(X) for X in features_by(estimator, rows)), show)
        return write_answers(out, answers, "code" if is_code else "prediction")


def _counted(answers: Iterable[Any], show: Any) -> Iterator[Any]:
    """The same, and a report from time to time."""
    import time

    from stepnet.estimators.large import in_millions
    from stepnet.runtime.progress import Progress

    n_rows, begin, told = 0, time.perf_counter(), 0.0
    for part in answers:
        yield part
        n_rows, seconds = n_rows + len(part), time.perf_counter() - begin
        if seconds - told > 1:
            stage = f"predicting: {in_millions(n_rows)} rows, {in_millions(n_rows / seconds)} a second"
            show(Progress(seconds, math.inf, 0.0, 1.0, stage))
            told = seconds


def write_answers(out: Path, answers: Iterable[Any], name: str) -> int:
    """A CSV or Parquet file of predictions, whole or not at all; returns how many there are."""
    from stepnet.runtime.files import atomic_file

    parts = (part.reshape(len(part), -1) for part in answers)
    with atomic_file(out) as file:
        if out.suffix.lower() == ".parquet":
            return _write_parquet(file, parts, name)
        n_rows = 0
        for part in parts:
            text = csv_of(part, name)
            file.write((text if not n_rows else text[text.index("\n") + 1 :]).encode())
            n_rows += len(part)
    return n_rows


def _write_parquet(file: Any, parts: Iterable[Any], name: str) -> int:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("writing Parquet needs pyarrow: pip install 'stepnet[parquet]'") from error
    n_rows, writer = 0, None
    try:
        for part in parts:
            columns = dict(zip(columns_of(part, name), part.T, strict=True))
            table = pyarrow.table({key: pyarrow.array(value.tolist()) for key, value in columns.items()})
            writer = writer or pyarrow.parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
            n_rows += len(part)
    finally:
        if writer is not None:
            writer.close()
    return n_rows
