"""Reservoir: a random sample of things that come one after the other, of a bounded size.

Every number of a thing has a key between 0 and 1, which depends on the seed alone. Kept are the things with keys below
size / n, where n is how many there were so far: the same sample in whatever pieces they come, and all of them if they
fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_ROOM = 1.25  # of the size, until what is too much is dropped


def keys(first: int, number: int, seed: int) -> NDArray[np.float64]:
    """Those of ``number`` things from ``first`` on: splitmix64 of their numbers."""
    values = np.arange(first, first + number, dtype=np.uint64) * np.uint64(_GOLDEN)
    values += np.uint64((seed * 0xD1342543DE82EF95 + _GOLDEN) % 2**64)
    for factor, shift in zip(_MIX, (30, 27), strict=True):
        values = (values ^ (values >> np.uint64(shift))) * factor
    values ^= values >> np.uint64(31)
    return np.asarray((values >> np.uint64(11)).astype(np.float64) * 2.0**-53)


class Reservoir:
    """Parallel arrays of which a sample is kept, in the order in which they came."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed, self.n_seen = max(1, size), seed, 0
        self._parts: list[tuple[NDArray[np.float64], list[Any]]] = []
        self._n_kept = 0

    @property
    def _limit(self) -> float:
        return self.size / max(self.n_seen, 1)

    def add(self, *arrays: Any) -> None:
        """Arrays of the same length, of which some may be None (always, or never)."""
        number = next(len(one) for one in arrays if one is not None)
        of_these, self.n_seen = keys(self.n_seen, number, self.seed), self.n_seen + number
        kept = np.flatnonzero(of_these < self._limit)
        self._parts.append((of_these[kept], [None if one is None else one[kept] for one in arrays]))
        self._n_kept += len(kept)
        if self._n_kept > _ROOM * self.size:
            self._drop()

    def _drop(self) -> None:
        parts = []
        for of_these, arrays in self._parts:
            kept = of_these < self._limit
            if kept.any():
                parts.append((of_these[kept], [None if one is None else one[kept] for one in arrays]))
        self._parts, self._n_kept = parts, sum(len(of_these) for of_these, _ in parts)

    def taken(self) -> list[Any]:
        """The sample, one array for each that was added; the reservoir is empty then."""
        self._drop()
        columns = list(zip(*(arrays for _, arrays in self._parts), strict=True))
        self._parts = []
        return [None if column[0] is None else np.concatenate(column) for column in columns]


class Taken(NamedTuple):
    """A sample that was taken already, of so many things."""

    arrays: list[Any]
    n_seen: int

    def taken(self) -> list[Any]:
        return self.arrays
