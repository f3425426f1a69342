"""Inequality: Σ a_i e_i <= b in integers, where e_i is 1 if row i is misclassified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Bools, Floats

Integers = NDArray[Any]  # int64, or Python's integers where sums do not fit into it

FITS = 2.0**52  # sums up to here are exact in int64 and in floats


@dataclass(frozen=True, eq=False)
class Inequality:
    """``coefficients``·e <= ``most``, in integers, over the rows of a data set."""

    coefficients: Integers
    most: int

    @classmethod
    def of(cls, coefficients: Integers, most: int) -> Inequality:
        """Divided by what all coefficients have in common; what is left of ``most`` is rounded down."""
        distinct = np.unique(coefficients) if coefficients.dtype == np.int64 else coefficients
        common = math.gcd(*map(int, distinct)) or 1
        return cls(compact(coefficients // common), int(most) // common)

    def total(self, wrong: Bools) -> int:
        """Of some misclassified rows."""
        return int(self.coefficients[wrong].sum())

    def holds(self, wrong: Bools) -> bool:
        """Whether these may be the misclassified rows."""
        return self.total(wrong) <= self.most

    @cached_property
    def is_monotone(self) -> bool:
        """Whether one more row that is right never breaks it."""
        return not (self.coefficients < 0).any()

    def scaled(self, largest: float) -> tuple[Floats, float]:
        """In floats, with coefficients of at most ``largest``; small integers stay as they are."""
        size = max(1, int(abs(self.coefficients).max(initial=0)))
        if size <= largest and abs(self.most) < FITS:
            return self.coefficients.astype(np.float64), float(self.most)
        factor = largest / size
        coefficients = np.array([float(value) for value in self.coefficients]) * factor
        return coefficients, float(self.most) * factor + 1e-12 * float(np.abs(coefficients).sum())

    def smallest_violation(self, wrong: Bools) -> list[int]:
        """As few misclassified rows as break it, which no others repair; none if it holds or is not monotone."""
        rows, total = list[int](), 0
        if not self.is_monotone:
            return rows
        for row in sorted(np.flatnonzero(wrong).tolist(), key=lambda row: -int(self.coefficients[row])):
            rows.append(row)
            total += int(self.coefficients[row])
            if total > self.most:
                return rows
        return []


def compact(integers: Integers) -> Integers:
    """In int64 if all sums fit, otherwise Python's integers."""
    return integers.astype(np.int64 if _size(integers) < FITS else object)


def times(factor: int, integers: Integers) -> Integers:
    """A product without overflow."""
    fits = abs(factor) * _size(integers) < FITS
    return (integers if fits else integers.astype(object)) * factor


def _size(integers: Integers) -> float:
    """No sum of some of them is larger."""
    if integers.dtype == object:
        return float(sum(abs(int(value)) for value in integers))
    return float(np.abs(integers.astype(np.float64)).sum())
