"""The dual norm of weights along a line."""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.uncertainty.norms.base import Norm


class DualNorm:
    """‖w S‖_* along lines of weights w."""

    def __init__(self, norm: Norm, S: Floats) -> None:
        self.norm, self.S = norm, S

    def along(self, w: Floats, d: Floats, steps: Floats) -> tuple[Floats, Floats]:
        """The norm at w + step · d for every step, and its slope."""
        start, towards = w @ self.S, d @ self.S
        places: Floats = start + steps[:, None] * towards
        return self.norm.dual_sizes(places), self.norm.dual_slopes(places, np.asarray(towards))
