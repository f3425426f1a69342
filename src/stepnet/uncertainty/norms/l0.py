"""ℓ0: how many features are perturbed. Not a norm: it measures moves by whole steps, and has no dual."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.uncertainty.norms.base import Nearest, Norm, Numbers


class L0(Norm):
    """‖z‖ = |{l: z_l ≠ 0}|."""

    name = "l0"

    def powers(self, z: Numbers) -> Any:
        return (np.asarray(z) != 0).sum(axis=-1)

    def dual_powers(self, v: Numbers) -> Any:
        raise TypeError("ℓ0 has no dual")

    def dual_slopes(self, v: Floats, towards: Floats) -> Floats:
        raise TypeError("ℓ0 has no dual")

    def nearest(self, G: Floats, h: Floats, low: Floats, high: Floats) -> Nearest:
        raise TypeError("ℓ0 has no linear program")
