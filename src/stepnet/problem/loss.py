"""Losses: what a network pays for its answers."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from stepnet.arithmetic import Floats
from stepnet.data import Codes


def misclassified(y: Codes, answers: NDArray[Any], weights: Floats) -> float:
    """The weight of the rows whose answer is not their class, correctly rounded."""
    return math.fsum(weights[y != answers])
