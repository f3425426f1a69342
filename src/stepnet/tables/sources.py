"""Sources: tables that are read piece by piece, from files or from what other libraries call a data set.

A source has blocks with names for messages; a block is read as pieces, tables of a bounded number of rows.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from stepnet.errors import InvalidInputError, MissingExtraError
from stepnet.tables.table import RawTable, arrow_cells, csv_pieces, require_different

_MOST_ROWS, _FEWEST_ROWS = 65_536, 1_024  # of a piece
_CELL = 8  # bytes
_NEEDS_ARROW = "reading Parquet needs pyarrow: pip install 'stepnet[parquet]'"


class Source(Protocol):
    """Blocks of rows; with ``can_jump`` they are read in any order for the price of reading them in theirs."""

    @property
    def name(self) -> str: ...

    @property
    def n_blocks(self) -> int: ...

    @property
    def can_jump(self) -> bool: ...

    def names(self) -> list[str]:
        """Of the columns."""

    def pieces(self, block: int, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        """The rows of a block in order, at most about ``size`` bytes at a time; the tables know where they are from."""

    def __len__(self) -> int:
        """All rows; raises TypeError if that takes reading them."""


def rows_of(size: int, n_columns: int) -> int:
    """How many rows a piece of so many bytes has."""
    return max(_FEWEST_ROWS, min(_MOST_ROWS, size // (_CELL * max(1, n_columns))))


def files_of(paths: Any, what: str) -> list[Path]:
    """The files that a path, a pattern such as "claims/*.parquet" or a list of both means, sorted within a pattern."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files: list[Path] = []
    for path in given:
        one = str(os.fspath(path))
        if Path(one).is_dir():
            found = sorted(Path(one).glob(f"*.{what}*"))
        else:
            found = [Path(one)] if Path(one).is_file() else [Path(name) for name in sorted(glob.glob(one))]
        if not found:
            raise InvalidInputError(
                f"there is no file {one!r}; give a file, a folder or a pattern such as 'a/*.{what}'."
            )
        files += found
    if not files:
        raise InvalidInputError(f"no files were given; give a file, a folder or a pattern such as 'a/*.{what}'.")
    return files


@dataclass(frozen=True)
class ParquetFiles:
    """Files whose row groups are the blocks."""

    files: list[Path]
    can_jump = True

    @property
    def name(self) -> str:
        return str(self.files[0]) if len(self.files) == 1 else f"{self.files[0]}, ... ({len(self.files)} files)"

    @cached_property
    def _blocks(self) -> list[tuple[Path, int, int]]:
        """File, row group and rows of every block that has rows."""
        found, first = [], None
        for file in self.files:
            with _opened(file) as reader:
                require_different(file, reader.schema_arrow.names)
                first = first or (file, reader.schema_arrow.names)
                _require_columns(file, reader.schema_arrow.names, *first)
                sizes = [reader.metadata.row_group(i).num_rows for i in range(reader.metadata.num_row_groups)]
            found += [(file, i, n_rows) for i, n_rows in enumerate(sizes) if n_rows]
        return found

    @property
    def n_blocks(self) -> int:
        return len(self._blocks)

    def __len__(self) -> int:
        return sum(n_rows for _, _, n_rows in self._blocks)

    def names(self) -> list[str]:
        with _opened(self.files[0]) as reader:
            return list(reader.schema_arrow.names)

    def pieces(self, block: int, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        import pyarrow

        file, group, n_rows = self._blocks[block]
        where, seen = f"{file}, row group {group + 1}", 0
        with _opened(file) as reader:
            if group >= reader.metadata.num_row_groups or reader.metadata.row_group(group).num_rows != n_rows:
                raise InvalidInputError(
                    f"{where} has changed since it was first read; give a file that stays as it is."
                )
            _require_columns(file, columns, file, reader.schema_arrow.names)
            n_at_once = rows_of(size, len(columns))
            batches = reader.iter_batches(n_at_once, row_groups=[group], columns=list(columns), use_threads=False)
            try:
                for batch in batches:
                    cells = {name: arrow_cells(batch.column(name)) for name in columns}
                    yield RawTable(f"{where}{f' from row {seen + 1}' if seen else ''}", cells)
                    seen += batch.num_rows
            except (OSError, pyarrow.ArrowException) as error:
                raise InvalidInputError(f"{where} cannot be read ({error}); write the file again.") from error


def _opened(file: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(_NEEDS_ARROW) from error
    try:
        return pyarrow.parquet.ParquetFile(file)
    except (OSError, pyarrow.ArrowException) as error:
        raise InvalidInputError(f"{file} is not a readable Parquet file ({error}).") from error


def _require_columns(file: Path, names: Collection[str], other: Path, known: Collection[str]) -> None:
    missing = [name for name in known if name not in names] if file != other else [n for n in names if n not in known]
    if missing:
        raise InvalidInputError(
            f"{file} has no column {missing[0]!r}"
            + (f", which {other} has; all files need the same columns." if file != other else ".")
        )


@dataclass(frozen=True)
class CsvFiles:
    """Files that are the blocks; they are read from the beginning."""

    files: list[Path]
    text: frozenset[str]  # columns that are kept as written
    can_jump = False

    @property
    def name(self) -> str:
        return str(self.files[0]) if len(self.files) == 1 else f"{self.files[0]}, ... ({len(self.files)} files)"

    @property
    def n_blocks(self) -> int:
        return len(self.files)

    def __len__(self) -> int:
        raise TypeError("the rows of a CSV file are counted by reading it")

    def with_text(self, names: Sequence[str]) -> CsvFiles:
        """The same files, of which these columns too are kept as written."""
        return CsvFiles(self.files, self.text | frozenset(names))

    def names(self) -> list[str]:
        for piece in csv_pieces(self.files[0], self.text, 1):
            return piece.names
        raise InvalidInputError(f"{self.files[0]} has no rows; it needs a header and at least one row.")

    def pieces(self, block: int, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        file = self.files[block]
        for piece in csv_pieces(file, self.text, rows_of(size, len(columns))):
            _require_columns(file, columns, file, piece.names)
            yield RawTable(piece.path, {name: piece.columns[name] for name in columns})


@dataclass(frozen=True)
class ArrowDataset:
    """A ``pyarrow.dataset.Dataset``, whose fragments are the blocks."""

    dataset: Any
    can_jump = True
    name = "the Arrow data set"

    @cached_property
    def _fragments(self) -> list[Any]:
        return list(self.dataset.get_fragments())

    @property
    def n_blocks(self) -> int:
        return len(self._fragments)

    def __len__(self) -> int:
        return int(self.dataset.count_rows())

    def names(self) -> list[str]:
        return list(self.dataset.schema.names)

    def pieces(self, block: int, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        import pyarrow

        fragment = self._fragments[block]
        where = getattr(fragment, "path", "") or f"fragment {block + 1} of the Arrow data set"
        options = {"schema": self.dataset.schema, "columns": list(columns), "use_threads": False}
        try:
            for batch in fragment.to_batches(batch_size=rows_of(size, len(columns)), batch_readahead=1, **options):
                if batch.num_rows:
                    yield RawTable(where, {name: arrow_cells(batch.column(name)) for name in columns})
        except (OSError, pyarrow.ArrowException) as error:
            raise InvalidInputError(f"{where} cannot be read ({error}).") from error


@dataclass(frozen=True)
class LazyTable:
    """A query of polars; pieces are slices of its result, which polars computes as it likes."""

    frame: Any
    can_jump = False  # a slice may cost as much as all of it
    name = "the lazy frame"
    n_blocks = 1

    @cached_property
    def _n_rows(self) -> int:
        import polars

        return int(self.frame.select(polars.len()).collect(engine="streaming").item())

    def __len__(self) -> int:
        return self._n_rows

    def names(self) -> list[str]:
        return list(self.frame.collect_schema().names())

    def pieces(self, block: int, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        first = 0
        for batch in self._batches(self.frame.select(columns), rows_of(size, len(columns))):
            cells = batch.to_arrow()
            where = f"the lazy frame from row {first + 1}"
            yield RawTable(where, {name: arrow_cells(cells.column(name)) for name in columns})
            first += len(batch)

    def _batches(self, frame: Any, n_at_once: int) -> Iterator[Any]:
        if hasattr(frame, "collect_batches"):
            yield from frame.collect_batches(chunk_size=n_at_once, maintain_order=True)
            return
        for first in range(0, len(self), n_at_once):  # polars before 1.33
            yield frame.slice(first, n_at_once).collect()


@dataclass(frozen=True)
class Arrays:
    """Blocks that a function returns: rows, targets and perhaps weights, in arrays."""

    read: Callable[[int], Any]
    n_blocks: int
    can_jump = True
    name = "the blocks"

    def __len__(self) -> int:
        raise TypeError("the rows of blocks are counted by reading them")

    def arrays(self, block: int, size: int) -> Iterator[tuple[Any, Any, Any, str]]:
        """Rows, targets, weights, and where they are from."""
        import numpy as np

        where = f"block {block}"
        try:
            parts = self.read(block)
        except (OSError, ValueError, LookupError) as error:
            raise InvalidInputError(f"{where} cannot be read ({type(error).__name__}: {error}).") from error
        given = parts if isinstance(parts, tuple) else (parts,)
        X, y, weights = (*given, None, None)[:3]
        X, y, weights = (None if one is None else np.asarray(one) for one in (X, y, weights))
        if X is None or X.ndim != 2 or any(one is not None and len(one) != len(X) for one in (y, weights)):
            raise InvalidInputError(f"{where} must be rows × features, and targets and weights of as many rows.")
        n_at_once = rows_of(size, X.shape[1])
        for first in range(0, len(X), n_at_once):
            part = slice(first, first + n_at_once)
            yield X[part], None if y is None else y[part], None if weights is None else weights[part], where
