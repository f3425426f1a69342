"""Sums of floats without rounding, so that parts of them can be added in any order."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain

import numpy as np

from stepnet.model.arithmetic import Floats

_EXACT = 2.0**53


def exact_sum(values: Floats) -> Fraction:
    """The sum as a rational number; its float is what ``math.fsum`` returns."""
    values = np.asarray(values, dtype=np.float64)
    if not len(values):
        return Fraction(0)
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.abs(values).sum())
    if total < _EXACT and (values == np.rint(values)).all():
        return Fraction(float(values.sum()))
    terms, parts = values.tolist(), list[float]()
    while rest := math.fsum(chain(terms, (-part for part in parts))):
        parts.append(rest)
    return sum(map(Fraction, parts), Fraction(0))
