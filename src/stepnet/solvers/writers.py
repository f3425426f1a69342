"""Programs as .mps and .lp files for any solver, with all digits (HiGHS itself writes 15)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.runtime.files import write_atomically
from stepnet.solvers.model import Model


def write_model(model: Model, path: str | os.PathLike[str], *, comment: str = "") -> None:
    """Write a program in the format of the suffix, .mps or .lp."""
    writers = {".mps": _mps, ".lp": _lp}
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise InvalidInputError(f"cannot write {str(path)!r}: the name must end in .mps or .lp.")
    if model.has_squares:
        raise InvalidInputError("a program with squares cannot be written as .mps or .lp; use loss='absolute'.")
    if model.is_bilinear:
        raise InvalidInputError("a bilinear program cannot be written as .mps or .lp; use another formulation.")
    write_atomically(path, "\n".join(writers[ending](model, comment)) + "\n")


def _mps(model: Model, comment: str) -> Iterator[str]:
    if comment:
        yield f"* {comment}"
    yield "NAME stepnet"
    yield "ROWS"
    yield " N loss"
    kinds = _row_kinds(model)
    yield from (f" {kind} r{i}" for i, kind in enumerate(kinds))
    yield "COLUMNS"
    by_column = model.matrix.tocsc()
    is_marked = False
    for c, name in enumerate(model.names):
        if model.integer[c] != is_marked:
            is_marked = not is_marked
            yield f" MARKER 'MARKER' '{'INTORG' if is_marked else 'INTEND'}'"
        if model.cost[c]:
            yield f" {name} loss {float(model.cost[c])!r}"
        for p in range(by_column.indptr[c], by_column.indptr[c + 1]):
            yield f" {name} r{by_column.indices[p]} {float(by_column.data[p])!r}"
    if is_marked:
        yield " MARKER 'MARKER' 'INTEND'"
    yield "RHS"
    if model.offset:
        yield f" rhs loss {float(-model.offset)!r}"
    for i, kind in enumerate(kinds):
        right = float(model.row_upper[i] if kind == "L" else model.row_lower[i])
        if right and np.isfinite(right):
            yield f" rhs r{i} {right!r}"
    ranged = [i for i, kind in enumerate(kinds) if kind == "G" and np.isfinite(model.row_upper[i])]
    if ranged:
        yield "RANGES"
        yield from (f" rng r{i} {float(model.row_upper[i] - model.row_lower[i])!r}" for i in ranged)
    yield "BOUNDS"
    for c, name in enumerate(model.names):
        yield f" LO bnd {name} {float(model.lower[c])!r}"
        yield f" UP bnd {name} {float(model.upper[c])!r}"
    yield "ENDATA"


def _lp(model: Model, comment: str) -> Iterator[str]:
    if comment:
        yield f"\\ {comment}"
    yield "Minimize"
    costed = np.flatnonzero(model.cost)
    constant = f" {model.offset:+.17g}" if model.offset else ""
    yield f" loss: {_sum(model.cost[costed], [model.names[c] for c in costed])}{constant}"
    yield "Subject To"
    matrix = model.matrix
    for i, kind in enumerate(_row_kinds(model)):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        left = _sum(matrix.data[part], [model.names[c] for c in matrix.indices[part]])
        if kind in "GE":
            yield f" r{i}: {left} {'=' if kind == 'E' else '>='} {float(model.row_lower[i])!r}"
        if kind == "L" or (kind == "G" and np.isfinite(model.row_upper[i])):
            yield f" u{i}: {left} <= {float(model.row_upper[i])!r}"
    yield "Bounds"
    for c, name in enumerate(model.names):
        yield f" {float(model.lower[c])!r} <= {name} <= {float(model.upper[c])!r}"
    if model.integer.any():
        yield "General"
        yield from (f" {model.names[c]}" for c in np.flatnonzero(model.integer))
    yield "End"


def _row_kinds(model: Model) -> list[str]:
    """E for equations, G for rows with a lower side (and perhaps an upper one), L for the others."""
    return [
        "E" if low == high else ("G" if np.isfinite(low) else "L")
        for low, high in zip(model.row_lower, model.row_upper, strict=True)
    ]


def _sum(coefficients: np.ndarray, names: list[str]) -> str:
    return "\n  ".join(f"{float(value):+.17g} {name}" for value, name in zip(coefficients, names, strict=True))
