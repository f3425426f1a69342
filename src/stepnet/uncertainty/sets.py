"""Uncertainty sets: how far a row may be perturbed.

A row x may become x + δ with δ in a set that contains 0. Every set defines the size of a perturbation: δ is allowed if
its size is at most the row's radius. Programs, bounds and searches use only this interface.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.uncertainty.halfspaces import Halfspaces, Move
from stepnet.uncertainty.norms.along import DualNorm
from stepnet.uncertainty.norms.base import DualForm

Pairs = Ints  # 2 × pairs, of row indices

CLOSE = 1e-9  # relative: sets this close to touching are checked exactly


class Uncertainty(ABC):
    """A set of perturbations."""

    radius: float
    has_radius: bool  # whether rows may have different radii

    @property
    def is_discrete(self) -> bool:
        """Whether features move by whole steps only."""
        return False

    @abstractmethod
    def require(self, n_features: int) -> None:
        """Raise if the set is not for this number of features."""

    @abstractmethod
    def dual_sizes(self, weights: Floats) -> Floats:
        """The largest w·δ at radius 1 for each row of ``weights``, rounded up."""

    @abstractmethod
    def size(self, moves: Floats) -> Floats:
        """The size of each row of ``moves``."""

    @abstractmethod
    def contains(self, row: Floats, point: Floats, radius: float) -> bool:
        """Whether the row may become the point, in exact arithmetic."""

    @abstractmethod
    def describe(self, radii: Floats) -> str:
        """The set in words, for a certificate."""

    def stays(self, row: Floats, weights: Floats, threshold: float, radius: float, on: bool) -> bool:
        """Whether w·x >= t holds (or fails) for all perturbations of a row, in exact arithmetic; False if unknown."""
        return False

    def limits(self, n_features: int) -> tuple[Floats, Floats]:
        """The ends of each feature's range, infinite where there is none."""
        return np.full(n_features, -np.inf), np.full(n_features, np.inf)

    def clipped(self, row: Floats, point: Floats) -> Floats:
        """The point within the ranges, widened to contain the row."""
        low, high = self.limits(len(row))
        return np.clip(point, np.minimum(low, row), np.maximum(high, row))

    def reach(self, weights: Floats, X: Floats, radii: Floats) -> Floats:
        """An upper bound on max w·δ for every row and neuron (rows × neurons)."""
        return np.outer(radii, self.dual_sizes(weights))

    def farthest(self, weights: Floats) -> Floats | None:
        """For each row of ``weights`` the move at radius 1 with the largest w·δ, up to rounding; None if unknown."""
        return None

    # Perturbations into halfspaces.

    @abstractmethod
    def smallest(self, row: Floats, halves: Halfspaces) -> Move:
        """The smallest perturbation into all halfspaces; the bound is infinite if there is none."""

    @abstractmethod
    def deepest(self, row: Floats, radius: float, halves: Halfspaces) -> Move:
        """The perturbation within the radius that lies deepest inside the halfspaces, in units of radius."""

    def units_of_depth(self, halves: Halfspaces) -> Floats:
        """The depth that a unit of radius can add, for each halfspace."""
        sizes = self.dual_sizes(halves.G)
        return np.where(sizes > 0, sizes, 1.0)

    # Two rows that may have a common perturbation.

    @abstractmethod
    def may_meet(self, differences: Floats, radii: Floats) -> Bools:
        """False where the sets of two rows surely do not meet, from row differences (last axis) and sums of radii."""

    @abstractmethod
    def common_point(self, a: Floats, b: Floats, r_a: float, r_b: float) -> Floats | None:
        """A point in both sets, up to rounding, if they meet."""

    def surely_meet(self, X: Floats, radii: Floats, pairs: Pairs) -> Bools:
        """Which of the pairs that may meet need no exact check."""
        return np.zeros(pairs.shape[1], dtype=bool)

    def meet_on_a_grid(self, X: Floats, radii: Floats, pairs: Pairs) -> Bools | None:
        """Whether sets meet, by integers, if rows and radii are small multiples of one power of two; else None."""
        return None

    # The dual norm, for searches and constructions of weights.

    @property
    def is_round(self) -> bool:
        """Whether sizes are Euclidean lengths in the coordinates of the set."""
        return False

    def coordinates(self, n_features: int) -> Floats:
        """C with coordinates y = C x: ``dual_form`` of v is that of the weights w = Cᵀ v."""
        return np.eye(n_features)

    def dual_form(self, n_features: int) -> DualForm | None:
        """The dual norm of weights on the coordinates of the set, in linear terms; None if it is not linear."""
        return None

    def lengths(self, y: Floats) -> Floats | None:
        """Sizes in the coordinates of the set, if it is symmetric; else None."""
        return None

    def dual_norm(self, units: Floats) -> DualNorm | None:
        """The dual norm along lines of weights w, where ``w @ units`` are weights for the rows; None if unknown."""
        return None


def checked_radii(uncertainty: Uncertainty, radius: object, n_rows: int) -> Floats:
    """One radius per row, from the set or from the user."""
    if radius is None:
        return np.full(n_rows, uncertainty.radius)
    if not uncertainty.has_radius:
        raise InvalidInputError("radius= is for a Ball; a Polyhedron has none.")
    radii = as_matrix("radius", radius)
    if radii.shape not in ((), (n_rows,)):
        raise InvalidInputError(
            f"radius must be one number, or one for each of the {n_rows} rows; got shape {radii.shape}."
        )
    if not (np.isfinite(radii).all() and (radii >= 0).all()):
        raise InvalidInputError("radius must be finite and not negative in every row.")
    return np.broadcast_to(radii, n_rows).copy()


def as_matrix(name: str, values: Any) -> Floats:
    """An array of floats; errors name the parameter."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name}={values!r} must be an array of numbers.") from error


def as_numbers(name: str, values: Any) -> tuple[float, ...]:
    """One number per feature; errors name the parameter."""
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or as_matrix(name, values).ndim != 1:
        raise InvalidInputError(f"{name}={values!r} must be a number or one number per feature.")
    numbers = tuple(float(value) for value in values)
    if np.isnan(numbers).any():
        raise InvalidInputError(f"{name}={values!r} must not contain NaN.")
    return numbers
