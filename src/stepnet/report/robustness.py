"""How far rows can be perturbed before the network misclassifies them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.runtime.numbers import is_finite_number
from stepnet.tables.operations import lines_of
from stepnet.uncertainty.attack import Attacks, attack

MOST_ROWS, MOST_SECONDS = 200, 30.0


@dataclass(frozen=True)
class Robustness:
    """Shares are of the rows attacked; misclassified rows are never certified."""

    norm: str
    radius: float
    part: str  # "training" or "test"
    n_rows: int
    n_attacked: int
    n_unfinished: int  # rows whose search stopped early, so that their radius may be larger
    certified: float  # share of rows that no perturbation up to the radius gets wrong
    right: float  # share of rows classified correctly as they are
    curve: tuple[tuple[float, float], ...]  # radius, share of rows certified beyond it
    is_out_of_time: bool

    def share(self, radius: float) -> float:
        """The share of rows that no perturbation up to a radius gets wrong."""
        return next(share for end, share in reversed(self.curve) if end <= radius)


def checked_radius(radius: object) -> float:
    if is_finite_number(radius) and radius >= 0:
        return float(radius)
    raise InvalidInputError(f"radius={radius!r} must be a finite number that is not negative, such as 0.1.")


def robustness_of(estimator: Any, X: Floats, y: Any, norm: str, radius: float, part: str) -> Robustness:
    """Exact attacks on rows spread evenly over those given, until ``MOST_ROWS`` or ``MOST_SECONDS`` is reached.

    Perturbations have the units of features before they are scaled.
    """
    chosen = np.unique(np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(np.int64))
    chosen = np.random.default_rng(0).permutation(chosen)  # so that rows stay evenly spread if time runs out
    columns = getattr(estimator, "columns_", None)
    units = lines_of(columns.arithmetic)[0] if columns is not None and columns.has_arithmetic else None
    begin, found = time.monotonic(), list[Attacks]()
    for number in chosen:
        if found and time.monotonic() - begin >= MOST_SECONDS:
            break
        found.append(attack(estimator.network_, X[[number]], y[[number]], norm=norm, scale=units))
    radii, attacked = np.array([one.radii[0] for one in found]), chosen[: len(found)]
    return Robustness(
        norm,
        radius,
        part,
        len(X),
        len(radii),
        sum(not one.are_complete[0] for one in found),
        float((radii > radius).mean()),
        float((estimator.network_.predict(X[attacked]) == y[attacked]).mean()),
        _curve(radii),
        len(radii) < len(chosen),
    )


def _curve(radii: Floats) -> tuple[tuple[float, float], ...]:
    ends = np.unique(np.append(radii[np.isfinite(radii)], 0.0))
    return tuple((float(end), float((radii > end).mean())) for end in ends)
