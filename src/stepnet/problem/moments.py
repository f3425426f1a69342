"""Moments: means and scales of columns, from rows that come in pieces.

Rows are cut into stretches of 1,024 from the first one on, whatever pieces they come in. The sums of a stretch are
those of numpy, and stretches are combined in their order: the same rows give the same numbers to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats

STRETCH = 1_024  # rows


@dataclass
class Moments:
    """Weight, means and sums of squared deviations of so many rows, and the least and largest value of each column."""

    n_rows: int
    weight: float
    mean: Floats
    squares: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, values: Any, weights: Any = None) -> Moments:
        """Of a stretch of rows."""
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        factors = np.ones((len(numbers), 1)) if weights is None else weights[:, None]
        weight = float(factors.sum())
        mean = (factors * numbers).sum(axis=0) / weight
        squares = (factors * (numbers - mean) ** 2).sum(axis=0)
        return cls(len(numbers), weight, mean, squares, numbers.min(axis=0), numbers.max(axis=0))

    def add(self, other: Moments) -> None:
        """The rows of another stretch, which come next."""
        total = self.weight + other.weight
        shift, share = other.mean - self.mean, other.weight / total
        self.squares = self.squares + other.squares + shift**2 * (self.weight * share)
        self.mean = self.mean + shift * share
        self.n_rows, self.weight = self.n_rows + other.n_rows, total
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)

    @property
    def scale(self) -> Floats:
        """Standard deviations; 1 where there is nothing to scale by."""
        scale = np.sqrt(self.squares / self.weight)
        return np.where(scale > 1e-12 * np.abs(self.mean), scale, 1.0)


class Stretches:
    """Cuts rows into stretches, and combines their moments."""

    def __init__(self) -> None:
        self.moments: Moments | None = None
        self._rest: list[tuple[Any, Any]] = []
        self._n_rest = 0

    def add(self, values: Any, weights: Any = None) -> None:
        """The next rows."""
        first = 0
        while first < len(values):
            end = min(len(values), first + STRETCH - self._n_rest)
            self._rest.append((values[first:end], None if weights is None else weights[first:end]))
            self._n_rest += end - first
            first = end
            if self._n_rest == STRETCH:
                self._close()

    def _close(self) -> None:
        values, weights = zip(*self._rest, strict=True)
        together = None if weights[0] is None else np.concatenate(weights)
        stretch = Moments.of(values[0] if len(values) == 1 else np.concatenate(values), together)
        self._rest, self._n_rest = [], 0
        if self.moments is None:
            self.moments = stretch
        else:
            self.moments.add(stretch)

    def closed(self) -> Moments:
        """The moments of all rows; no more are added."""
        if self._rest:
            self._close()
        assert self.moments is not None
        return self.moments
