"""Flats: rows that span few dimensions together, found in integers."""

from __future__ import annotations

import math

import numpy as np

from stepnet.model.arithmetic import Bools, Ints
from stepnet.provers.fan import Vectors


class Flats:
    """Sets of rows, each with all others in what it spans; ``members`` and ``ranks`` are for kernels."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self._members, self._ranks = np.zeros((1, len(vectors)), dtype=bool), np.zeros(1, dtype=np.int64)
        self.size = 0

    @property
    def members(self) -> Bools:
        return self._members[: self.size]

    @property
    def ranks(self) -> Ints:
        return self._ranks[: self.size]

    def add(self, rows: Ints, most: int) -> bool:
        """Keep what some rows span, if that has at most so many dimensions; whether it has."""
        basis: list[tuple[int, list[int]]] = []
        for row in rows.tolist():
            rest = _rest(self.vectors[row], basis)
            axis = next((axis for axis, value in enumerate(rest) if value), None)
            if axis is not None:
                if len(basis) == most:
                    return False
                basis.append((axis, rest))
        if self.size == len(self._ranks):
            self._members = np.concatenate([self._members, np.zeros_like(self._members)])
            self._ranks = np.concatenate([self._ranks, np.zeros_like(self._ranks)])
        self._members[self.size] = [not any(_rest(vector, basis)) for vector in self.vectors]
        self._ranks[self.size] = len(basis)
        self.size += 1
        return True


def _rest(vector: list[int], basis: list[tuple[int, list[int]]]) -> list[int]:
    """A multiple of a vector without its share of others, each of which is the first of them on its axis."""
    for axis, other in basis:
        if vector[axis]:
            a, b = other[axis], vector[axis]
            vector = [a * value - b * less for value, less in zip(vector, other, strict=True)]
            divisor = math.gcd(*vector) or 1
            vector = [value // divisor for value in vector]
    return vector
