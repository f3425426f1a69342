"""Polyhedra: A δ <= b. The size of δ is the least s with A δ <= s b, and the radius is 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError, SolverFailure
from stepnet.model.arithmetic import Bools, Floats
from stepnet.uncertainty.halfspaces import UNIT, Halfspaces, Move
from stepnet.uncertainty.norms.base import DualForm
from stepnet.uncertainty.programs import maximise_depth, minimise
from stepnet.uncertainty.sets import CLOSE, Uncertainty, as_matrix


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
        A, b = np.atleast_2d(as_matrix("A", self.A)), np.atleast_1d(as_matrix("b", self.b))
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
        object.__setattr__(self, "extent", float(sizes.max()) * (1 + 1e-6) + 1e-9)  # no feature is perturbed further

    extent: float = field(init=False, default=0.0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polyhedron) and np.array_equal(self.A, other.A) and np.array_equal(self.b, other.b)

    def __hash__(self) -> int:
        return hash((self.A.tobytes(), self.b.tobytes()))

    def require(self, n_features: int) -> None:
        if self.A.shape[1] != n_features:
            raise InvalidInputError(
                f"Polyhedron(A, b) perturbs {self.A.shape[1]} features, not {n_features}; give A a column for each."
            )

    def _supports(self, weights: Floats, extent: float) -> Floats:
        """max w·δ by duality: μ >= 0 with Aᵀ μ = w gives w·δ <= μ·b; a rest of w left by rounding counts in full."""
        free = np.full(self.A.shape[1], np.inf)
        best = []
        for w in weights:
            size = float(np.abs(w).max()) or 1.0
            multipliers = np.zeros(len(self.b))  # if the program fails, the rest is all of w
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

    # Perturbations into halfspaces.

    def smallest(self, row: Floats, halves: Halfspaces) -> Move:
        n, k = halves.G.shape[1], len(self.b)
        rows = np.block([[halves.G, np.zeros((len(halves.G), 1))], [-self.A, self.b[:, None]]])
        least, high = np.append(halves.h, np.zeros(k)), np.full(n + 1, np.inf)
        answer = minimise(np.append(np.zeros(n), 1.0), rows, least, np.append(-high[:n], 0.0), high)
        gain, size = self._shown(halves, answer.rows[: len(halves.h)], answer.rows[len(halves.h) :])
        bound = 0.0 if gain <= 0 else gain / size * (1 - 4 * UNIT)
        return Move(None if answer.point is None else answer.point[:n], bound)

    def deepest(self, row: Floats, radius: float, halves: Halfspaces) -> Move:
        n, k = halves.G.shape[1], len(self.b)
        G, h = np.vstack([halves.G, -self.A]), np.append(halves.h, -radius * self.b)
        depths = np.append(self.units_of_depth(halves), np.zeros(k))
        answer = maximise_depth(G, h, depths, np.full(n, -np.inf), np.full(n, np.inf))
        gain, size = self._shown(halves, answer.rows[: len(halves.h)], answer.rows[-k:])
        return Move(None if answer.point is None else answer.point[:n], gain - radius * size)

    def _shown(self, halves: Halfspaces, multipliers: Floats, facets: Floats) -> tuple[float, float]:
        """λ·h, and a bound on λᵀG δ at size 1: μ·b with Aᵀμ = Gᵀλ, plus the rest of this equation in full."""
        n_terms = len(multipliers) + len(facets) + halves.G.shape[1] + 4
        gain = multipliers @ halves.h - multipliers @ (halves.errors + n_terms * UNIT * np.abs(halves.h))
        rest = np.abs(multipliers @ halves.G - facets @ self.A)
        rest += n_terms * UNIT * (multipliers @ np.abs(halves.G) + facets @ np.abs(self.A))
        return float(gain), float(facets @ self.b * (1 + n_terms * UNIT) + rest.sum() * self.extent)

    # Two rows that may have a common perturbation.

    def may_meet(self, differences: Floats, radii: Floats) -> Bools:
        eye = np.eye(self.A.shape[1])
        up, down = self.dual_sizes(eye), self.dual_sizes(-eye)
        return np.asarray((np.abs(differences) <= (up + down) * (1 + CLOSE)).all(axis=-1))

    def common_point(self, a: Floats, b: Floats, r_a: float, r_b: float) -> Floats | None:
        A, free = np.vstack([self.A, self.A]), np.full(len(a), np.inf)
        least = -np.concatenate([self.b + self.A @ a, self.b + self.A @ b])
        answer = maximise_depth(-A, least, np.ones(len(A)), -free, free)
        return None if answer.point is None else answer.point[:-1]

    # What weights reach.

    def dual_form(self, n_features: int) -> DualForm:
        """v = Aᵀ μ with μ >= 0 has v·δ <= μ·b."""
        A, b = self.A, self.b
        V, both, nothing = np.hstack([A.T, np.zeros_like(A.T)]), np.hstack([A.T, A.T]), np.zeros(len(b))
        up, down = np.append(b, nothing), np.append(nothing, b)
        return DualForm(V, up, down, np.vstack([both, -both]), np.zeros(2 * len(b)))
