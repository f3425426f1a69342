"""Rows in the coordinates of their set, and neurons that perturbations of the rows do not switch.

A neuron handles a row of class 1 if w·x - t >= r · s(-w), and a row of class 0 if t - w·x > r · s(w), where s(w) is the
largest w·δ at radius 1: for a ball, the dual norm of w.
"""

from __future__ import annotations

import numpy as np

from stepnet.errors import Answer
from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Layer
from stepnet.problem.problem import Problem


class RobustRows:
    """The rows of a problem in the coordinates of its set, centred and scaled.

    This base class builds no neurons; it serves sets of unknown shape.
    """

    def __init__(self, problem: Problem) -> None:
        self.set = problem.perturbations
        X = problem.dataset.X.astype(np.float64)
        self.C = self.set.coordinates(X.shape[1])
        Y = X @ self.C.T
        self.centre = (Y.min(axis=0) + Y.max(axis=0)) / 2
        self.size = float(np.abs(Y - self.centre).max()) or 1.0
        self.Y, self.radii = (Y - self.centre) / self.size, problem.radii / self.size
        self.signs = np.where(problem.dataset.y == 1, 1.0, -1.0)

    @property
    def answer(self) -> Answer:
        """Whether neurons can be built."""
        return Answer(
            f"not available for the {self.set.describe(self.radii * self.size)}, whose norm has no dual_form. "
            f"Search and programs continue without them; give the norm a dual_form, or use 'linf'."
        )

    def layer(self, v: Floats, t: float) -> Layer:
        """A neuron in these coordinates, converted to one for the original rows."""
        return Layer((self.C.T @ v / self.size)[None], np.array([t + float(v @ self.centre) / self.size]))

    def hinge(self, rows: Ints, prices: Floats) -> Layer | None:
        """The neuron with the least sum of prices · max(0, 1 - lead); rows with a positive lead are handled."""
        return None

    def widest(self, rows: Ints, signs: Floats) -> tuple[float, Layer] | None:
        """The neuron with the largest distance from all rows beyond their radii, and that distance, maybe negative."""
        return None

    def heaviest(self, rows: Ints, prices: Floats, time_limit: float) -> tuple[float, float, Layer] | None:
        """The neuron whose handled rows have the largest total price: this total, a bound on it, and the neuron."""
        return None
