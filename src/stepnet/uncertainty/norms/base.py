"""What a norm brings: how it measures perturbations, and what programs make of it.

A perturbation z and weights v of it are measured by a norm and by its dual, ‖v‖_* = max v·z with ‖z‖ <= 1. Norms are
absolute: signs of single features do not matter, and what is larger in every feature is not smaller. Whoever asks a
norm has brought scales and transforms into z already.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats

Numbers = NDArray[Any]  # floats, integers, or Fractions as objects


class Nearest(NamedTuple):
    """A point, or None if there is none, and what shows that none is nearer.

    ``rows`` are multipliers of the halfspaces, none negative; those of ``ends`` are positive where a lower end matters,
    negative where an upper one does. They are checked by whoever uses them: wrong ones show less, never what is false.
    """

    z: Floats | None
    rows: Floats
    ends: Floats


class DualForm(NamedTuple):
    """What weights reach, in linear terms: v = V u reaches up·u, and -v down·u, with rows u >= 0 and u >= low."""

    V: Floats
    up: Floats
    down: Floats
    rows: Floats
    low: Floats


class Norm(ABC):
    """An absolute norm.

    Attributes
    ----------
    name : str
    degree : int
        ‖z‖ to this power is rational where z is.
    is_round : bool
        Whether it is the length of Euclid, which no rotation changes.
    """

    name: str
    degree = 1
    is_round = False

    @abstractmethod
    def powers(self, z: Numbers) -> Any:
        """‖z‖ ** degree along the last axis, exact where the numbers are."""

    @abstractmethod
    def dual_powers(self, v: Numbers) -> Any:
        """‖v‖_* ** degree along the last axis, exact where the numbers are."""

    @abstractmethod
    def dual_slopes(self, v: Floats, towards: Floats) -> Floats:
        """How fast ‖v‖_* rises at each row of ``v`` as it moves ``towards``; any slope where there are several."""

    @abstractmethod
    def nearest(self, G: Floats, h: Floats, low: Floats, high: Floats) -> Nearest:
        """min ‖z‖ with G z >= h and low <= z <= high, where low <= 0 <= high.

        Raises
        ------
        SolverFailure
            If nothing is settled.
        """

    def deepest(self, G: Floats, h: Floats, depths: Floats, low: Floats, high: Floats, radius: float) -> Nearest | None:
        """max s with G z >= h + s · depths, low <= z <= high and ‖z‖ <= radius.

        None where this is no linear program; then it is found by bisection over nearest points.
        """
        return None

    def dual_form(self, n: int) -> DualForm | None:
        """The dual norm in linear terms; None where it has none, and no linear program builds a robust neuron."""
        return None

    def sizes(self, z: Floats) -> Floats:
        """‖z‖ along the last axis, with an error of a few units in the last place per feature."""
        return np.asarray(self.powers(z) ** (1 / self.degree))

    def dual_sizes(self, v: Floats) -> Floats:
        """‖v‖_* along the last axis, with an error of a few units in the last place per feature."""
        return np.asarray(self.dual_powers(v) ** (1 / self.degree))
