"""Losses: what a network pays for its answers."""

from __future__ import annotations

import math

from stepnet.arithmetic import Floats
from stepnet.data import Codes


def misclassified(y: Codes, answers: Codes, weights: Floats) -> float:
    """The weight of the rows whose answer is not their class, correctly rounded."""
    return math.fsum(weights[y != answers])
