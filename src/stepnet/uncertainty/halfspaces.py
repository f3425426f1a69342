"""Perturbations into halfspaces G δ >= h, and proofs that there are none.

What is out of reach is proven by multipliers λ >= 0 of the halfspaces and of the ends of ranges: every such
perturbation has λᵀG δ >= λ·h and λᵀG δ <= size · ‖Gᵀλ‖_*, so its size is at least λ·h / ‖Gᵀλ‖_*. This quotient is
computed with a bound on its rounding error, so the solver that found λ need not be trusted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stepnet.model.arithmetic import Floats

UNIT = 2.0**-52  # relative rounding error, with a factor of 2 for safety


class Halfspaces(NamedTuple):
    """G δ >= h for perturbations δ of a row; ``errors`` bounds the rounding error of h."""

    G: Floats
    h: Floats
    errors: Floats

    @classmethod
    def of(cls, row: Floats, weights: Floats, thresholds: Floats, signs: Floats) -> Halfspaces:
        """w·(row + δ) at or above the threshold where the sign is 1, at or below it where the sign is -1."""
        sizes = np.abs(weights) @ np.abs(row) + np.abs(thresholds)
        return cls(signs[:, None] * weights, signs * (thresholds - weights @ row), (len(row) + 3) * UNIT * sizes)


class Move(NamedTuple):
    """A perturbation, if one was found, and what is proven about all others.

    For the smallest perturbation, ``bound`` is a lower bound on all sizes; for the deepest one within a radius, a
    positive ``bound`` proves that there is none.
    """

    delta: Floats | None
    bound: float
