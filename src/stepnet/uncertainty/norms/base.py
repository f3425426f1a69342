"""Norm: how perturbations are measured, and the programs that follow from it.

A norm measures perturbations z, and its dual norm ‖v‖_* = max v·z with ‖z‖ <= 1 measures weights v. Norms are absolute:
they ignore the signs of single features and never fall as a feature grows in size. Scales and transforms are applied by
the caller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats

Numbers = NDArray[Any]  # floats, integers, or Fractions as objects


class Nearest(NamedTuple):
    """The nearest point, or None if there is none, and multipliers that prove that none is nearer.

    ``rows`` are multipliers of the halfspaces, none negative; ``ends`` are positive where a lower end is active,
    negative where an upper end is. The caller checks them: wrong ones prove less, but nothing false.
    """

    z: Floats | None
    rows: Floats
    ends: Floats


class DualForm(NamedTuple):
    """The dual norm in linear terms: v = V u has ‖v‖_* = up·u and ‖-v‖_* = down·u at best, rows u >= 0, u >= low."""

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
        Whether it is the Euclidean length.
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
        """The slope of ‖v‖_* in the direction ``towards`` at each row of ``v``; any subgradient at a kink."""

    @abstractmethod
    def nearest(self, G: Floats, h: Floats, low: Floats, high: Floats) -> Nearest:
        """min ‖z‖ with G z >= h and low <= z <= high, where low <= 0 <= high.

        Raises
        ------
        SolverFailure
            If nothing is decided.
        """

    def deepest(self, G: Floats, h: Floats, depths: Floats, low: Floats, high: Floats, radius: float) -> Nearest | None:
        """max s with G z >= h + s · depths, low <= z <= high and ‖z‖ <= radius.

        None if this is not a linear program; then bisection over nearest points takes its place.
        """
        return None

    def dual_form(self, n: int) -> DualForm | None:
        """The dual norm in linear terms; None if it is not linear, and robust neurons have no linear program."""
        return None

    def sizes(self, z: Floats) -> Floats:
        """‖z‖ along the last axis, with an error of a few units in the last place per feature."""
        return np.asarray(self.powers(z) ** (1 / self.degree))

    def dual_sizes(self, v: Floats) -> Floats:
        """‖v‖_* along the last axis, with an error of a few units in the last place per feature."""
        return np.asarray(self.dual_powers(v) ** (1 / self.degree))
