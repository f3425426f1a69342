"""Uncertainty sets: how far a row may be perturbed.

A row x may become x + δ with δ in a set that holds 0. Every set measures perturbations by a size: δ is allowed if its
size is at most the row's radius. Programs, bounds and searches ask the set; none of them knows its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.uncertainty.halfspaces import Halfspaces, Move
from stepnet.uncertainty.norms.along import DualNorm
from stepnet.uncertainty.norms.base import DualForm

Pairs = Ints  # two rows of numbers of rows

CLOSE = 1e-9  # relative: sets this near to touching are looked at exactly


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

    # Perturbations into halfspaces.

    @abstractmethod
    def smallest(self, row: Floats, halves: Halfspaces) -> Move:
        """The smallest move into all halfspaces; the bound is infinite if there is none."""

    @abstractmethod
    def deepest(self, row: Floats, radius: float, halves: Halfspaces) -> Move:
        """Of the moves within the radius the one farthest inside the halfspaces, in units of radius."""

    def units_of_depth(self, halves: Halfspaces) -> Floats:
        """How much deeper a unit of radius can lead, for each halfspace."""
        sizes = self.dual_sizes(halves.G)
        return np.where(sizes > 0, sizes, 1.0)

    # Two rows that may be moved to a common point.

    @abstractmethod
    def may_meet(self, differences: Floats, radii: Floats) -> Bools:
        """False where sets of rows with these differences (last axis: features) and sums of radii do not meet."""

    @abstractmethod
    def common_point(self, a: Floats, b: Floats, r_a: float, r_b: float) -> Floats | None:
        """A point of both sets, up to rounding, if they meet."""

    def surely_meet(self, X: Floats, radii: Floats, pairs: Pairs) -> Bools:
        """Of pairs that may meet those that need no second look."""
        return np.zeros(pairs.shape[1], dtype=bool)

    def meet_on_a_grid(self, X: Floats, radii: Floats, pairs: Pairs) -> Bools | None:
        """Whether sets meet, by integers, where rows and radii are small multiples of one power of two; else None."""
        return None

    # What weights reach, for those who look for weights.

    @property
    def is_round(self) -> bool:
        """Whether sizes are lengths of Euclid in the set's coordinates."""
        return False

    def coordinates(self, n_features: int) -> Floats:
        """C of the set's coordinates y = C x: weights w = Cᵀ v reach as far as ``dual_form`` has it of v."""
        return np.eye(n_features)

    def dual_form(self, n_features: int) -> DualForm | None:
        """What weights on the set's coordinates reach, in linear terms; None if it is not linear."""
        return None

    def lengths(self, y: Floats) -> Floats | None:
        """Sizes in the set's coordinates, where the way back is as long; else None."""
        return None

    def dual_norm(self, units: Floats) -> DualNorm | None:
        """What weights reach along a line, where ``w @ units`` are those of the rows; None if it is not known."""
        return None


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


def as_matrix(name: str, values: Any) -> Floats:
    """An array of floats; the error has the name of the parameter."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name}={values!r} must be an array of numbers.") from error


def as_numbers(name: str, values: Any) -> tuple[float, ...]:
    """Numbers of the features; the error has the name of the parameter."""
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or as_matrix(name, values).ndim != 1:
        raise InvalidInputError(f"{name}={values!r} must be a number or one number a feature.")
    numbers = tuple(float(value) for value in values)
    if np.isnan(numbers).any():
        raise InvalidInputError(f"{name}={values!r} must not have NaN.")
    return numbers
