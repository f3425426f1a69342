"""Weight domains: which values a weight may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.runtime.numbers import is_integer


@dataclass(frozen=True)
class Real:
    """Any real number; programs scale weights into [-1, 1], which changes no answer."""

    name = "real"
    is_integer = False
    lower, upper, limit = -1.0, 1.0, 1.0
    stride = 0.0

    values = np.zeros(0)  # empty: there are infinitely many

    def contains(self, weights: Floats) -> bool:
        return True

    def nearest(self, weights: Floats) -> Floats:
        return weights


@dataclass(frozen=True)
class _IntegerDomain:
    """The integers lower, lower + stride, ..., upper."""

    name: str
    lower: float
    upper: float
    stride: float = 1.0

    is_integer = True

    @property
    def limit(self) -> float:
        return max(abs(self.lower), abs(self.upper))

    @property
    def values(self) -> Floats:
        return np.arange(self.lower, self.upper + 1, self.stride)

    def contains(self, weights: Floats) -> bool:
        inside = (weights >= self.lower) & (weights <= self.upper)
        return bool((inside & (np.mod(weights - self.lower, self.stride) == 0)).all())

    def nearest(self, weights: Floats) -> Floats:
        """The value of the domain closest to each weight."""
        steps = np.round((np.clip(weights, self.lower, self.upper) - self.lower) / self.stride)
        return self.lower + steps * self.stride


class Integers(_IntegerDomain):
    """The integers -P, ..., P; ``Integers(1)`` are the ternary weights -1, 0, 1."""

    def __init__(self, largest: int) -> None:
        if not is_integer(largest) or largest < 1:
            raise InvalidInputError(f"Integers(P) needs an integer P >= 1; got {largest!r}.")
        name = "ternary" if largest == 1 else f"integers up to {largest}"
        super().__init__(name, -float(largest), float(largest))

    @property
    def largest(self) -> int:
        return int(self.upper)

    def __repr__(self) -> str:
        return f"Integers({self.largest})"


WeightDomain = Real | _IntegerDomain

BINARY = _IntegerDomain("binary", 0.0, 1.0)
SIGN = _IntegerDomain("sign", -1.0, 1.0, stride=2.0)

_BY_NAME: dict[str, WeightDomain] = {"real": Real(), "binary": BINARY, "sign": SIGN, "ternary": Integers(1)}


def weight_domain(choice: object) -> WeightDomain:
    """The domain, from a name or an object."""
    if isinstance(choice, str) and choice in _BY_NAME:
        return _BY_NAME[choice]
    if isinstance(choice, Real | _IntegerDomain):
        return choice
    names = ", ".join(map(repr, _BY_NAME))
    raise InvalidInputError(
        f"weights={choice!r} is not known; choose {names} or Integers(P), or a tuple of them, one per layer."
    )


def weight_domains(choice: object, n_layers: int) -> tuple[WeightDomain, ...]:
    """One domain per layer, from one choice for all layers or a sequence of choices."""
    if isinstance(choice, Sequence) and not isinstance(choice, str):
        if len(choice) != n_layers:
            raise InvalidInputError(
                f"weights={choice!r} must have one entry per layer, {n_layers} with the output layer."
            )
        return tuple(weight_domain(one) for one in choice)
    return (weight_domain(choice),) * n_layers
