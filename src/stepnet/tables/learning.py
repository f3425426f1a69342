"""Rules of columns from a table that comes piece by piece: categories, and what replaces missing cells."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.runtime.reservoir import Reservoir
from stepnet.tables.columns import (
    ENCODINGS,
    IMPUTATIONS,
    Cells,
    Column,
    Columns,
    are_numbers,
    as_floats,
    category_column,
    is_missing,
)
from stepnet.tables.table import RawTable

_SAMPLE = 100_000  # numbers of which the median is taken
_MOST_NUMBERS = 100_000  # different ones that are counted
_MOST_TEXTS = 10_000  # different ones that are counted: far more than may be categories


def learned_columns(
    tables: Iterable[RawTable], names: Sequence[str], where: str, *, encode: str = "", impute: str = ""
) -> Columns:
    """As :meth:`Columns.learn`, from all rows; the median of many numbers is that of a sample."""
    if encode and encode not in ENCODINGS:
        raise InvalidInputError(f"--encode {encode} is not known; choose one_hot or codes.")
    number = _number(impute)
    if impute and number is None and impute not in IMPUTATIONS:
        raise InvalidInputError(f"--impute {impute} is not known; choose {', '.join(IMPUTATIONS)} or a number.")
    seen = {name: _Seen(name, where, bool(encode), impute) for name in names}
    for table in tables:
        for name in names:
            seen[name].add(table.column(name), table.path)
    columns = Columns(tuple(seen[name].column(encode, impute, number) for name in names))
    if len(set(columns.features)) < len(columns.features):
        raise InvalidInputError(f"{where}: encoded columns get names that other columns have; rename a column.")
    return columns


def _number(impute: str) -> float | None:
    try:
        return float(impute) if math.isfinite(float(impute)) else None
    except ValueError:
        return None


@dataclass
class _Seen:
    """What is known of a column so far."""

    name: str
    where: str
    takes_text: bool
    impute: str
    n_cells: int = 0
    n_numbers: int = 0
    total: float = 0.0
    texts: Counter[str] = field(default_factory=Counter)
    values: Counter[float] = field(default_factory=Counter)
    sample: Reservoir = field(default_factory=lambda: Reservoir(_SAMPLE, 0))
    first_numbers: str = ""  # where there were numbers alone
    first_text: str = ""

    def add(self, cells: Cells, where: str) -> None:
        self.n_cells += len(cells)
        if self.takes_text and not isinstance(cells, np.ndarray) and not are_numbers(cells):
            self.first_text = self.first_text or where
        elif self.takes_text and isinstance(cells, np.ndarray):
            self.first_numbers = self.first_numbers or where
        if self.takes_text and not isinstance(cells, np.ndarray) and len(self.texts) < _MOST_TEXTS:
            self.texts.update(str(cell).strip() for cell in cells if not is_missing(cell))
        if self.impute and not self.first_text:
            self._add_numbers(cells, where)

    def _add_numbers(self, cells: Cells, where: str) -> None:
        if not self.takes_text or isinstance(cells, np.ndarray):
            Column(self.name, fill=0.0).numbers(cells, where)  # raises if a cell is neither missing nor a number
        numbers = as_floats(cells)
        known = numbers[np.isfinite(numbers)]
        self.n_numbers += len(known)
        if self.impute == "mean":
            self.total += math.fsum(known)
        elif self.impute == "median" and len(known):
            self.sample.add(known)
        elif self.impute == "most_frequent" and len(self.values) <= _MOST_NUMBERS:
            self.values.update(known.tolist())

    def column(self, encode: str, impute: str, number: float | None) -> Column:
        if self.first_text:
            if self.first_numbers:
                raise InvalidInputError(
                    f"{self.where}, column {self.name!r} has numbers in {self.first_numbers} and text in "
                    f"{self.first_text}; write it as text everywhere."
                )
            counts = Counter({text: self.texts[text] for text in sorted(self.texts)})
            return category_column(self.name, counts, self.n_cells, self.where, encode, is_filled=bool(impute))
        if not impute:
            return Column(self.name)
        if not self.n_numbers:
            left_out = f"leave it out, --drop {shlex.quote(self.name)}"
            raise InvalidInputError(f"{self.where}, column {self.name!r} has no numbers; {left_out}.")
        return self._filled(impute, number)

    def _filled(self, impute: str, number: float | None) -> Column:
        if number is not None:
            return Column(self.name, fill=number)
        if impute == "mean":
            return Column(self.name, fill=self.total / self.n_numbers)
        if impute == "median":
            (sample,) = self.sample.taken()
            return Column(self.name, fill=float(np.median(sample)), approximate=len(sample) < self.n_numbers)
        if len(self.values) > _MOST_NUMBERS:
            raise InvalidInputError(
                f"{self.where}, column {self.name!r} has more than {_MOST_NUMBERS} different numbers, too many to "
                f"count; use --impute median."
            )
        most = max(self.values.values())
        return Column(self.name, fill=min(value for value, count in self.values.items() if count == most))


def texts_of(columns: Columns) -> list[Any]:
    """The names of the columns whose cells are categories."""
    return [column.name for column in columns.columns if column.encoding]
