"""Pieces of tables and arrays as estimators take them: numbers, labels and weights, with errors that say where."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.tables.columns import Columns
from stepnet.tables.rows import Piece
from stepnet.tables.table import RawTable
from stepnet.tables.training import targets_in, weights_in

_SINGLE = ("f4", "f2", "i1", "u1", "i2", "u2")  # float32 holds all of their values


def of_table(
    table: RawTable, columns: Columns, target: str | None, sample_weight: str | None, block: int, is_number: bool
) -> Piece:
    """The features, target and weights of some rows of a table."""
    y = None if target is None else _targets(table, target, is_number=is_number)
    return Piece(_numbers(table, columns), y, weights_in(table, sample_weight), table.path, block)


def of_arrays(X: Any, y: Any, weights: Any, where: str, block: int, *, is_number: bool) -> Piece:
    """Rows that are arrays already."""
    if X.dtype.kind not in "fiub":
        raise InvalidInputError(f"{where} must have numbers, not {X.dtype}.")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if not np.isfinite(X.sum(dtype=np.float64)) and len(bad := np.argwhere(~np.isfinite(X))):
        i, c = bad[0]
        raise InvalidInputError(
            f"{where}, row {i + 1}, feature {c}: {X[i, c]} is not a finite number; impute or drop it."
        )
    if weights is not None:
        weights = weights.astype(np.float64)
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InvalidInputError(f"{where}: row weights must be finite and non-negative.")
    if is_number and y is not None:
        y = y.astype(np.float64)
        if not np.isfinite(y).all():
            raise InvalidInputError(f"{where}: targets must be finite; impute or drop NaN and infinity first.")
    return Piece(np.ascontiguousarray(X), y, weights, where, block)


def _numbers(table: RawTable, columns: Columns) -> Any:
    cells: list[Any] = [table.columns.get(str(column.name)) for column in columns.columns]
    if not columns.is_plain or not all(isinstance(one, np.ndarray) for one in cells):
        return columns.numbers(table.columns, table.path)
    is_single = all(one.dtype.str[1:] in _SINGLE for one in cells)
    X = np.empty((table.n_rows, len(cells)), dtype=np.float32 if is_single else np.float64)
    for c, one in enumerate(cells):
        X[:, c] = one
    if not np.isfinite(X.sum(dtype=np.float64)):
        return columns.numbers(table.columns, table.path)  # says which cell it is, if it is one
    return X


def _targets(table: RawTable, target: str, *, is_number: bool) -> Any:
    cells = table.column(target)
    if isinstance(cells, np.ndarray) and not is_number:
        if cells.dtype.kind in "iu":
            return cells.astype(np.int64)
        if np.isfinite(cells).all() and (cells == np.floor(cells)).all() and np.abs(cells).max() < 2**62:
            return cells.astype(np.int64)
    return targets_in(table, target, is_number=is_number)
