"""Dataset: the rows a network is trained on, in one fixed form."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, Ints, quantum

Targets = NDArray[Any]  # (rows,) codes of classes in int16, since there may be millions; or (rows × outputs) numbers

_CHUNK = 10_000  # rows
_SMALLEST, _LARGEST = 1e-100, 1e100  # of numbers to predict
_HEAVIEST = 1e300  # that all rows may weigh together
_FINEST_GRID = 2.0**24  # steps of a grid in all weights; with more, rounding could skip one


@dataclass(frozen=True, eq=False)
class Dataset:
    """Distinct rows with weights and what belongs to them: the code of a class, or the numbers to predict.

    Equal rows of one class (or equal numbers) are merged (their weights add up), rows of weight zero are dropped, and
    the order is fixed, so that the same data in another order are the same data set. The order is as
    good as random: the first rows are a fair sample. Rows in float32 stay so, to save memory.
    Where rows have ``radii`` of their own, how far each may be moved, rows of different radii are not merged.
    """

    X: Floats
    y: Targets
    weights: Floats
    radii: Floats | None = None

    @classmethod
    def from_rows(
        cls, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, radii: Floats | None = None
    ) -> Dataset:
        """With the codes 0, 1, ... of classes."""
        return cls._of(X, np.asarray(y).astype(np.int16), sample_weight, radii)

    @classmethod
    def from_numbers(
        cls, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, radii: Floats | None = None
    ) -> Dataset:
        """With numbers to predict: one a row, or a row of them."""
        numbers = np.asarray(y, dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise InvalidInputError("targets must be finite; impute or drop NaN and infinity first.")
        largest = np.abs(numbers).max(initial=0.0)
        if largest and not _SMALLEST < largest < _LARGEST:
            raise InvalidInputError(
                f"targets are as large as {largest:g}, and their squares leave the floats; rescale them to about 1."
            )
        return cls._of(X, (numbers[:, None] if numbers.ndim == 1 else numbers) + 0.0, sample_weight, radii)

    @classmethod
    def _of(cls, X: ArrayLike, y: Targets, sample_weight: ArrayLike | None, radii: Floats | None) -> Dataset:
        X = np.asarray(X)
        X = X if X.dtype == np.float32 else np.asarray(X, dtype=np.float64)
        weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if X.ndim != 2 or y.ndim > 2 or len(y) != len(X) or weights.shape != (len(X),):
            raise InvalidInputError(
                f"rows, targets and weights must agree; got shapes {X.shape}, {y.shape} and {weights.shape}."
            )
        if not (all(np.isfinite(column).all() for column in X.T) and np.isfinite(weights).all()):
            raise InvalidInputError("rows and weights must be finite; impute or drop NaN and infinity first.")
        if (weights < 0).any():
            raise InvalidInputError("sample weights must not be negative; drop such rows or set them to 0.")
        if not (weights > 0).any():
            raise InvalidInputError("there are no rows of positive weight; give at least one.")
        if weights.max() > _HEAVIEST / len(weights):
            raise InvalidInputError(
                f"sample weights are as large as {weights.max():g}, and their sums leave the floats; rescale them."
            )
        order = _fixed_order(X, y, weights, radii)
        order = order[weights[order] > 0]
        X, y, weights = X[order], y[order], weights[order]
        radii = None if radii is None else radii[order]
        X += 0.0  # -0.0 becomes 0.0
        is_first = _differs_from_previous(X)
        for column in [*_columns(y), *([] if radii is None else [radii])]:
            is_first[1:] |= column[1:] != column[:-1]
        first = np.flatnonzero(is_first)
        if len(first) < len(X):
            X, y = X[first], y[first]
        return cls(X, y, np.add.reduceat(weights, first), None if radii is None else radii[first])

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def group(self) -> NDArray[np.int32]:
        """For each row the number of its group of equal rows, whatever their class."""
        return np.cumsum(_differs_from_previous(self.X), dtype=np.int32) - np.int32(1)

    @cached_property
    def is_heaviest(self) -> Bools:
        """For each row whether its class is the heaviest of its group of equal rows (the lowest code among equals)."""
        weights: Floats = self.weights
        if self.radii is not None:  # rows of one class may then be equal and not merged
            _, number = np.unique(np.column_stack([self.group, self.y]), axis=0, return_inverse=True)
            weights = np.bincount(number.ravel(), weights).astype(np.float64)[number.ravel()]
        order = np.lexsort((self.y, -weights, self.group))
        first = order[np.r_[True, np.diff(self.group[order]) > 0]]
        return np.asarray(self.y == self.y[first][self.group])

    @cached_property
    def total_weight(self) -> float:
        return math.fsum(self.weights)

    @cached_property
    def granularity(self) -> float:
        """The largest number that divides every weight, or 0.0 if it is too fine to be of use.

        The weight of any rows is a multiple of it.
        """
        grid = quantum(self.weights)
        with np.errstate(over="ignore"):  # too fine as well
            integers = np.ldexp(self.weights, -grid)
        if integers.max() >= 2.0**53:
            return 0.0
        step = math.gcd(*integers.astype(np.int64).tolist())
        if integers.sum() / step > _FINEST_GRID:
            return 0.0
        return math.ldexp(step, grid)

    @cached_property
    def fingerprint(self) -> str:
        """Names the data, whatever the order of their rows."""
        digest = hashlib.sha256(f"{self.X.shape}".encode())
        for first in range(0, self.n_rows, _CHUNK):  # a copy of all rows would be large
            digest.update(self.X[first : first + _CHUNK].astype(np.float64).tobytes())
        digest.update(self.y.astype(np.int64 if self.y.ndim == 1 else np.float64).tobytes())
        digest.update(self.weights.tobytes())
        if self.radii is not None:
            digest.update(self.radii.tobytes())
        return digest.hexdigest()[:16]


def _fixed_order(X: Floats, y: Targets, weights: Floats, radii: Floats | None) -> Ints:
    """An order of the rows that does not depend on the order they came in; equal rows are neighbours.

    By a hash of each row, which is much faster than to compare rows; should two different rows share
    one, all are compared after all.
    """
    keys = (weights, *([] if radii is None else [radii]), *_columns(y))
    hashes = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        hashes ^= (column.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    order = np.lexsort((*keys, hashes))
    twins = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    if (X[order[twins]] != X[order[twins + 1]]).any():
        return np.lexsort((*keys, *X.T[::-1]))
    return order


def _columns(y: Targets) -> list[NDArray[Any]]:
    return [y] if y.ndim == 1 else list(y.T)


def _differs_from_previous(X: Floats) -> Bools:
    """For each row whether it differs from the one before; column by column, to need little memory."""
    differs = np.zeros(len(X), dtype=bool)
    differs[0] = True
    for column in X.T:
        differs[1:] |= column[1:] != column[:-1]
    return differs
