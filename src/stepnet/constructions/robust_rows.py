"""Rows in the coordinates of their set, and neurons that keep their side wherever the rows are moved.

A row of class 1 is handled if w·x - t >= r · s(-w), one of class 0 if t - w·x > r · s(w), where s(w) is the largest w·δ
at radius 1: the dual norm of w for a ball.
"""

from __future__ import annotations

import numpy as np

from stepnet.errors import Answer
from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Layer
from stepnet.problem.problem import Problem
from stepnet.uncertainty.sets import Uncertainty


class RobustRows:
    """The rows of a problem in the coordinates of its set, moved and divided so that they lie around 0.

    By itself it builds no neuron, which is all that can be done for a set of unknown shape.
    """

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.uncertainty, Uncertainty)
        self.set = problem.uncertainty
        X = problem.dataset.X.astype(np.float64)
        self.C = self.set.coordinates(X.shape[1])
        Y = X @ self.C.T
        self.centre = (Y.min(axis=0) + Y.max(axis=0)) / 2
        self.size = float(np.abs(Y - self.centre).max()) or 1.0
        self.Y, self.radii = (Y - self.centre) / self.size, problem.radii / self.size
        self.signs = np.where(problem.dataset.y == 1, 1.0, -1.0)

    @property
    def answer(self) -> Answer:
        """Whether neurons are built."""
        return Answer(
            f"nothing builds them for the {self.set.describe(self.radii * self.size)}: its norm has no dual_form. "
            f"Search and programs go on without; give the norm one, or use 'linf'."
        )

    def layer(self, v: Floats, t: float) -> Layer:
        """A neuron in these coordinates as one for the rows themselves."""
        return Layer((self.C.T @ v / self.size)[None], np.array([t + float(v @ self.centre) / self.size]))

    def hinge(self, rows: Ints, prices: Floats) -> Layer | None:
        """The neuron with the least sum of prices · max(0, 1 - what a row is inside by)."""
        return None

    def widest(self, rows: Ints, signs: Floats) -> tuple[float, Layer] | None:
        """The neuron that is farthest from its rows beyond their radii, and by how much; negative if it fails."""
        return None

    def heaviest(self, rows: Ints, prices: Floats, time_limit: float) -> tuple[float, float, Layer] | None:
        """The neuron whose handled rows weigh most: their weight, a bound on it, and the neuron."""
        return None
