"""Question: whether a network loses less than a bound, in whole numbers; a proof answers that none does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from stepnet.problem.dataset import Dataset
from stepnet.runtime.limits import Budget


class CheckError(ValueError):
    """A proof does not show what it claims."""


class LossError(CheckError):
    """There is a network that loses less: so many units."""

    def __init__(self, units: int, what: str) -> None:
        self.units = units
        super().__init__(what)


@dataclass(frozen=True)
class ErrorLimit:
    """A limit on errors: the misclassified rows may have coefficients of at most so much together."""

    name: str
    coefficients: tuple[int, ...]
    most: int


@dataclass(frozen=True)
class Question:
    """Whether a network of a width loses at most ``limit`` units, and meets the limits on errors.

    Attributes
    ----------
    dataset : Dataset
        Its distinct rows.
    hidden : tuple of int
        One width, or none for a neuron without a hidden layer.
    weights : list of int
        Of the rows, in units; those above ``limit`` count as the next larger number.
    limit : int
    limits : sequence of ErrorLimit
    form : mapping or None
        Of scorecards, if the question is about them only.
    """

    dataset: Dataset
    hidden: tuple[int, ...]
    weights: list[int]
    limit: int
    limits: Sequence[ErrorLimit] = ()
    form: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        hidden: tuple[int, ...],
        bound: float,
        unit: Fraction,
        limits: Sequence[ErrorLimit] = (),
        form: Mapping[str, Any] | None = None,
    ) -> Question:
        """Whether one loses less than a bound; raises ValueError if row weights are not multiples of the unit."""
        if unit <= 0:
            raise ValueError("the unit must be positive")
        weights = [Fraction(value) / unit for value in dataset.weights.tolist()]
        if any(weight.denominator != 1 for weight in weights):
            raise ValueError("row weights are not multiples of the unit")
        limit = limit_below(bound, unit)
        return cls(dataset, hidden, [min(int(weight), limit + 1) for weight in weights], limit, limits, form)

    @property
    def width(self) -> int:
        """The number of neurons below the gate; a neuron without a hidden layer is below one that passes it on."""
        return self.hidden[0] if self.hidden else 1


@dataclass(frozen=True)
class Watch:
    """The clock of a check, and whom to tell how much of it is done, from 0 to 1."""

    budget: Budget
    tell: Callable[[float], None] = lambda share: None

    def must_stop(self) -> bool:
        return self.budget.is_used_up()


def limit_below(bound: float, unit: Fraction) -> int:
    """The largest loss below a bound, in units."""
    return math.ceil(Fraction(bound) / unit) - 1


def least_loss(dataset: Dataset) -> Fraction:
    """What any classifier loses: equal rows get the same answer, so one class of them is wrong."""
    costs: dict[tuple[float, ...], list[Fraction]] = {}
    for row, code, weight in zip(dataset.X.tolist(), dataset.y.tolist(), dataset.weights.tolist(), strict=True):
        costs.setdefault(tuple(row), [Fraction(0), Fraction(0)])[code] += Fraction(weight)
    return sum((min(pair) for pair in costs.values()), Fraction(0))


def without_equal_rows(dataset: Dataset, weights: Sequence[int]) -> tuple[list[int], int]:
    """Weights of rows if equal ones with different classes are merged, and what these cost.

    The lighter class is lost, and of the heavier one counts what is left.
    """
    points, codes = list(map(tuple, dataset.X.tolist())), dataset.y.tolist()
    totals: dict[tuple[float, ...], list[int]] = {}
    for point, code, weight in zip(points, codes, weights, strict=True):
        totals.setdefault(point, [0, 0])[code] += weight
    left = [max(0, totals[point][code] - totals[point][1 - code]) for point, code in zip(points, codes, strict=True)]
    return left, sum(min(pair) for pair in totals.values())
