"""Tables from CSV (plain or compressed) and Parquet files."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import lzma
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from stepnet.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import numpy as np

_BLOCK = 50_000  # rows of text held at a time
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_DELIMITERS = ",;\t"


@dataclass(frozen=True)
class RawTable:
    """Named columns of the same length: arrays of numbers, or lists of other cells."""

    path: str
    columns: dict[str, Any]

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def column(self, name: str) -> Any:
        if name not in self.columns:
            raise InvalidInputError(f"{self.path} has no column {name!r}; its columns are {', '.join(self.names)}.")
        return self.columns[name]

    def numbers(self, names: list[str]) -> np.ndarray:
        """The columns as float64; every cell must be a finite number."""
        from stepnet.tables.columns import Column, Columns

        return Columns(tuple(Column(name) for name in names)).numbers(self.columns, self.path)

    def labels(self, name: str) -> np.ndarray:
        """The column as integers if all cells are, otherwise as text without surrounding blanks."""
        import numpy as np

        from stepnet.tables.columns import is_missing

        cells = [str(cell) if isinstance(cell, bool) else cell for cell in self.column(name)]  # as in a CSV file
        for i, cell in enumerate(cells):
            if is_missing(cell):
                where = f"{self.path}, data row {i + 1}"
                raise InvalidInputError(
                    f"{where}: the target {name!r} is empty ({cell!r}); fill it in or drop the row."
                )
        try:
            numbers = [int(cell) for cell in cells]
            is_whole = all(
                "_" not in cell if isinstance(cell, str) else cell == number
                for cell, number in zip(cells, numbers, strict=True)
            )
        except (TypeError, ValueError, OverflowError):
            is_whole = False
        if is_whole and max(map(abs, numbers)) < 2**62:
            return np.array(numbers)
        return np.array([str(cell).strip() for cell in cells])


def read_table(path: str | Path, text: Collection[str | None] = ()) -> RawTable:
    """Read a .csv or .parquet file with a header; the columns ``text`` are kept as written."""
    file = Path(path)
    if not file.is_file():
        raise InvalidInputError(
            f"{str(path)!r} is a folder; give a file." if file.is_dir() else f"there is no file {str(path)!r}."
        )
    table = _read_parquet(file) if file.suffix.lower() == ".parquet" else _read_csv(file, text)
    if not table.columns or not table.n_rows:
        raise InvalidInputError(f"{path} has no rows; it needs a header and at least one row.")
    return table


def _read_csv(file: Path, text: Collection[str | None]) -> RawTable:
    with _reading(file):
        table, mixed = _parsed(file, text)
        return _parsed(file, {*text, *mixed})[0] if mixed else table


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Errors inside become errors about the file."""
    try:
        yield
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{file} is not a CSV file in UTF-8 ({error}); save it as UTF-8.") from error
    except (lzma.LZMAError, zlib.error, zipfile.BadZipFile, EOFError, OSError, RuntimeError) as error:
        if file.suffix.lower() not in {*_OPENERS, ".zip"}:
            raise
        raise InvalidInputError(f"{file} is not a readable {file.suffix} file ({error}).") from error


@contextmanager
def _opened(file: Path) -> Iterator[IO[str]]:
    """The text of a file, decompressed if its suffix says so."""
    ending = file.suffix.lower()
    if ending == ".zip":
        with zipfile.ZipFile(file) as archive:
            inside = [name for name in archive.namelist() if not name.endswith("/")]
            if len(inside) != 1:
                raise InvalidInputError(f"{file} holds {len(inside)} files; it must hold one CSV file.")
            with archive.open(inside[0]) as packed:
                yield io.TextIOWrapper(packed, encoding="utf-8-sig", newline="")
        return
    opener = _OPENERS.get(ending, open)
    with opener(file, "rt", newline="", encoding="utf-8-sig") as stream:
        yield stream


def _parsed(file: Path, text: Collection[str | None]) -> tuple[RawTable, list[str]]:
    """The table, and the columns that are numbers in some blocks only: their text as written is lost.

    Columns of numbers become arrays block by block, which takes a fraction of the memory.
    """
    with _opened(file) as stream:
        header, blocks = _blocks(file, stream, text)
    kinds = {name: {isinstance(part, tuple) for part in parts} for name, parts in zip(header, blocks, strict=True)}
    columns = {name: _joined(parts) for name, parts in zip(header, blocks, strict=True)}
    return RawTable(str(file), columns), [name for name, kind in kinds.items() if len(kind) == 2]


def _blocks(file: Path, stream: IO[str], text: Collection[str | None]) -> tuple[list[str], list[list[Any]]]:
    header, pieces = _header_and_pieces(file, stream, text, _BLOCK)
    blocks: list[list[Any]] = [[] for _ in header]
    for piece in pieces:
        for block, cells in zip(blocks, piece, strict=True):
            block.append(cells)
    return header, blocks


def csv_pieces(file: Path, text: Collection[str | None], n_rows: int) -> Iterator[RawTable]:
    """A CSV file, so many rows at a time."""
    with _reading(file), _opened(file) as stream:
        header, pieces = _header_and_pieces(file, stream, text, n_rows)
        first = 0
        for piece in pieces:
            columns = {
                name: list(cells) if isinstance(cells, tuple) else cells
                for name, cells in zip(header, piece, strict=True)
            }
            yield RawTable(f"{file}{f' from data row {first + 1}' if first else ''}", columns)
            first += n_rows


def _header_and_pieces(
    file: Path, stream: IO[str], text: Collection[str | None], n_at_once: int
) -> tuple[list[str], Iterator[list[Any]]]:
    """Names, and the columns of some rows at a time: arrays of numbers, or tuples of cells."""
    first = stream.readline()
    delimiter = max(_DELIMITERS, key=first.count) if first.strip() else ","
    lines = (line for line in csv.reader(itertools.chain([first], stream), delimiter=delimiter) if line)
    header = [name.strip() for name in next(lines, [])]
    require_different(file, header)
    return header, _pieces(file, lines, header, text, n_at_once)


def _pieces(
    file: Path, lines: Iterator[list[str]], header: list[str], text: Collection[str | None], n_at_once: int
) -> Iterator[list[Any]]:
    n_rows = 0
    while rows := list(itertools.islice(lines, n_at_once)):
        for i, row in enumerate(rows):
            if len(row) != len(header):
                raise InvalidInputError(
                    f"{file}, data row {n_rows + i + 1} has {len(row)} cells, the header {len(header)}."
                )
        n_rows += len(rows)
        yield [
            cells if name in text else _numbers_or_text(cells)
            for name, cells in zip(header, zip(*rows, strict=True), strict=True)
        ]


def require_different(file: Path, names: list[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise InvalidInputError(f"{file} has several columns named {', '.join(twice)}; names must differ.")


def _numbers_or_text(cells: tuple[str, ...]) -> Any:
    """An array if all cells are numbers or missing, otherwise the cells."""
    import numpy as np

    from stepnet.tables.columns import is_missing

    if "_" in "".join(cells):
        return cells  # Python reads 1_0 as ten; a table does not mean that
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        pass
    try:
        return np.array(["nan" if is_missing(cell) else cell for cell in cells], dtype=np.float64)
    except ValueError:
        return cells


def _joined(parts: list[Any]) -> Any:
    """One array if all parts are arrays, otherwise a list of cells."""
    import numpy as np

    if parts and not any(isinstance(part, tuple) for part in parts):
        return np.concatenate(parts)
    return [cell for part in parts for cell in part]


def _read_parquet(file: Path) -> RawTable:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("reading Parquet needs pyarrow: pip install 'stepnet[parquet]'") from error
    try:
        content = pyarrow.parquet.read_table(file)
    except (OSError, pyarrow.ArrowException) as error:
        raise InvalidInputError(f"{file} is not a readable Parquet file ({error}).") from error
    require_different(file, content.column_names)
    return RawTable(str(file), {name: arrow_cells(content.column(name)) for name in content.column_names})


def arrow_cells(column: Any) -> Any:
    """An array if all cells are numbers, otherwise a list of Python values."""
    import pyarrow

    is_number = pyarrow.types.is_floating(column.type) or pyarrow.types.is_integer(column.type)
    return column.to_numpy() if is_number and not column.null_count else column.to_pylist()
