"""The columns of a table as features in SQL, by the rules that the model learned for text and missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepnet.export.described import Described
from stepnet.export.sql_text import Dialect
from stepnet.tables.columns import MISSING, Column, Columns
from stepnet.tables.operations import OPERATIONS, require_lines


def columns_of(estimator: Any, described: Described) -> list[tuple[Column, int]]:
    """For every feature that is taken, its column and which of the column's features it is."""
    read: Columns | None = getattr(estimator, "columns_", None)
    if read is None or len(read.features) != described.n_features:
        names = getattr(estimator, "feature_names_in_", None)
        labels = [f"x{i}" for i in range(described.n_features)] if names is None else [str(name) for name in names]
        read = Columns(tuple(map(Column, labels)))
    every = [(column, place) for column in read.columns for place in range(len(column.features))]
    return [every[i] for i in described.taken]


def feature(dialect: Dialect, column: Column, place: int) -> str:
    """A feature before its operations; NULL where ``stepnet predict`` would refuse the cell."""
    cell = dialect.identifier(column.label)
    if column.encoding is None:
        number = dialect.finite(cell)
        if column.fill is None:
            return number
        return f"CASE WHEN {_is_missing(dialect, cell)} THEN {dialect.number(float(column.fill))} ELSE {number} END"
    has_text = isinstance(column.categories[0], str)
    key = dialect.as_text(cell) if has_text else dialect.finite(cell)
    values = [
        dialect.literal(one.strip()) if isinstance(one, str) else dialect.number(float(one))
        for one in column.categories
    ]
    kept = range(len(values)) if column.kept is None else column.kept
    chosen = [code == kept[place] if column.encoding == "one_hot" else code for code in range(len(values))]
    cases = " ".join(
        f"WHEN {value} THEN {dialect.number(float(number))}" for value, number in zip(values, chosen, strict=True)
    )
    if column.fill is None:
        return f"CASE {key} {cases} END"
    code = [str(one).strip() for one in column.categories].index(str(column.fill).strip())
    missing = _is_missing(dialect, cell, values if has_text else ())
    return f"CASE WHEN {missing} THEN {dialect.number(float(chosen[code]))} ELSE CASE {key} {cases} END END"


def _is_missing(dialect: Dialect, cell: str, values: Sequence[str] = ()) -> str:
    """Whether a cell is empty or has a word for that, NaN among them, which is not one of the column's own values."""
    text, words = dialect.as_text(cell), ", ".join(dialect.literal(word) for word in sorted(MISSING))
    own = f" AND {text} NOT IN ({', '.join(values)})" if values else ""
    return f"{cell} IS NULL OR LOWER({text}) IN ({words}){own}"


def after_operations(dialect: Dialect, described: Described, place: int, expression: str) -> str:
    """The operations of a feature, one after the other, each rounded like in training."""
    require_lines([described.arithmetic[place]], "SQL")  # dialects round halves in different ways
    for operation, number in described.arithmetic[place]:
        expression = f"({OPERATIONS[operation].text.format(expression, dialect.number(number))})"
    return expression
