"""Columns: how the cells of a table become features, learned from the training rows and repeated for new rows.

True and false are 1 and 0. Other text becomes one feature per category (``one_hot``) or the number of the category
in alphabetical order (``codes``); missing cells take a value that was computed from the training rows.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.tables.operations import Floats, Operations, after, formula, is_operation

Cells = Sequence[Any] | NDArray[np.float64]

ENCODINGS = ("one_hot", "codes")
IMPUTATIONS = ("mean", "median", "most_frequent")
MISSING = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "?"}
)  # in upper or lower case, with or without blanks around it
TRUTH = {"true": 1.0, "false": 0.0}
_MOST_CATEGORIES, _FEW_CATEGORIES = 200, 10
_NO_COMMAS = "Write numbers with a decimal point, without a thousands separator."
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


@dataclass(frozen=True)
class Column:
    """One column: numbers, or cells with categories; ``fill``, if given, replaces missing cells.

    A name that is a number is the place of the column in tables whose names do not matter. Of the features that the
    column has, ``kept`` are those that the model takes (None: all); each goes through the operations in ``arithmetic``,
    if there are any, and may have a name other than the usual one.
    """

    name: str | int
    encoding: str | None = None
    categories: tuple[str, ...] | tuple[float, ...] = ()
    fill: float | str | None = None
    kept: tuple[int, ...] | None = None
    arithmetic: tuple[Operations, ...] = ()
    names: tuple[str, ...] = ()
    approximate: bool = False  # whether ``fill`` is the median of a sample of the training rows

    @property
    def label(self) -> str:
        return self.name if isinstance(self.name, str) else f"x{self.name}"

    @property
    def features(self) -> list[str]:
        return list(self.names) or self._kept([f"{self.label}={category}" for category in self.categories])

    def _kept(self, of_categories: list[str]) -> list[str]:
        """One text per feature that is kept, out of those of the categories if they are features."""
        texts = of_categories if self.encoding == "one_hot" else [self.label]
        return texts if self.kept is None else [texts[i] for i in self.kept]

    def describe(self) -> list[str]:
        """What each feature is before its operations, in words."""
        name, filled = self.label, ""
        if self.fill is not None:
            value = f"it counts as {self.fill!r}" if self.encoding else f"{self.fill:g}"
            value += ", the median of a sample" if self.approximate else ""
            filled = f"; where {name} is missing, {value}"
        if self.encoding == "one_hot":
            return self._kept([f"1 where {name} is {category!r}, else 0{filled}" for category in self.categories])
        if self.encoding == "codes":
            codes = ", ".join(f"{code} for {category!r}" for code, category in enumerate(self.categories))
            return [f"the code of {name}: {codes}{filled}"]
        return [f"{name}{filled}" for _ in self.features]

    def numbers(self, cells: Cells, where: str) -> Floats:
        """The features of the cells before their operations, one column per feature."""
        if self.encoding is None:
            numbers = self._filled(cells, where)[:, None]
        else:
            codes = self._codes(cells, where)
            is_one_hot = self.encoding == "one_hot"
            numbers = np.eye(len(self.categories))[codes] if is_one_hot else codes[:, None].astype(np.float64)
        return numbers if self.kept is None else numbers[:, list(self.kept)]

    def _codes(self, cells: Cells, where: str) -> NDArray[np.int64]:
        """The number of the category of every cell."""
        has_text = isinstance(self.categories[0], str)
        code_of: dict[Any, int] = {_key(category): code for code, category in enumerate(self.categories)}
        keys = map(_text, cells) if has_text else as_floats(cells).tolist()
        codes = np.empty(len(cells), dtype=np.int64)
        for i, (cell, key) in enumerate(zip(cells, keys, strict=True)):
            if key not in code_of and is_missing(cell) and self.fill is not None:
                key = _key(self.fill)
            if key not in code_of:
                raise InvalidInputError(f"{where}, data row {i + 1}, column {self.label!r}: {self._unknown(cell)}")
            codes[i] = code_of[key]
        return codes

    def _unknown(self, cell: Any) -> str:
        if is_missing(cell):
            return "the cell is empty, but the model was trained without --impute. Fill it in, or train with --impute."
        known = ", ".join(map(repr, self.categories[:10])) + (", ..." if len(self.categories) > 10 else "")
        return f"{cell!r} did not occur in training (known: {known}). Replace it, or train on rows that have it."

    def _trouble(self, cell: Any) -> str:
        left_out = f"or leave the column out, --drop {shlex.quote(self.label)}."
        if is_missing(cell):
            others = "(or mean, most_frequent, a number)"
            return f"the cell is empty. Fill it in; or train with --impute median {others}, {left_out}"
        if isinstance(cell, float | int) or not math.isnan(_float(cell)):
            return f"{float(cell)} is not a finite number. Correct it, {left_out}"
        if _DECIMAL_COMMA.fullmatch(_text(cell)):
            return f"{cell!r} has a comma. {_NO_COMMAS}"
        return f"{cell!r} is not a finite number. Correct it; or train with --encode one_hot (or codes), {left_out}"

    def _filled(self, cells: Cells, where: str) -> Floats:
        numbers = as_floats(cells)
        for i in np.flatnonzero(~np.isfinite(numbers)).tolist():
            if self.fill is None or not is_missing(cells[i]):
                raise InvalidInputError(f"{where}, data row {i + 1}, column {self.label!r}: {self._trouble(cells[i])}")
            numbers[i] = float(self.fill)
        return numbers


@dataclass(frozen=True)
class Columns:
    """All columns that a model was trained on."""

    columns: tuple[Column, ...]

    @classmethod
    def learn(
        cls, cells: Mapping[str, Cells], names: Sequence[str], where: str, *, encode: str = "", impute: str = ""
    ) -> Columns:
        """From the training rows; without ``encode`` text is an error, without ``impute`` missing cells are."""
        if encode and encode not in ENCODINGS:
            raise InvalidInputError(f"--encode {encode} is not known; choose one_hot or codes.")
        fill = _filler(impute)
        return cls(tuple(_learned(name, cells[name], where, encode, fill) for name in names))

    @property
    def is_plain(self) -> bool:
        """Whether all columns are plain numbers, without a rule for text or missing cells."""
        return all(column == Column(column.name) for column in self.columns)

    @property
    def has_places(self) -> bool:
        """Whether columns are known by their place instead of a name."""
        return any(isinstance(column.name, int) for column in self.columns)

    @property
    def features(self) -> list[str]:
        return [feature for column in self.columns for feature in column.features]

    @property
    def arithmetic(self) -> list[Operations]:
        """The operations that each feature goes through, in order."""
        return [one for column in self.columns for one in column.arithmetic or [()] * len(column.features)]

    @property
    def has_arithmetic(self) -> bool:
        return any(self.arithmetic)

    def with_arithmetic(self, arithmetic: Sequence[Operations]) -> Columns:
        """The same columns, with these operations on each feature."""
        following = iter(arithmetic)
        return Columns(
            tuple(
                replace(column, arithmetic=tuple(next(following) for _ in column.features)) for column in self.columns
            )
        )

    def describe(self) -> list[str]:
        """What each feature is before its operations, in words."""
        return [sentence for column in self.columns for sentence in column.describe()]

    def after_operations(self, numbers: Floats) -> Floats:
        """Features before their operations as the network takes them, with the roundings of scikit-learn."""
        return after(self.arithmetic, numbers)

    def formulas(self) -> list[str]:
        """What the network takes of each feature, such as "(age - 40) / 12"."""
        return [formula(name, one) for name, one in zip(self.features, self.arithmetic, strict=True)]

    def numbers(self, cells: Mapping[Any, Cells], where: str, used: Collection[int] | None = None) -> Floats:
        """The features of every row, as the network takes them; ``used`` as for :meth:`before_operations`."""
        return self.after_operations(self.before_operations(cells, where, used))

    def before_operations(self, cells: Mapping[Any, Cells], where: str, used: Collection[int] | None = None) -> Floats:
        """The features of every row before their operations.

        Of the features outside ``used`` (None: all are used), those of columns that are missing or cannot be read are
        NaN.
        """
        present = [column.name for column in self.columns if column.name in cells]
        n_rows = next((len(cells[name]) for name in (present or cells)), 0)
        numbers: Floats = np.empty((n_rows, len(self.features)))
        first = 0
        for column in self.columns:  # one at a time: there may be millions of rows
            last = first + len(column.features)
            if first == last:
                continue
            try:
                if column.name not in present:
                    raise InvalidInputError(
                        f"{where} has no column {column.label!r}; its columns are {', '.join(map(str, cells))}."
                    )
                numbers[:, first:last] = column.numbers(cells[column.name], where)
            except InvalidInputError:
                if used is None or not set(used).isdisjoint(range(first, last)):
                    raise
                numbers[:, first:last] = np.nan
            first = last
        return numbers

    def needed(self, used: Collection[int]) -> list[str]:
        """The names of the columns that these features come from."""
        owners = [column.label for column in self.columns for _ in column.features]
        return list(dict.fromkeys(owners[i] for i in sorted(used)))

    def to_list(self) -> list[dict[str, Any]]:
        """Plain data for JSON."""
        later = {"kept": None, "arithmetic": (), "names": (), "approximate": False}  # left out where they say nothing
        return [
            {name: value for name, value in asdict(column).items() if name not in later or value != later[name]}
            for column in self.columns
        ]

    @classmethod
    def from_list(cls, data: Any) -> Columns:
        try:
            return cls(tuple(_checked(**column) for column in data))
        except TypeError as error:
            raise ModelFileError(f"the columns in the file are damaged ({error})") from error


def _checked(
    name: Any,
    encoding: Any,
    categories: Any,
    fill: Any,
    kept: Any = None,
    arithmetic: Any = (),
    names: Any = (),
    approximate: Any = False,
) -> Column:
    """A column from a file."""
    is_coded, is_place = encoding in ENCODINGS, isinstance(name, int) and not isinstance(name, bool) and name >= 0
    kinds = {isinstance(category, str) for category in categories}
    is_good = (
        (is_coded or encoding is None)
        and (isinstance(name, str) or is_place)
        and bool(categories) == is_coded
        and len(kinds) <= 1
        and all(isinstance(category, str) or _is_number(category) for category in categories)
        and len(set(map(_key, categories))) == len(categories)
        and (fill is None or (fill in categories if is_coded else _is_number(fill)))
    )
    n_features = len(categories) if encoding == "one_hot" else 1
    chosen = range(n_features) if kept is None else kept
    operations = tuple(tuple((operation, number) for operation, number in one) for one in arithmetic)
    is_good &= all(isinstance(i, int) and 0 <= i < n_features for i in chosen)
    is_good &= len(operations) in (0, len(chosen)) and len(names) in (0, len(chosen))
    is_good &= all(isinstance(text, str) for text in names)
    is_good &= all(_is_number(number) and is_operation(one, number) for each in operations for one, number in each)
    if not is_good:
        raise TypeError(f"column {name!r}")
    places = None if kept is None else tuple(kept)
    return Column(name, encoding, tuple(categories), fill, places, operations, tuple(names), approximate is True)


def _key(category: Any) -> Any:
    """What cells are compared with: text without blanks around it, or a number."""
    return category.strip() if isinstance(category, str) else float(category)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _filler(impute: str) -> Callable[[Floats], float] | None:
    """What replaces missing numbers, as a function of the others."""
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
    if isinstance(cells, np.ndarray) or not encode or are_numbers(cells):
        return Column(name) if fill is None else _with_fill(name, cells, where, fill)
    counts = Counter(sorted(_text(cell) for cell in cells if not is_missing(cell)))
    return category_column(name, counts, len(cells), where, encode, is_filled=fill is not None)


def category_column(
    name: str, counts: Counter[str], n_cells: int, where: str, encode: str, *, is_filled: bool
) -> Column:
    """The column of these categories, which are counted in alphabetical order."""
    commas = [text for text in counts if _DECIMAL_COMMA.fullmatch(text)]
    if 2 * len(commas) > len(counts):
        raise InvalidInputError(
            f"{where}, column {name!r} has numbers with a comma such as {commas[0]!r}. {_NO_COMMAS}"
        )
    if len(counts) > min(_MOST_CATEGORIES, max(_FEW_CATEGORIES, n_cells / 2)):
        raise InvalidInputError(
            f"{where}, column {name!r} has {len(counts)} different texts in {n_cells} rows: names or dates, it "
            f"seems. Leave the column out, --drop {shlex.quote(name)}, or group them."
        )
    most_frequent = counts.most_common(1)[0][0]
    return Column(name, encode, tuple(sorted(counts)), most_frequent if is_filled else None)


def _with_fill(name: str, cells: Cells, where: str, fill: Callable[[Floats], float]) -> Column:
    Column(name, fill=0.0).numbers(cells, where)  # raises if a cell is neither missing nor a number
    numbers = as_floats(cells)
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        raise InvalidInputError(f"{where}, column {name!r} has no numbers; leave it out, --drop {shlex.quote(name)}.")
    return Column(name, fill=fill(known))


def are_numbers(cells: Sequence[Any]) -> bool:
    """Whether all cells are numbers or missing."""
    return all(is_missing(cell) or not math.isnan(_float(cell)) for cell in cells)


def as_floats(cells: Cells) -> Floats:
    """Cells as numbers, NaN where they are not."""
    if isinstance(cells, np.ndarray):
        return cells.astype(np.float64)  # a copy
    return np.fromiter((_float(cell) for cell in cells), np.float64, len(cells))


def _float(cell: Any) -> float:
    if isinstance(cell, str) and "_" in cell:
        return math.nan  # Python reads 1_0 as ten
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return TRUTH.get(_text(cell).lower(), math.nan)


def _text(cell: Any) -> str:
    return str(cell).strip()
