"""Moves into halfspaces G δ >= h, and what is shown of them.

What is said to be out of reach is shown by multipliers λ >= 0 of the halfspaces and of the ends of ranges: every
such move has λᵀG δ >= λ·h and λᵀG δ <= size · ‖Gᵀλ‖_*, so its size is at least λ·h / ‖Gᵀλ‖_*. That quotient is
computed with a bound on its rounding; whatever solver found λ need not be believed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stepnet.model.arithmetic import Floats

_UNIT = 2.0**-52


class Halfspaces(NamedTuple):
    """G δ >= h for moves δ of a row; ``errors`` bounds the rounding of h."""

    G: Floats
    h: Floats
    errors: Floats

    @classmethod
    def of(cls, row: Floats, weights: Floats, thresholds: Floats, signs: Floats) -> Halfspaces:
        """w·(row + δ) at or above its threshold where the sign is 1, at or below where it is -1."""
        sizes = np.abs(weights) @ np.abs(row) + np.abs(thresholds)
        return cls(signs[:, None] * weights, signs * (thresholds - weights @ row), (len(row) + 3) * _UNIT * sizes)

    def inside(self, depth: float, sizes: Floats) -> Halfspaces:
        """The same, deeper by so many units of radius."""
        return self._replace(h=self.h + depth * sizes)


class Move(NamedTuple):
    """A move, if one was found, and what is shown of all others.

    For the smallest move ``bound`` is a size that none undercuts; for the deepest one within a radius a
    positive ``bound`` shows that there is no move at all.
    """

    delta: Floats | None
    bound: float
