"""Activations: what a neuron makes of its value a = w·h.

A staircase has values v_0, ..., v_L and thresholds t_1 <= ... <= t_L: it gives v_l where l of the
thresholds lie at or below a. The step {0, 1} and the sign {-1, 1} are its two-valued cases. The last
layer may instead answer by the largest a - t (argmax) or give a - t itself (identity).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stepnet.errors import InvalidInputError
from stepnet.runtime.numbers import is_finite_number


def _numbers(name: str, values: object) -> tuple[float, ...]:
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise InvalidInputError(f"{name}={values!r} of a Staircase must be a sequence of numbers.")
    numbers = tuple(values)
    if not all(is_finite_number(value) for value in numbers):
        raise InvalidInputError(f"{name}={numbers!r} of a Staircase must be finite numbers.")
    return tuple(float(value) for value in numbers)


@dataclass(frozen=True)
class Staircase:
    """Values on half-open intervals that tile the line, lowest interval first; they need not rise.

    Parameters
    ----------
    values : sequence of numbers
        At least two.
    thresholds : sequence of numbers, optional
        The ends of the intervals, one less than values, in order; learned by each neuron if not given.
    """

    values: tuple[float, ...]
    thresholds: tuple[float, ...] | None = None

    has_levels = True
    is_compared = gives_numbers = False

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
                f"thresholds={thresholds!r} must be in order and one less than the {len(self.values)} values."
            )

    @property
    def n_thresholds(self) -> int:
        return len(self.values) - 1

    @property
    def name(self) -> str:
        if self.values == (0.0, 1.0):
            return "step"
        return "sign" if self.values == (-1.0, 1.0) else f"staircase {self.values}"


@dataclass(frozen=True)
class Head:
    """What the last layer does where its neurons are no staircases.

    Whether its neurons have levels (those of a staircase do), are compared with each other, or give numbers.
    """

    name: str
    is_compared: bool = False
    gives_numbers: bool = False
    values: tuple[float, ...] = ()
    thresholds: None = None
    n_thresholds: int = 1

    has_levels = False


STEP, SIGN = Staircase((0.0, 1.0)), Staircase((-1.0, 1.0))
ARGMAX, IDENTITY = Head("argmax", is_compared=True), Head("identity", gives_numbers=True)

Activation = Staircase | Head

_BY_NAME: dict[str, Activation] = {a.name: a for a in (STEP, SIGN, ARGMAX, IDENTITY)}


def activation(choice: object) -> Staircase:
    """The activation of hidden layers that a name or an object stands for."""
    if isinstance(choice, Staircase):
        return choice
    if choice in ("step", "sign"):
        return STEP if choice == "step" else SIGN
    raise InvalidInputError(f"activation={choice!r} is not known; choose 'step', 'sign' or Staircase(values).")


def to_plain(activation: Activation) -> str | list[float]:
    """For JSON: a name, or the values of a staircase."""
    return activation.name if activation.name in _BY_NAME else list(activation.values)


def from_plain(plain: object) -> Activation:
    if isinstance(plain, str) and plain in _BY_NAME:
        return _BY_NAME[plain]
    if isinstance(plain, list):
        return Staircase(tuple(plain))
    raise InvalidInputError(f"unknown activation {plain!r}")
