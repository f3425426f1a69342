"""Dataset: training rows in a canonical form."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, Ints, quantum
from stepnet.problem.row_hashes import fingerprint_of, row_hashes, weighted_sum, with_targets

Targets = NDArray[Any]  # (rows,) class codes in int16, since there may be millions; or rows × outputs of numbers

_CHUNK = 10_000  # rows
_SMALLEST, _LARGEST = 1e-100, 1e100  # of the largest target
_HEAVIEST = 1e300  # total weight of all rows
_MANY_REPETITIONS = 10  # of a row, on average
_FINEST_GRID = 2.0**24  # steps of the grid in the total weight; with more, rounding could skip one


@dataclass(frozen=True, eq=False)
class Dataset:
    """Distinct rows with weights and targets: class codes, or numbers to predict.

    Equal rows with equal targets are merged and their weights added, rows of weight zero are dropped, and the order is
    canonical: the same data in another order are the same data set. The order is as good as random, so the first rows
    are representative. Rows in float32 stay so, to save memory. Rows with different ``radii`` (how far each may be
    perturbed) are not merged.
    """

    X: Floats
    y: Targets
    weights: Floats
    radii: Floats | None = None
    n_given: int = 0  # rows before equal ones were merged, where that is known
    places: Ints | None = None  # of the rows as they were given; -1 for those that were dropped
    row_sum: int | None = None  # of the rows before they were merged, where that rounded their weights

    @classmethod
    def from_rows(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        radii: Floats | None = None,
        *,
        keep_places: bool = False,
    ) -> Dataset:
        """From class codes 0, 1, ...; with ``keep_places`` it says where the rows went."""
        return cls._of(X, np.asarray(y).astype(np.int16), sample_weight, radii, keep_places=keep_places)

    @classmethod
    def from_numbers(
        cls, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, radii: Floats | None = None
    ) -> Dataset:
        """From numbers to predict: one or several per row."""
        numbers = np.asarray(y, dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise InvalidInputError("targets must be finite; impute or drop NaN and infinity first.")
        largest = np.abs(numbers).max(initial=0.0)
        if largest and not _SMALLEST < largest < _LARGEST:
            raise InvalidInputError(
                f"targets are as large as {largest:g}, and their squares are not floats; rescale them to about 1."
            )
        return cls._of(X, (numbers[:, None] if numbers.ndim == 1 else numbers) + 0.0, sample_weight, radii)

    @classmethod
    def _of(
        cls,
        X: ArrayLike,
        y: Targets,
        sample_weight: ArrayLike | None,
        radii: Floats | None,
        *,
        keep_places: bool = False,
    ) -> Dataset:
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
                f"sample weights are as large as {weights.max():g}, and their sums overflow; rescale them."
            )
        keys = [*([] if radii is None else [radii]), *np.atleast_2d(y.T)]
        order = _canonical_order(X, [weights, *keys])
        order, n_given = order[weights[order] > 0], len(X)
        X, y, weights = X[order], y[order], weights[order]
        radii = None if radii is None else radii[order]
        X += 0.0  # -0.0 becomes 0.0
        first = np.flatnonzero(_differs_from_previous([*X.T, *(key[order] for key in keys)]))
        places = row_sum = None
        if keep_places:
            places = np.full(n_given, -1, dtype=np.int64)
            places[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(X)))
        if len(first) < len(X):
            if not _sums_are_exact(weights):
                row_sum = cls(X, y, weights, radii)._row_sum
            X, y = X[first], y[first]
        radii = None if radii is None else radii[first]
        return cls(X, y, np.add.reduceat(weights, first), radii, len(order), places, row_sum)

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def group(self) -> NDArray[np.int32]:
        """For each row the index of its group of equal rows, of any class."""
        return np.cumsum(_differs_from_previous(list(self.X.T)), dtype=np.int32) - np.int32(1)

    @cached_property
    def is_heaviest(self) -> Bools:
        """For each row, whether its class is the heaviest in its group of equal rows (in a tie, the lowest code)."""
        weights: Floats = self.weights
        if self.radii is not None:  # then equal rows of one class may not be merged
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
        """The largest number that divides every weight, and so every loss; 0.0 if it is too small to be useful."""
        return common_step(self.weights, self.total_weight)

    @cached_property
    def repetitions(self) -> Floats:
        """How often each row counts where rows are counted: its weight if whole and moderate, else 1 on average."""
        return self._times if self.has_repetitions else np.asarray(self.weights / self.weights.mean())

    @cached_property
    def has_repetitions(self) -> bool:
        """Whether weights are numbers of equal rows: multiples of one number, few for each row that was given."""
        n_rows = max(self.n_rows, self.n_given)
        return bool(self.granularity) and bool(self._times.sum() <= _MANY_REPETITIONS * n_rows)

    @property
    def _times(self) -> Floats:
        """Weights that are whole are as many rows; others count in units of their common measure."""
        return self.weights if self.granularity % 1 == 0 else np.asarray(self.weights / self.granularity)

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the data, independent of the order of their rows and of the blocks that they come in."""
        return self.merged_fingerprint if self.row_sum is None else fingerprint_of(self.row_sum, self.n_features)

    @cached_property
    def merged_fingerprint(self) -> str:
        """That of the rows as they are here; another one only where merging rounded their weights."""
        return fingerprint_of(self._row_sum, self.n_features)

    @property
    def _row_sum(self) -> int:
        keys = [*np.atleast_2d(self.y.T), *([] if self.radii is None else [self.radii])]
        return weighted_sum(with_targets(row_hashes(self.X), keys), self.weights)

    def has_fingerprint(self, fingerprint: str) -> bool:
        """Whether it is that of these data, also in the form of earlier versions: a hash of all rows, sorted."""
        return fingerprint in (self.fingerprint, self._old_fingerprint)

    @cached_property
    def _old_fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.X.shape}".encode())
        for first in range(0, self.n_rows, _CHUNK):  # a copy of all rows would be large
            digest.update(self.X[first : first + _CHUNK].astype(np.float64).tobytes())
        digest.update(self.y.astype(np.int64 if self.y.ndim == 1 else np.float64).tobytes())
        digest.update(self.weights.tobytes())
        if self.radii is not None:
            digest.update(self.radii.tobytes())
        return digest.hexdigest()[:16]


def common_step(weights: Floats, total: float) -> float:
    """The largest number that divides weights with this sum; 0.0 if it is too small to be useful."""
    grid = quantum(weights)
    with np.errstate(over="ignore"):  # too fine as well
        integers = np.ldexp(weights, -grid)
    if integers.max() >= 2.0**53:
        return 0.0
    step = math.ldexp(math.gcd(*integers.astype(np.int64).tolist()), grid)
    return step if total / step <= _FINEST_GRID else 0.0


def _sums_are_exact(weights: Floats) -> bool:
    """Whether sums of the weights are not rounded, in any order."""
    grid = quantum(weights)
    return bool(math.fsum(weights) <= math.ldexp(2.0**53, grid)) if grid > -1000 else False


def _canonical_order(X: Floats, keys: Sequence[NDArray[Any]]) -> Ints:
    """An order that does not depend on the order in which rows were given; equal rows are neighbours.

    Rows are sorted by hashes, much faster than by comparison, and by ``keys`` among equals; if two different rows have
    the same hash, all rows are compared.
    """
    hashes = row_hashes(X)
    order = np.lexsort((*keys, hashes))
    twins = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    if (X[order[twins]] != X[order[twins + 1]]).any():
        return np.lexsort((*keys, *X.T[::-1]))
    return order


def _differs_from_previous(columns: Sequence[NDArray[Any]]) -> Bools:
    """For each row whether it differs from the previous one; column by column, to need little memory."""
    differs = np.zeros(len(columns[0]), dtype=bool)
    differs[0] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return differs
