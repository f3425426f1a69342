"""Cut points: which number stands for the gap between two neighbouring values of a feature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from stepnet.errors import InvalidInputError
from stepnet.runtime.numbers import is_finite_number

_MOST_DIGITS = 17


@dataclass(frozen=True)
class CutPoints:
    """How round cut points are: the fewest digits, the middle of the gap, or multiples of ``step`` where there are any.

    All of them lie within the gap that the training rows leave, so they change no answer there.
    """

    step: float = 0.0
    is_middle: bool = False

    @classmethod
    def of(cls, choice: object) -> CutPoints:
        if choice == "round":
            return cls()
        if choice == "middle":
            return cls(is_middle=True)
        if is_finite_number(choice) and choice > 0:
            return cls(step=float(choice))
        raise InvalidInputError(
            f"cut_points={choice!r} must be 'round' (the fewest digits), 'middle' (of the gap between two rows), or a "
            f"positive number whose multiples are preferred, such as 0.5."
        )

    def within(self, low: float, high: float, *, is_at_least: bool) -> float:
        """A number c with low < c <= high, for ``x >= c``, or with low <= c < high, for ``x <= c``."""
        middle = Fraction(low) / 2 + Fraction(high) / 2
        if self.is_middle:
            found = _valid(middle, low, high, is_at_least)
            return found if found is not None else (high if is_at_least else low)
        if self.step and (found := _multiple(Fraction(repr(self.step)), middle, low, high, is_at_least)) is not None:
            return found
        largest = max(abs(low), abs(high))
        first = math.floor(math.log10(largest)) + 1 if largest > 0 else 0
        for digits in range(_MOST_DIGITS + 2):
            found = _multiple(Fraction(10) ** (first - digits), middle, low, high, is_at_least)
            if found is not None:
                return found
        return high if is_at_least else low


def _multiple(step: Fraction, middle: Fraction, low: float, high: float, is_at_least: bool) -> float | None:
    """The multiple of a step in the gap that is closest to its middle, if there is one."""
    below = math.floor(middle / step)
    for k in sorted((below, below + 1), key=lambda k: abs(k * step - middle)):
        found = _valid(k * step, low, high, is_at_least)
        if found is not None:
            return found
    return None


def _valid(value: Fraction, low: float, high: float, is_at_least: bool) -> float | None:
    rounded = float(value)
    is_inside = low < rounded <= high if is_at_least else low <= rounded < high
    return rounded if is_inside else None
