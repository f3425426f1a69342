"""Weight domains: which values a weight may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stepnet.arithmetic import Floats
from stepnet.checks import is_integer
from stepnet.errors import InvalidInputError


class WeightDomain(Protocol):
    """What formulations and searches ask of a domain."""

    @property
    def name(self) -> str: ...

    @property
    def is_integer(self) -> bool: ...

    @property
    def limit(self) -> float:
        """Weights lie in [-limit, limit], in the form the programs use."""
        ...

    def contains(self, weights: Floats) -> bool: ...


@dataclass(frozen=True)
class Real:
    """Any real number; programs normalise them to [-1, 1], which changes no answer."""

    name: str = "real"
    is_integer: bool = False
    limit: float = 1.0

    def contains(self, weights: Floats) -> bool:
        return True


@dataclass(frozen=True)
class Integers:
    """The integers -P, ..., P; ``Integers(1)`` are the ternary weights -1, 0, 1."""

    largest: int

    def __post_init__(self) -> None:
        if not is_integer(self.largest) or self.largest < 1:
            raise InvalidInputError(f"Integers(P) needs an integer P >= 1; got {self.largest!r}.")

    @property
    def name(self) -> str:
        return "ternary" if self.largest == 1 else f"integers up to {self.largest}"

    @property
    def is_integer(self) -> bool:
        return True

    @property
    def limit(self) -> float:
        return float(self.largest)

    def contains(self, weights: Floats) -> bool:
        return bool((weights == np.round(weights)).all() and (np.abs(weights) <= self.largest).all())


_BY_NAME: dict[str, WeightDomain] = {"real": Real(), "ternary": Integers(1)}


def weight_domain(choice: object) -> WeightDomain:
    """The domain that a name or a domain object stands for."""
    if isinstance(choice, str) and choice in _BY_NAME:
        return _BY_NAME[choice]
    if isinstance(choice, Real | Integers):
        return choice
    names = ", ".join(map(repr, _BY_NAME))
    raise InvalidInputError(f"weights={choice!r} is not known; choose {names} or Integers(P).")
