"""Constraints on weights as columns and rows of a program; ``columns`` are the weights, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepnet.problem.constraint import Constraints, Row
from stepnet.problem.weights import WeightDomain
from stepnet.solvers.model import ModelBuilder, Variables


def add_halves(model: ModelBuilder, name: str, columns: Variables, domain: WeightDomain) -> Variables | None:
    """w = 2 b - 1 with bits b, if the weights are -1 or 1; otherwise None."""
    if not (domain.is_integer and domain.stride == 2):
        return None
    bits = model.add_columns(name, columns.shape, 0, 1, integer=True)
    model.add_rows([(columns.ravel(), 1.0), (bits.ravel(), -2.0)], lower=-1.0, upper=-1.0)
    return bits


def add_used(
    model: ModelBuilder, columns: Sequence[Variables], limits: Sequence[tuple[float, float]], constraints: Constraints
) -> list[Variables]:
    """A bit n for every weight with lower n <= w <= upper n, and the limits on the number of these bits."""
    used = []
    for k, (block, (lower, upper)) in enumerate(zip(columns, limits, strict=True)):
        is_used = model.add_columns(f"n{k + 1}", block.shape, 0, 1, integer=True)
        model.add_rows([(block.ravel(), 1.0), (is_used.ravel(), -upper)], upper=0.0)
        model.add_rows([(block.ravel(), 1.0), (is_used.ravel(), -lower)], lower=0.0)
        limit = constraints.layer_limits[k] if constraints.layer_limits else None
        if limit is not None:
            model.add_rows([(is_used.reshape(1, -1), 1.0)], upper=float(limit))
        used.append(is_used)
    if constraints.total_limit is not None:
        everything = np.concatenate([block.ravel() for block in used])
        model.add_rows([(everything[None, :], 1.0)], upper=float(constraints.total_limit))
    return used


def add_row(model: ModelBuilder, columns: Sequence[Variables], row: Row) -> None:
    """One linear constraint of the user."""
    numbers = np.array([[columns[k][j, i] for (k, j, i), _ in row.terms]])
    model.add_rows([(numbers, np.array([[c for _, c in row.terms]]))], lower=row.lower, upper=row.upper)
