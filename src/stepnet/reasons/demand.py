"""Demand: which changes of a row count, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats
from stepnet.reasons.units import Model
from stepnet.runtime.numbers import is_finite_number, is_integer

NORMS = ("l0", "l1", "linf")


@dataclass(frozen=True)
class Demand:
    """Changes are measured by ``norm`` after each is multiplied by its cost; x + change stays between two ends."""

    norm: str
    is_fixed: Bools
    is_integer: Bools
    costs: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, model: Model, *, norm: str, fixed: Any, integer: Any, cost: Any, low: Any, high: Any) -> Demand:
        if norm not in NORMS:
            raise InvalidInputError(f"norm={norm!r} is not known; choose one of {', '.join(NORMS)}.")
        costs = _numbers(model, "cost", cost, 1.0)
        if not (np.isfinite(costs) & (costs > 0)).all():
            raise InvalidInputError(f"cost={cost!r} must be positive numbers; a feature that must stay goes to fixed=.")
        ends = _numbers(model, "low", low, -np.inf), _numbers(model, "high", high, np.inf)
        if (crossed := np.flatnonzero(ends[0] > ends[1])).size:
            raise InvalidInputError(f"low lies above high for the feature {model.names[crossed[0]]!r}.")
        is_integer = _mask(model, "integer", integer)
        whole = np.ceil(ends[0]), np.floor(ends[1])
        lowest, highest = (np.where(is_integer, new, end) for new, end in zip(whole, ends, strict=True))
        return cls(norm, _mask(model, "fixed", fixed) | model.is_text, is_integer, costs, lowest, highest)

    def around(self, model: Model, row: Floats) -> Demand:
        """For one row: fixed features have no range left. Raises if the row does not meet the demand itself."""
        free = ~self.is_fixed
        for i in np.flatnonzero(free & self.is_integer & (row != np.round(row))).tolist():
            raise InvalidInputError(
                f"{model.names[i]} of the row is {row[i]:g}, but integer= says that it is an integer."
            )
        for i in np.flatnonzero(free & ((row < self.low) | (row > self.high))).tolist():
            raise InvalidInputError(
                f"{model.names[i]} of the row is {row[i]:g}, outside its range from {self.low[i]:g} to "
                f"{self.high[i]:g}; widen low= or high=, or add it to fixed=."
            )
        low, high = np.where(free, self.low, row), np.where(free, self.high, row)
        return Demand(self.norm, self.is_fixed, self.is_integer, self.costs, low, high)

    def price(self, row: Floats, point: Floats) -> float:
        """What the change costs, rounded once."""
        changes = [abs(Fraction(b) - Fraction(a)) for a, b in zip(row.tolist(), point.tolist(), strict=True)]
        paid = [change * Fraction(cost) for change, cost in zip(changes, self.costs.tolist(), strict=True)]
        if self.norm == "l0":
            return float(
                sum(Fraction(cost) for change, cost in zip(changes, self.costs.tolist(), strict=True) if change)
            )
        return float(max(paid) if self.norm == "linf" else sum(paid))

    def grid(self, row: Floats) -> float:
        """Costs of changes are multiples of this; 0 if they may be any number."""
        can_change = self.low < self.high
        if self.norm == "l0":
            return _divisor(self.costs[can_change])
        if not self.is_integer[can_change].all():
            return 0.0
        return _divisor(self.costs[can_change])


def feature_number(model: Model, name: str, feature: Any) -> int:
    """The number of a feature that is given by its name or number."""
    if isinstance(feature, str) and feature in model.names:
        return model.names.index(feature)
    if is_integer(feature) and 0 <= feature < len(model.names):
        return int(feature)
    known = ", ".join(model.names[:12]) + (", ..." if len(model.names) > 12 else "")
    raise InvalidInputError(f"{name}: there is no feature {feature!r}; the features are {known}.")


def _mask(model: Model, name: str, features: Any) -> Bools:
    mask = np.zeros(len(model.names), dtype=bool)
    if isinstance(features, str) and features == "all" and "all" not in model.names:
        return ~mask
    for feature in [features] if isinstance(features, str) else features:
        mask[feature_number(model, name, feature)] = True
    return mask


def _numbers(model: Model, name: str, given: Any, default: float) -> Floats:
    """One number per feature: of a dictionary, a sequence, one number for all, or the default."""
    numbers = np.full(len(model.names), default)
    if isinstance(given, Mapping):
        for feature, number in given.items():
            numbers[feature_number(model, name, feature)] = _number(name, number)
        return numbers
    if given is None or is_finite_number(given):
        return numbers if given is None else np.full(len(model.names), float(given))
    try:
        each = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        each = np.zeros(0)
    if each.shape != numbers.shape or np.isnan(each).any():
        raise InvalidInputError(
            f"{name}={given!r} must be a number, a dictionary of features and numbers, or one number for each of the "
            f"{len(model.names)} features."
        )
    return each


def _number(name: str, number: Any) -> float:
    if not is_finite_number(number):
        raise InvalidInputError(f"{name}: {number!r} is not a finite number.")
    return float(number)


def _divisor(costs: Floats) -> float:
    """The largest number that all costs are multiples of; 0 if it is too small to be of use."""
    found = Fraction(0)
    for cost in map(Fraction, costs.tolist()):
        while cost:
            found, cost = cost, found % cost
    return float(found) if found and float(found) > 1e-6 * float(costs.max()) else 0.0
