"""How far rows can be perturbed before the network misclassifies them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.runtime.numbers import is_finite_number
from stepnet.tables.operations import lines_of
from stepnet.uncertainty.attack import attack

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
    broken: float  # share of rows that a perturbation up to the radius gets wrong; the rest is not decided
    right: float  # share of rows classified correctly as they are
    curve: tuple[tuple[float, float], ...]  # radius, share of rows certified beyond it

    def share(self, radius: float) -> float:
        """The share of rows that no perturbation up to a radius gets wrong."""
        return next(share for end, share in reversed(self.curve) if end <= radius)


def checked_radius(radius: object) -> float:
    if is_finite_number(radius) and radius >= 0:
        return float(radius)
    raise InvalidInputError(f"radius={radius!r} must be a finite number that is not negative, such as 0.1.")


def robustness_of(estimator: Any, X: Floats, y: Any, norm: str, radius: float, part: str) -> Robustness:
    """Attacks on up to ``MOST_ROWS`` rows, spread evenly over those given, for ``MOST_SECONDS``.

    Perturbations have the units of features before they are scaled.
    """
    chosen = np.unique(np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(np.int64))
    columns = getattr(estimator, "columns_", None)
    units = lines_of(columns.arithmetic)[0] if columns is not None and columns.has_arithmetic else None
    network = estimator.network_
    found = attack(network, X[chosen], y[chosen], norm=norm, scale=units, time_limit=MOST_SECONDS)
    return Robustness(
        norm,
        radius,
        part,
        len(X),
        len(chosen),
        int((~found.are_complete).sum()),
        found.certified(radius),
        found.broken(radius),
        float((network.predict(X[chosen]) == y[chosen]).mean()),
        _curve(found.radii),
    )


def _curve(radii: Floats) -> tuple[tuple[float, float], ...]:
    ends = np.unique(np.append(radii[np.isfinite(radii)], 0.0))
    return tuple((float(end), float((radii > end).mean())) for end in ends)
