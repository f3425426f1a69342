"""Tables from CSV and Parquet files, as numbers."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepnet.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Table:
    """Named columns of text or numbers, all of one length."""

    path: str
    columns: dict[str, list[Any]]

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    def column(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise InvalidInputError(f"{self.path} has no column {name!r}; its columns are {', '.join(self.names)}.")
        return self.columns[name]

    def numbers(self, names: list[str]) -> np.ndarray:
        """The columns as float64; every cell must be a finite number."""
        import numpy as np

        columns = [self._numeric(name) for name in names]
        n_rows = len(next(iter(self.columns.values())))
        return np.array(columns, dtype=np.float64).T.reshape(n_rows, len(names))

    def labels(self, name: str) -> np.ndarray:
        """The column as integers if all cells are, otherwise as text."""
        import numpy as np

        cells = self.column(name)
        for i, cell in enumerate(cells):
            if cell is None or (isinstance(cell, str) and not cell.strip()):
                raise InvalidInputError(
                    f"{self.path}, data row {i + 1}: the target {name!r} is empty; fill or drop it."
                )
        try:
            numbers = [int(cell) for cell in cells]
            is_whole = all(isinstance(cell, str) or cell == number for cell, number in zip(cells, numbers, strict=True))
        except (TypeError, ValueError):
            is_whole = False
        if is_whole and max(map(abs, numbers)) < 2**62:
            return np.array(numbers)
        return np.array([str(cell) for cell in cells])

    def _numeric(self, name: str) -> list[float]:
        values = []
        for i, cell in enumerate(self.column(name)):
            try:
                value = float(cell)
            except (TypeError, ValueError):
                value = math.nan
            if not math.isfinite(value):
                raise InvalidInputError(
                    f"{self.path}, data row {i + 1}, column {name!r}: {cell!r} is not a finite number. Encode text as "
                    f"numbers, fill in missing values, or leave the column out with --drop {name}."
                )
            values.append(value)
        return values


def read_table(path: str | Path) -> Table:
    """Read a .csv or .parquet file with a header."""
    file = Path(path)
    if not file.is_file():
        raise InvalidInputError(f"there is no file {str(path)!r}.")
    table = _read_parquet(file) if file.suffix.lower() == ".parquet" else _read_csv(file)
    if not table.columns or not next(iter(table.columns.values())):
        raise InvalidInputError(f"{path} has no rows; it needs a header and at least one row.")
    return table


def _read_csv(file: Path) -> Table:
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            lines = [line for line in csv.reader(stream) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{file} is not a CSV file in UTF-8 ({error}).") from error
    if not lines:
        return Table(str(file), {})
    header, *rows = lines
    header = [name.strip() for name in header]
    if len(set(header)) != len(header):
        twice = sorted({name for name in header if header.count(name) > 1})
        raise InvalidInputError(f"{file} has several columns named {', '.join(twice)}; names must differ.")
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise InvalidInputError(f"{file}, data row {i + 1} has {len(row)} cells, the header {len(header)}.")
    return Table(str(file), {name: [row[c] for row in rows] for c, name in enumerate(header)})


def _read_parquet(file: Path) -> Table:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("reading Parquet needs pyarrow: pip install 'stepnet[parquet]'") from error
    try:
        content = pyarrow.parquet.read_table(file)
    except (OSError, pyarrow.ArrowException) as error:
        raise InvalidInputError(f"{file} is not a readable Parquet file ({error}).") from error
    return Table(str(file), {name: content.column(name).to_pylist() for name in content.column_names})
