"""Columns: how the cells of a table become the features of a network, learned once and repeated for new rows.

True and false are 1 and 0. Other text becomes numbers by one feature a category (``one_hot``) or by the number of
the category in the order of the alphabet (``codes``); missing cells take a value that was computed from the
training rows.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError, ModelFileError

Cells = Sequence[Any] | NDArray[np.float64]
Floats = NDArray[np.float64]

ENCODINGS = ("one_hot", "codes")
IMPUTATIONS = ("mean", "median", "most_frequent")
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})  # in any case, with blanks around
TRUTH = {"true": 1.0, "false": 0.0}
_MOST_CATEGORIES, _FEW_CATEGORIES = 200, 10
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


@dataclass(frozen=True)
class Column:
    """One column: numbers, or text with its categories; ``fill`` stands in for missing cells, if there is one."""

    name: str
    encoding: str | None = None
    categories: tuple[str, ...] = ()
    fill: float | str | None = None

    @property
    def features(self) -> list[str]:
        if self.encoding == "one_hot":
            return [f"{self.name}={category}" for category in self.categories]
        return [self.name]

    def describe(self) -> list[str]:
        """What each feature is, in words."""
        filled = "" if self.fill is None else f"; where {self.name} is missing, {self._filled_text()}"
        if self.encoding == "one_hot":
            return [f"1 where {self.name} is {category!r}, else 0{filled}" for category in self.categories]
        if self.encoding == "codes":
            codes = ", ".join(f"{code} for {category!r}" for code, category in enumerate(self.categories))
            return [f"the code of {self.name}: {codes}{filled}"]
        return [f"{self.name}{filled}"]

    def _filled_text(self) -> str:
        return f"it counts as {self.fill!r}" if self.encoding else f"{self.fill:g}"

    def numbers(self, cells: Cells, where: str) -> Floats:
        """The features of the cells, one column each."""
        if self.encoding is None:
            return self._filled(cells, where)[:, None]
        code_of = {category: code for code, category in enumerate(self.categories)}
        codes = np.empty(len(cells), dtype=np.int64)
        for i, cell in enumerate(cells):
            text = self.fill if is_missing(cell) else _text(cell)
            if text not in code_of:
                raise InvalidInputError(f"{where}, data row {i + 1}, column {self.name!r}: {self._unknown(cell)}")
            codes[i] = code_of[text]
        return np.eye(len(self.categories))[codes] if self.encoding == "one_hot" else codes[:, None].astype(np.float64)

    def _unknown(self, cell: Any) -> str:
        if is_missing(cell):
            return "the cell is empty, and the model was trained without --impute. Fill it in, or train with --impute."
        known = ", ".join(map(repr, self.categories[:10])) + (", ..." if len(self.categories) > 10 else "")
        return f"{cell!r} did not occur in training; known are {known}. Replace it, or train on rows that have it."

    def _trouble(self, cell: Any) -> str:
        left_out = f"or leave the column out, --drop {shlex.quote(self.name)}."
        if is_missing(cell):
            return (
                f"the cell is empty. Fill it in; or train with --impute median (or mean, most_frequent, a number), "
                f"{left_out}"
            )
        if isinstance(cell, float | int) or not math.isnan(_float(cell)):
            return f"{float(cell)} is not a finite number. Correct it, {left_out}"
        if _DECIMAL_COMMA.fullmatch(_text(cell)):
            return f"{cell!r} has a comma. Write numbers with a decimal point, and thousands without any sign."
        return f"{cell!r} is not a finite number. Correct it; or train with --encode one_hot (or codes), {left_out}"

    def _filled(self, cells: Cells, where: str) -> Floats:
        numbers = as_floats(cells)
        missing = np.flatnonzero(np.isnan(numbers))
        bad = [i for i in missing.tolist() if not is_missing(cells[i])] + np.flatnonzero(np.isinf(numbers)).tolist()
        if bad or (len(missing) and self.fill is None):
            first = min([*bad, *([] if self.fill is not None else missing.tolist())])
            raise InvalidInputError(
                f"{where}, data row {first + 1}, column {self.name!r}: {self._trouble(cells[first])}"
            )
        if len(missing):
            numbers[missing] = float(self.fill or 0.0)
        return numbers


@dataclass(frozen=True)
class Columns:
    """All columns that a model was trained on."""

    columns: tuple[Column, ...]

    @classmethod
    def learn(
        cls, cells: Mapping[str, Cells], names: Sequence[str], where: str, *, encode: str = "", impute: str = ""
    ) -> Columns:
        """From the training rows; without ``encode`` text is an error, without ``impute`` a missing cell is."""
        if encode and encode not in ENCODINGS:
            raise InvalidInputError(f"--encode {encode} is not known; choose one_hot or codes.")
        fill = _filler(impute)
        return cls(tuple(_learned(name, cells[name], where, encode, fill) for name in names))

    @property
    def is_plain(self) -> bool:
        """Whether all cells must be numbers anyway."""
        return all(column == Column(column.name) for column in self.columns)

    @property
    def features(self) -> list[str]:
        return [feature for column in self.columns for feature in column.features]

    def describe(self) -> list[str]:
        """What each feature is, in words."""
        return [sentence for column in self.columns for sentence in column.describe()]

    def numbers(self, cells: Mapping[str, Cells], where: str) -> Floats:
        """The features of every row."""
        for column in self.columns:
            if column.name not in cells:
                raise InvalidInputError(
                    f"{where} has no column {column.name!r}; its columns are {', '.join(map(str, cells))}."
                )
        n_rows = len(cells[self.columns[0].name]) if self.columns else 0
        numbers: Floats = np.empty((n_rows, len(self.features)))
        first = 0
        for column in self.columns:  # one at a time: there may be millions of rows
            part = column.numbers(cells[column.name], where)
            numbers[:, first : first + part.shape[1]] = part
            first += part.shape[1]
        return numbers

    def to_list(self) -> list[dict[str, Any]]:
        """Plain data for JSON."""
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_list(cls, data: Any) -> Columns:
        try:
            return cls(tuple(_checked(**column) for column in data))
        except TypeError as error:
            raise ModelFileError(f"the columns in the file are damaged ({error})") from error


def _checked(name: Any, encoding: Any, categories: Any, fill: Any) -> Column:
    """A column from a file."""
    is_text = encoding in ENCODINGS
    texts = [name, *categories, *([fill] if is_text and fill is not None else [])]
    is_good = (
        (is_text or encoding is None)
        and all(isinstance(text, str) for text in texts)
        and bool(categories) == is_text
        and len(set(categories)) == len(categories)
        and (fill is None or (fill in categories if is_text else _is_number(fill)))
    )
    if not is_good:
        raise TypeError(f"column {name!r}")
    return Column(name, encoding, tuple(categories), fill)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _filler(impute: str) -> Callable[[Floats], float] | None:
    """What stands in for missing numbers, from those that are there."""
    if not impute:
        return None
    try:
        number = float(impute)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return lambda values: number
    if impute not in IMPUTATIONS:
        raise InvalidInputError(f"--impute {impute} is not known; choose {', '.join(IMPUTATIONS)} or a number.")
    if impute == "most_frequent":
        return lambda values: float(Counter(np.sort(values).tolist()).most_common(1)[0][0])
    return lambda values: float(np.mean(values) if impute == "mean" else np.median(values))


def _learned(name: str, cells: Cells, where: str, encode: str, fill: Callable[[Floats], float] | None) -> Column:
    if isinstance(cells, np.ndarray) or not encode or _are_numbers(cells):
        return Column(name) if fill is None else _with_fill(name, cells, where, fill)
    counts = Counter(sorted(_text(cell) for cell in cells if not is_missing(cell)))
    commas = [text for text in counts if _DECIMAL_COMMA.fullmatch(text)]
    if 2 * len(commas) > len(counts):
        raise InvalidInputError(
            f"{where}, column {name!r} has numbers with a comma such as {commas[0]!r}; write them with a "
            f"decimal point, and thousands without any sign."
        )
    if len(counts) > min(_MOST_CATEGORIES, max(_FEW_CATEGORIES, len(cells) / 2)):
        raise InvalidInputError(
            f"{where}, column {name!r} has {len(counts)} different texts in {len(cells)} rows: names or dates, it "
            f"seems. Leave it out, --drop {shlex.quote(name)}, or group them."
        )
    most_frequent = counts.most_common(1)[0][0]
    return Column(name, encode, tuple(sorted(counts)), None if fill is None else most_frequent)


def _with_fill(name: str, cells: Cells, where: str, fill: Callable[[Floats], float]) -> Column:
    Column(name, fill=0.0).numbers(cells, where)  # what is there must be numbers
    numbers = as_floats(cells)
    there = numbers[np.isfinite(numbers)]
    if not len(there):
        raise InvalidInputError(f"{where}, column {name!r} has no numbers at all; leave it out with --drop {name}.")
    return Column(name, fill=fill(there))


def _are_numbers(cells: Sequence[Any]) -> bool:
    """Whether the cells that are there are numbers."""
    return all(is_missing(cell) or not math.isnan(_float(cell)) for cell in cells)


def as_floats(cells: Cells) -> Floats:
    """Cells as numbers, NaN where they are none."""
    if isinstance(cells, np.ndarray):
        return cells.astype(np.float64)  # a copy
    return np.fromiter((_float(cell) for cell in cells), np.float64, len(cells))


def _float(cell: Any) -> float:
    if isinstance(cell, str) and "_" in cell:
        return math.nan  # Python takes 1_0 for ten
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return TRUTH.get(_text(cell).lower(), math.nan)


def _text(cell: Any) -> str:
    return str(cell).strip()
