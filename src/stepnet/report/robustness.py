"""How far rows can be perturbed before their answer is wrong."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.runtime.numbers import is_finite_number
from stepnet.uncertainty.attack import attack

MOST_ROWS, MOST_SECONDS = 200, 30.0
_AT_ONCE = 5  # rows between two looks at the clock


@dataclass(frozen=True)
class Robustness:
    """Shares are those of the rows that were attacked; rows that are wrong already are never certified."""

    norm: str
    radius: float
    part: str  # "training" or "test"
    n_rows: int
    n_attacked: int
    n_unfinished: int  # their radius is what was shown by then, and may be larger
    certified: float  # share of rows right whatever the perturbation up to the radius
    right: float  # share of rows right as they are
    curve: tuple[tuple[float, float], ...]  # radius, share of rows certified beyond it
    is_out_of_time: bool

    def share(self, radius: float) -> float:
        """Of the rows that no perturbation up to a radius gets wrong."""
        return next(share for end, share in reversed(self.curve) if end <= radius)


def checked_radius(radius: object) -> float:
    if is_finite_number(radius) and radius >= 0:
        return float(radius)
    raise InvalidInputError(f"radius={radius!r} must be a finite number that is not negative, such as 0.1.")


def robustness_of(estimator: Any, X: Floats, y: Any, norm: str, radius: float, part: str) -> Robustness:
    """Exact attacks on rows spread evenly over those given, up to a number of rows and seconds."""
    chosen = np.unique(np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(np.int64))
    chosen = np.random.default_rng(0).permutation(chosen)  # so that an early end is no choice of rows either
    begin, radii, n_unfinished = time.monotonic(), np.zeros(0), 0
    while len(radii) < len(chosen) and (not len(radii) or time.monotonic() - begin < MOST_SECONDS):
        rows = chosen[len(radii) : len(radii) + _AT_ONCE]
        found = attack(estimator.network_, X[rows], y[rows], norm=norm)
        radii = np.append(radii, found.radii)
        n_unfinished += int((~found.are_complete).sum())
    attacked = chosen[: len(radii)]
    return Robustness(
        norm,
        radius,
        part,
        len(X),
        len(radii),
        n_unfinished,
        float((radii > radius).mean()),
        float((estimator.network_.predict(X[attacked]) == y[attacked]).mean()),
        _curve(radii),
        len(radii) < len(chosen),
    )


def _curve(radii: Floats) -> tuple[tuple[float, float], ...]:
    ends = np.unique(np.append(radii[np.isfinite(radii)], 0.0))
    return tuple((float(end), float((radii > end).mean())) for end in ends)
