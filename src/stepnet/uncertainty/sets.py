"""Uncertainty sets: how far a row may be moved.

A row x may become x + δ with δ in a set that holds 0. Every set measures moves by a size: δ is allowed if its
size is at most the row's radius. For a ball of ℓ1, ℓ2 or ℓ∞ the size is ‖z‖ with δ = scale · z or δ = transform z, and
x + δ may be kept between ``low`` and ``high``. For a polyhedron A δ <= b it is the least s with A δ <= s b, and
the radius is 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError, SolverFailure
from stepnet.model.arithmetic import Floats, exact_dot
from stepnet.runtime.numbers import is_finite_number
from stepnet.uncertainty.programs import minimise

Norm = Literal["l1", "l2", "linf"]
NORMS: tuple[Norm, ...] = ("l1", "l2", "linf")
ORDERS: dict[str, float] = {"l1": 1, "l2": 2, "linf": np.inf}
DUALS: dict[str, float] = {"l1": np.inf, "l2": 2, "linf": 1}
_UNIT = 2.0**-52
_WORST_CONDITION = 1e4  # of a transform: beyond, its inverse tells too little


class Uncertainty(ABC):
    """A set of moves."""

    radius: float
    has_radius: bool  # whether rows may have radii of their own

    @abstractmethod
    def require(self, n_features: int) -> None:
        """Raise if the set is not one of moves of so many features."""

    @abstractmethod
    def dual_sizes(self, weights: Floats) -> Floats:
        """At least the largest w·δ at radius 1, for each row of ``weights``; exact up to rounding."""

    @abstractmethod
    def size(self, moves: Floats) -> Floats:
        """Of each row of ``moves``."""

    @abstractmethod
    def contains(self, row: Floats, point: Floats, radius: float) -> bool:
        """Whether the row may become the point, in exact arithmetic."""

    @abstractmethod
    def describe(self, radii: Floats) -> str:
        """In the words of a certificate."""

    def stays(self, row: Floats, weights: Floats, threshold: float, radius: float, on: bool) -> bool:
        """Whether w·x >= t holds (or fails) for all moves of a row, in exact arithmetic; False if that is not known."""
        return False

    def limits(self, n_features: int) -> tuple[Floats, Floats]:
        """The ends of each feature's range, infinite where there is none."""
        return np.full(n_features, -np.inf), np.full(n_features, np.inf)

    def reach(self, weights: Floats, X: Floats, radii: Floats) -> Floats:
        """At least max w·δ for every row and neuron (rows × neurons)."""
        return np.outer(radii, self.dual_sizes(weights))


@dataclass(frozen=True)
class Ball(Uncertainty):
    """All δ = scale · z, or transform z, with ‖z‖ <= radius.

    Parameters
    ----------
    norm : "l1", "l2" or "linf"
    radius : float
        The same for all rows; ``fit(..., radius=...)`` gives one for each.
    scale : sequence of float, optional
        How much a unit of the radius means in each feature; with ``"linf"`` a box.
    low, high : sequence of float or float, optional
        Disturbed rows stay between them (a row that lies beyond is not pushed further).
    transform : square matrix, optional
        Instead of ``scale``; with ``"l2"`` an ellipsoid.
    """

    norm: Norm = "linf"
    radius: float = 0.0
    scale: tuple[float, ...] | None = None
    low: tuple[float, ...] | float | None = None
    high: tuple[float, ...] | float | None = None
    transform: tuple[tuple[float, ...], ...] | None = None

    has_radius = True

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise InvalidInputError(f"norm={self.norm!r} is not known; choose 'l1', 'l2' or 'linf'.")
        if not (is_finite_number(self.radius) and self.radius >= 0):
            raise InvalidInputError(f"radius={self.radius!r} must be a number that is not negative.")
        if self.scale is not None:
            object.__setattr__(self, "scale", _numbers("scale", self.scale))
            if not all(size > 0 and np.isfinite(size) for size in self.scale):
                raise InvalidInputError(f"scale={self.scale!r} must be positive, one number a feature.")
        for name in ("low", "high"):
            end = getattr(self, name)
            if end is not None and not is_finite_number(end):
                object.__setattr__(self, name, _numbers(name, end))
        if self.transform is not None:
            self._check_transform()

    def _check_transform(self) -> None:
        if self.scale is not None:
            raise InvalidInputError("give scale= or transform=, not both; a transform may contain the scales.")
        matrix = _matrix("transform", self.transform)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise InvalidInputError(f"transform must be a square matrix of finite numbers; got shape {matrix.shape}.")
        if np.linalg.cond(matrix) > _WORST_CONDITION:
            raise InvalidInputError(
                "transform must be invertible, and not nearly singular; drop features that hardly move, or use scale=."
            )
        object.__setattr__(self, "transform", tuple(map(tuple, matrix.tolist())))

    def require(self, n_features: int) -> None:
        self.scales(n_features)
        self.limits(n_features)
        if self.transform is not None and len(self.transform) != n_features:
            raise InvalidInputError(
                f"transform has {len(self.transform)} rows; it must have one for each of the {n_features} features."
            )

    def scales(self, n_features: int) -> Floats:
        return self._each("scale", 1.0, n_features)

    def limits(self, n_features: int) -> tuple[Floats, Floats]:
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
    def is_plain(self) -> bool:
        """Whether a move stays in the ball if one feature does not move after all."""
        return self.transform is None

    @property
    def is_clipped(self) -> bool:
        return self.low is not None or self.high is not None

    @cached_property
    def _matrix(self) -> Floats:
        return np.array(self.transform)

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self._matrix))

    def spread(self, weights: Floats) -> Floats:
        """Weights on δ as weights on z."""
        spread: Floats = weights * self.scales(weights.shape[1]) if self.transform is None else weights @ self._matrix
        return spread

    def moves(self, z: Floats) -> Floats:
        """δ of each row of ``z``."""
        moves: Floats = z * self.scales(z.shape[1]) if self.transform is None else z @ self._matrix.T
        return moves

    def steps(self, X: Floats, radii: Floats) -> tuple[Floats, Floats]:
        """How far each feature of each row may move alone, down (not positive) and up."""
        low, high = self.limits(X.shape[1])
        reach = np.outer(radii, self.dual_sizes(np.eye(X.shape[1])))
        return np.minimum(0.0, np.maximum(-reach, low - X)), np.maximum(0.0, np.minimum(reach, high - X))

    def reach(self, weights: Floats, X: Floats, radii: Floats) -> Floats:
        """At least max w·δ; exact where rows are not kept in a range, and for ℓ∞ without a transform."""
        whole = np.outer(radii, self.dual_sizes(weights))
        if not self.is_clipped:
            return whole
        down, up = self.steps(X, radii)
        boxed = up @ np.maximum(weights, 0.0).T + down @ np.minimum(weights, 0.0).T
        return np.asarray(np.minimum(whole, boxed * (1 + 4 * weights.shape[1] * _UNIT)))

    def dual_sizes(self, weights: Floats) -> Floats:
        weights = np.asarray(weights, dtype=np.float64)
        spread = np.abs(self.spread(weights))
        if self.transform is not None:  # where terms cancel, rounding is that of the terms
            spread = spread + weights.shape[1] * _UNIT * (np.abs(weights) @ np.abs(self._matrix))
        sizes = np.linalg.norm(spread, ord=DUALS[self.norm], axis=1)
        return np.asarray(sizes * (1 + 4 * weights.shape[1] * _UNIT))

    def size(self, moves: Floats) -> Floats:
        z = moves / self.scales(moves.shape[1]) if self.transform is None else moves @ self._inverse.T
        return np.asarray(np.linalg.norm(z, ord=ORDERS[self.norm], axis=1))

    def contains(self, row: Floats, point: Floats, radius: float) -> bool:
        low, high = self.limits(len(row))
        if ((point < np.minimum(low, row)) | (point > np.maximum(high, row))).any():
            return False
        if self.transform is not None:  # its inverse is not exact: keep off the edge
            return bool(self.size((point - row)[None])[0] <= radius * (1 - 1e-9))
        estimate = float(self.size((point - row)[None])[0])
        doubt = 8 * len(row) * _UNIT * (estimate + radius)
        return estimate < radius - doubt or (estimate <= radius + doubt and self._contains_exactly(row, point, radius))

    def stays(self, row: Floats, weights: Floats, threshold: float, radius: float, on: bool) -> bool:
        if self.transform is not None:
            return False
        lead = exact_dot(row, weights) - Fraction(threshold)
        lead = lead if on else -lead
        scales = self.scales(len(row)).tolist()
        sizes = [abs(Fraction(w)) * Fraction(s) for w, s in zip(weights.tolist(), scales, strict=True)]
        reach = Fraction(radius)
        if self.norm == "l2":
            if lead < 0:
                return False
            lead, reach = lead * lead, reach * reach * sum(size * size for size in sizes)
        else:
            reach *= sum(sizes) if self.norm == "linf" else max(sizes)
        return lead >= reach if on else lead > reach

    def _contains_exactly(self, row: Floats, point: Floats, radius: float) -> bool:
        limit = Fraction(float(radius))
        sizes = [
            abs(Fraction(b) - Fraction(a)) / Fraction(s)
            for a, b, s in zip(row.tolist(), point.tolist(), self.scales(len(row)).tolist(), strict=True)
        ]
        if self.norm == "l2":
            return sum(size * size for size in sizes) <= limit * limit
        return (max(sizes) if self.norm == "linf" else sum(sizes)) <= limit

    def describe(self, radii: Floats) -> str:
        least, most = float(radii.min()), float(radii.max())
        radius = f"{least:g}" if least == most else f"{least:g} to {most:g}"
        shape = "" if self.scale is None and self.transform is None else ", scaled"
        return f"{self.norm} ball of radius {radius}{shape}{', within a range' if self.is_clipped else ''}"


@dataclass(frozen=True, eq=False)
class Polyhedron(Uncertainty):
    """All δ with A δ <= b; it must contain 0 and be bounded.

    Parameters
    ----------
    A : array-like of shape (rows, n_features)
    b : array-like of shape (rows,)
    """

    A: Any
    b: Any

    radius = 1.0
    has_radius = False

    def __post_init__(self) -> None:
        A, b = np.atleast_2d(_matrix("A", self.A)), np.atleast_1d(_matrix("b", self.b))
        if b.ndim != 1 or A.shape[0] != len(b) or not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise InvalidInputError(f"Polyhedron(A, b) needs finite A of shape ({len(b)}, features); got {A.shape}.")
        if (b < 0).any():
            raise InvalidInputError("Polyhedron(A, b) must contain 0: b must not be negative.")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)
        try:
            sizes = self._supports(np.vstack([np.eye(A.shape[1]), -np.eye(A.shape[1])]), np.inf)
        except SolverFailure:
            sizes = np.array([np.inf])
        if not np.isfinite(sizes).all():
            raise InvalidInputError("Polyhedron(A, b) is unbounded; add rows that bound every feature.")
        object.__setattr__(self, "extent", float(sizes.max()) * (1 + 1e-6) + 1e-9)  # no feature moves further

    extent: float = field(init=False, default=0.0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polyhedron) and np.array_equal(self.A, other.A) and np.array_equal(self.b, other.b)

    def __hash__(self) -> int:
        return hash((self.A.tobytes(), self.b.tobytes()))

    def require(self, n_features: int) -> None:
        if self.A.shape[1] != n_features:
            raise InvalidInputError(
                f"Polyhedron(A, b) moves {self.A.shape[1]} features, not {n_features}; give A a column for each."
            )

    def _supports(self, weights: Floats, extent: float) -> Floats:
        """max w·δ by the dual: μ >= 0 with Aᵀ μ = w gives w·δ <= μ·b; what rounding leaves of w counts in full."""
        free = np.full(self.A.shape[1], np.inf)
        best = []
        for w in weights:
            size = float(np.abs(w).max()) or 1.0
            multipliers = np.zeros(len(self.b))  # if the program fails, all of w is rest
            try:
                answer = minimise(-w / size, -self.A, -self.b, -free, free)
                multipliers = multipliers if answer.point is None else answer.rows * size
            except SolverFailure:
                if np.isinf(extent):
                    raise
            rest = np.abs(w - multipliers @ self.A).sum() + 1e-14 * np.abs(w).sum()
            best.append(multipliers @ self.b * (1 + 1e-12) + (rest * extent if np.isfinite(extent) else 0.0))
        return np.array(best)

    def dual_sizes(self, weights: Floats) -> Floats:
        return self._supports(np.asarray(weights, dtype=np.float64), self.extent)

    def size(self, moves: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(self.b > 0, moves @ self.A.T / self.b, np.where(moves @ self.A.T > 1e-9, np.inf, 0.0))
        return np.asarray(np.maximum(parts, 0.0).max(axis=1))

    def contains(self, row: Floats, point: Floats, radius: float) -> bool:
        move = [Fraction(b) - Fraction(a) for a, b in zip(row.tolist(), point.tolist(), strict=True)]
        return all(
            sum(Fraction(a) * d for a, d in zip(line, move, strict=True)) <= Fraction(end) * Fraction(float(radius))
            for line, end in zip(self.A.tolist(), self.b.tolist(), strict=True)
        )

    def describe(self, radii: Floats) -> str:
        return f"polyhedron of {len(self.b)} rows"


def checked_radii(uncertainty: Uncertainty, radius: object, n_rows: int) -> Floats:
    """One radius a row, from the set's own or the user's."""
    if radius is None:
        return np.full(n_rows, uncertainty.radius)
    if not uncertainty.has_radius:
        raise InvalidInputError("radius= is for a Ball; a Polyhedron has none.")
    try:
        radii: NDArray[Any] = np.asarray(radius, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"radius must be numbers; got {radius!r}.") from error
    if radii.shape not in ((), (n_rows,)):
        raise InvalidInputError(
            f"radius must be one number, or one for each of the {n_rows} rows; got shape {radii.shape}."
        )
    if not (np.isfinite(radii).all() and (radii >= 0).all()):
        raise InvalidInputError("radius must be finite and not negative in every row.")
    return np.broadcast_to(radii, n_rows).copy()


def _matrix(name: str, values: Any) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name}={values!r} must be an array of numbers.") from error


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or _matrix(name, values).ndim != 1:
        raise InvalidInputError(f"{name}={values!r} must be a number or one number a feature.")
    numbers = tuple(float(value) for value in values)
    if np.isnan(numbers).any():
        raise InvalidInputError(f"{name}={values!r} must not have NaN.")
    return numbers
