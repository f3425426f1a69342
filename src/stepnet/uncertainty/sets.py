"""Uncertainty sets: how far a row may be moved.

A row x may become x + δ. In a ball ‖δ / scale‖ <= radius, in the norm ℓ1, ℓ2 or ℓ∞, with x + δ kept between
``low`` and ``high`` if these are given; in a polyhedron A δ <= b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from stepnet.arithmetic import Floats
from stepnet.checks import is_finite_number
from stepnet.errors import InvalidInputError

Norm = Literal["l1", "l2", "linf"]
NORMS: tuple[Norm, ...] = ("l1", "l2", "linf")
_DUALS: dict[str, float] = {"l1": np.inf, "l2": 2, "linf": 1}


@dataclass(frozen=True)
class Ball:
    """All δ with ‖δ / scale‖ <= radius.

    Parameters
    ----------
    norm : "l1", "l2" or "linf"
    radius : float
        The same for all rows; ``fit(..., radius=...)`` gives one for each.
    scale : sequence of float, optional
        How much a unit of the radius means in each feature; with ``"linf"`` a box.
    low, high : sequence of float or float, optional
        Disturbed rows stay between them.
    """

    norm: Norm = "linf"
    radius: float = 0.0
    scale: tuple[float, ...] | None = None
    low: tuple[float, ...] | float | None = None
    high: tuple[float, ...] | float | None = None

    has_radius: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise InvalidInputError(f"norm={self.norm!r} is not known; choose 'l1', 'l2' or 'linf'.")
        if not (is_finite_number(self.radius) and self.radius >= 0):
            raise InvalidInputError(f"radius={self.radius!r} must be a number that is not negative.")
        if self.scale is not None:
            object.__setattr__(self, "scale", _numbers("scale", self.scale))
            if not all(size > 0 for size in self.scale):
                raise InvalidInputError(f"scale={self.scale!r} must be positive, one number a feature.")
        for name in ("low", "high"):
            end = getattr(self, name)
            if end is not None and not is_finite_number(end):
                object.__setattr__(self, name, _numbers(name, end))

    def scales(self, n_features: int) -> Floats:
        return self._each("scale", 1.0, n_features)

    def limits(self, n_features: int) -> tuple[Floats, Floats]:
        """The ends of each feature's range, infinite where there is none."""
        low, high = self._each("low", -np.inf, n_features), self._each("high", np.inf, n_features)
        if (low > high).any():
            raise InvalidInputError(f"low={self.low!r} must not lie above high={self.high!r}.")
        return low, high

    def _each(self, name: str, default: float, n_features: int) -> Floats:
        given = getattr(self, name)
        if isinstance(given, tuple) and len(given) != n_features:
            raise InvalidInputError(f"{name}={given!r} must have one number for each of the {n_features} features.")
        return np.full(n_features, default if given is None else given, dtype=np.float64)

    @property
    def is_clipped(self) -> bool:
        return self.low is not None or self.high is not None

    def steps(self, X: Floats, radii: Floats) -> tuple[Floats, Floats]:
        """How far each feature of each row may move alone, down (not positive) and up."""
        low, high = self.limits(X.shape[1])
        reach = radii[:, None] * self.scales(X.shape[1])
        return np.minimum(0.0, np.maximum(-reach, low - X)), np.maximum(0.0, np.minimum(reach, high - X))

    def reach(self, weights: Floats, X: Floats, radii: Floats) -> Floats:
        """At least max w·δ for every row and neuron (rows × neurons); exact where rows are not kept in a range.

        With a range it is exact for ℓ∞.
        """
        sizes = np.linalg.norm(weights * self.scales(X.shape[1]), ord=_DUALS[self.norm], axis=1)
        whole = np.outer(radii, sizes)
        if not self.is_clipped:
            return whole
        down, up = self.steps(X, radii)
        boxed = up @ np.maximum(weights, 0.0).T + down @ np.minimum(weights, 0.0).T
        return np.minimum(whole, boxed)

    def size(self, moves: Floats) -> Floats:
        """‖δ / scale‖ of each row of ``moves``."""
        order = {"l1": 1, "l2": 2, "linf": np.inf}[self.norm]
        return np.asarray(np.linalg.norm(moves / self.scales(moves.shape[1]), ord=order, axis=1))


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """All δ with A δ <= b; it must contain 0 and be bounded.

    Parameters
    ----------
    A : array-like of shape (rows, n_features)
    b : array-like of shape (rows,)
    """

    A: Any
    b: Any

    has_radius: ClassVar[bool] = False

    def __post_init__(self) -> None:
        A, b = np.array(self.A, dtype=np.float64, ndmin=2), np.array(self.b, dtype=np.float64, ndmin=1)
        if A.shape[0] != len(b) or not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise InvalidInputError(f"Polyhedron(A, b) needs finite A of shape ({len(b)}, features); got {A.shape}.")
        if (b < 0).any():
            raise InvalidInputError("Polyhedron(A, b) must contain 0: b must not be negative.")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)
        for direction in np.vstack([np.eye(A.shape[1]), -np.eye(A.shape[1])]):
            if linprog(-direction, A, b, bounds=(None, None)).status != 0:
                raise InvalidInputError("Polyhedron(A, b) is unbounded; add rows that bound every feature.")

    def reach(self, weights: Floats, X: Floats, radii: Floats) -> Floats:
        """max w·δ for every row and neuron: the same for all rows."""
        best = [-linprog(-w, self.A, self.b, bounds=(None, None)).fun for w in weights]
        return np.broadcast_to(np.array(best), (len(X), len(weights)))


Uncertainty = Ball | Polyhedron


def checked_radii(uncertainty: Uncertainty, radius: object, n_rows: int) -> Floats:
    """One radius a row, from the set's own or the user's."""
    if radius is None:
        return np.full(n_rows, getattr(uncertainty, "radius", 0.0))
    if not uncertainty.has_radius:
        raise InvalidInputError("radius= is for a Ball; a Polyhedron has none.")
    radii: NDArray[Any] = np.asarray(radius, dtype=np.float64)
    if radii.shape not in ((), (n_rows,)):
        raise InvalidInputError(
            f"radius must be one number, or one for each of the {n_rows} rows; got shape {radii.shape}."
        )
    if not (np.isfinite(radii).all() and (radii >= 0).all()):
        raise InvalidInputError("radius must be finite and not negative in every row.")
    return np.broadcast_to(radii, n_rows).copy()


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        raise InvalidInputError(f"{name}={values!r} must be a number or one number a feature.")
    numbers = tuple(float(value) for value in values)
    if np.isnan(numbers).any():
        raise InvalidInputError(f"{name}={values!r} must not have NaN.")
    return numbers
