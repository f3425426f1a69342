"""Staircase: a piecewise constant function; the step and the sign are the cases with two values.

A staircase has values v_0, ..., v_L and thresholds t_1 <= ... <= t_L. Its value at a is v_l if l thresholds are at
most a.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.activations.base import Activation, Codes, Condition, Levels
from stepnet.model.arithmetic import Bools, Floats, Weights, activations, doubt_of, ranges_of_sums
from stepnet.runtime.numbers import is_finite_number


def _numbers(name: str, values: object) -> tuple[float, ...]:
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise InvalidInputError(f"{name}={values!r} of a Staircase must be a sequence of numbers.")
    numbers = tuple(values)
    if not all(is_finite_number(value) for value in numbers):
        raise InvalidInputError(f"{name}={numbers!r} of a Staircase must be finite numbers.")
    return tuple(float(value) for value in numbers)


@dataclass(frozen=True)
class Staircase(Activation):
    """One value per half-open interval, from the lowest interval to the highest; values need not rise.

    Parameters
    ----------
    values : sequence of numbers
        At least two different ones.
    thresholds : sequence of numbers, optional
        The ends of the intervals in rising order, one fewer than values. If not given, each neuron learns its own.
    """

    values: tuple[float, ...]
    thresholds: tuple[float, ...] | None = None

    has_levels = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _numbers("values", self.values))
        if len(self.values) < 2 or len(set(self.values)) < 2:
            raise InvalidInputError(f"Staircase(values={self.values!r}) needs at least two different values.")
        if self.thresholds is None:
            return
        thresholds = _numbers("thresholds", self.thresholds)
        object.__setattr__(self, "thresholds", thresholds)
        if len(thresholds) != len(self.values) - 1 or list(thresholds) != sorted(thresholds):
            raise InvalidInputError(
                f"thresholds={thresholds!r} must be in rising order, and one fewer than the {len(self.values)} values."
            )

    @property
    def n_thresholds(self) -> int:  # type: ignore[override]
        return len(self.values) - 1

    @property
    def name(self) -> str:  # type: ignore[override]
        if self.values == (0.0, 1.0):
            return "step"
        return "sign" if self.values == (-1.0, 1.0) else f"staircase {self.values}"

    def read(self, signals: Floats, weights: Weights, thresholds: Floats) -> tuple[Floats, Levels]:
        first, *others = thresholds.reshape(weights.shape[0], -1).T
        values, signs = activations(signals, weights, first)
        levels = (signs >= 0).astype(np.int16)
        for one in others:
            levels += activations(signals, weights, one)[1] >= 0
        return values, levels

    def n_answers(self, width: int) -> int:
        return len(self.values)

    def answers(self, sums: Floats, thresholds: Floats) -> Codes:
        return np.asarray((sums[:, 0, None] >= thresholds[0]).sum(axis=1))

    def switches(self, sums: Floats, thresholds: Floats, j: int) -> tuple[Floats, Codes]:
        shape = len(sums), self.n_thresholds
        return np.broadcast_to(thresholds[0], shape), np.broadcast_to(np.arange(shape[1] + 1), (shape[0], shape[1] + 1))

    def scores(self, values: Floats, levels: Levels) -> Floats:
        """1 in the column of the answer; for a single step its value, positive exactly where the neuron is on."""
        if self.n_thresholds > 1:
            return super().scores(values, levels)
        if self == STEP and values.shape[1] == 1:
            return np.where(levels > 0, np.maximum(values, _SMALLEST), np.minimum(values, -_SMALLEST))[:, 0]
        return values

    def level_ranges(self, weights: Weights, thresholds: Floats, least: Floats, most: Floats) -> tuple[Codes, Codes]:
        bottom, top = ranges_of_sums(weights, least, most)
        thresholds = thresholds.reshape(weights.shape[0], -1)
        doubt = doubt_of(weights, least, most, np.abs(thresholds).max(axis=1))
        low, high = thresholds + doubt[:, None], thresholds - doubt[:, None]
        return (bottom[..., None] >= low).sum(axis=2), (top[..., None] >= high).sum(axis=2)

    def could_miss(self, weights: Weights, thresholds: Floats, least: Floats, most: Floats, classes: Codes) -> Bools:
        below, above = self.level_ranges(weights, thresholds, least, most)
        return np.asarray((below[:, 0] != classes) | (above[:, 0] != classes))

    def rivals(self, weights: Floats, thresholds: Floats, answer: int) -> list[Condition]:
        """To reach the next threshold, or to miss the last one that is reached."""
        ends = thresholds.reshape(len(weights), -1)[0]
        up: list[Condition] = [(weights[0], float(ends[answer]), False)] if answer < len(ends) else []
        return up + ([(-weights[0], -float(ends[answer - 1]), True)] if answer else [])

    def constant_thresholds(self, code: int, width: int, beyond: float) -> Floats:
        return np.where(np.arange(self.n_thresholds) < code, -beyond, beyond)


STEP, SIGN = Staircase((0.0, 1.0)), Staircase((-1.0, 1.0))
_SMALLEST = 5e-324  # the smallest positive float
