"""Balls of a norm: δ = scale · z or transform z with ‖z‖ <= radius, and x + δ kept between ``low`` and ``high``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, exact_dot, quantum
from stepnet.runtime.numbers import is_finite_number
from stepnet.uncertainty.ball_space import BallSpace
from stepnet.uncertainty.halfspaces import UNIT, Halfspaces, Move
from stepnet.uncertainty.norms.along import DualNorm
from stepnet.uncertainty.norms.base import DualForm, Norm
from stepnet.uncertainty.norms.registry import norm_named
from stepnet.uncertainty.sets import CLOSE, Pairs, Uncertainty, as_matrix, as_numbers

_WORST_CONDITION = 1e4  # of a transform: beyond, its inverse is too inaccurate
_BITS, _POWER_BITS = 26, 52  # of integers whose differences, and their powers, do not overflow


@dataclass(frozen=True)
class Ball(Uncertainty):
    """All δ = scale · z, or transform z, with ‖z‖ <= radius.

    Parameters
    ----------
    norm : "l1", "l2" or "linf"
        With whole steps also ``"l0"``, the number of features that move.
    radius : float
        The same for all rows; ``fit(..., radius=...)`` sets one per row.
    scale : sequence of float, optional
        The size of a unit of the radius in each feature; with ``"linf"`` a box.
    low, high : sequence of float or float, optional
        Perturbed rows stay between them (a row outside is not moved further out).
    transform : square matrix, optional
        Instead of ``scale``; with ``"l2"`` an ellipsoid.
    integer : bool
        Whether features move by whole numbers only. For attacks; training takes the whole ball.
    step : sequence of float or float, optional
        Features move by whole multiples of these; ``integer=True`` is ``step=1``. A feature of zeros and ones has the
        range 0 to 1 and the step 1.
    groups : sequence of sequences of int, optional
        Features that encode one category each (one of them is 1, the others are 0) move together, to another category;
        that counts as one feature that moves by 1. For balls with whole steps.
    """

    norm: str = "linf"
    radius: float = 0.0
    scale: tuple[float, ...] | None = None
    low: tuple[float, ...] | float | None = None
    high: tuple[float, ...] | float | None = None
    transform: tuple[tuple[float, ...], ...] | None = None
    integer: bool = False
    step: tuple[float, ...] | float | None = None
    groups: tuple[tuple[int, ...], ...] | None = None

    has_radius = True

    def __post_init__(self) -> None:
        _ = self.measure  # looked up now: a wrong name raises here, and a copy in another process needs no registry
        if not (is_finite_number(self.radius) and self.radius >= 0):
            raise InvalidInputError(f"radius={self.radius!r} must be a number that is not negative.")
        if self.scale is not None:
            object.__setattr__(self, "scale", as_numbers("scale", self.scale))
            if not all(size > 0 and np.isfinite(size) for size in self.scale):
                raise InvalidInputError(f"scale={self.scale!r} must be positive, one number per feature.")
        for name in ("low", "high"):
            end = getattr(self, name)
            if end is not None and not is_finite_number(end):
                object.__setattr__(self, name, as_numbers(name, end))
        if self.transform is not None:
            self._check_transform()
        self._check_steps()

    def _check_steps(self) -> None:
        if not isinstance(self.integer, bool | np.bool_):
            raise InvalidInputError(
                f"integer={self.integer!r} must be True or False; step= has one number per feature."
            )
        if self.step is not None and not is_finite_number(self.step):
            object.__setattr__(self, "step", as_numbers("step", self.step))
        sizes = np.atleast_1d(1.0 if self.step is None else self.step)
        if not (np.isfinite(sizes).all() and (sizes > 0).all()):
            raise InvalidInputError(f"step={self.step!r} must be positive: a number, or one per feature.")
        if self.integer and self.step is not None and (sizes != np.round(sizes)).any():
            raise InvalidInputError(f"step={self.step!r} must be whole numbers where integer=True.")
        if self.norm == "l0" and not self.is_discrete:
            raise InvalidInputError("norm='l0' counts features that move by whole steps; give integer=True or step=.")
        if self.groups is not None:
            object.__setattr__(self, "groups", tuple(tuple(int(one) for one in group) for group in self.groups))
            members = [one for group in self.groups or () for one in group]
            if not self.is_discrete or len(set(members)) < len(members):
                raise InvalidInputError(
                    "groups= must not overlap, and need integer=True: categories move by whole steps."
                )
        if self.transform is not None and self.is_discrete:
            raise InvalidInputError("features of a ball with a transform do not move by steps; use scale=.")

    @property
    def is_discrete(self) -> bool:
        """Whether features move by whole steps."""
        return bool(self.integer) or self.step is not None

    def lattice_steps(self, n_features: int) -> Floats:
        """The step of each feature."""
        return self._each("step", 1.0, n_features)

    def _check_transform(self) -> None:
        if self.scale is not None:
            raise InvalidInputError("give scale= or transform=, not both; a transform may contain the scales.")
        matrix = as_matrix("transform", self.transform)
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

    @cached_property
    def measure(self) -> Norm:
        """The norm that was named."""
        return norm_named(self.norm)

    @property
    def is_plain(self) -> bool:
        """Whether a perturbation stays in the ball if one of its features is set to 0."""
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
        return np.asarray(weights * self.scales(weights.shape[1]) if self.transform is None else weights @ self._matrix)

    def moves(self, z: Floats) -> Floats:
        """δ of each row of ``z``."""
        return np.asarray(z * self.scales(z.shape[1]) if self.transform is None else z @ self._matrix.T)

    def steps(self, X: Floats, radii: Floats) -> tuple[Floats, Floats]:
        """How far each feature of each row may be perturbed, down (not positive) and up."""
        low, high = self.limits(X.shape[1])
        reach = np.outer(radii, self.dual_sizes(np.eye(X.shape[1])))
        return np.minimum(0.0, np.maximum(-reach, low - X)), np.maximum(0.0, np.minimum(reach, high - X))

    def reach(self, weights: Floats, X: Floats, radii: Floats) -> Floats:
        """An upper bound on max w·δ; exact without ranges, and for ℓ∞ without a transform."""
        whole = np.outer(radii, self.dual_sizes(weights))
        if not self.is_clipped:
            return whole
        down, up = self.steps(X, radii)
        boxed = up @ np.maximum(weights, 0.0).T + down @ np.minimum(weights, 0.0).T
        return np.asarray(np.minimum(whole, boxed * (1 + 4 * weights.shape[1] * UNIT)))

    def dual_sizes(self, weights: Floats) -> Floats:
        weights = np.asarray(weights, dtype=np.float64)
        spread = np.abs(self.spread(weights))
        if self.transform is not None:  # where terms cancel, their rounding remains
            spread = spread + weights.shape[1] * UNIT * (np.abs(weights) @ np.abs(self._matrix))
        return np.asarray(self.measure.dual_sizes(spread) * (1 + 4 * weights.shape[1] * UNIT))

    def farthest(self, weights: Floats) -> Floats:
        """The gradient of the dual norm, feature by feature: where that has a kink, any subgradient."""
        spread = self.spread(np.asarray(weights, dtype=np.float64))
        z = np.column_stack([self.measure.dual_slopes(spread, unit) for unit in np.eye(weights.shape[1])])
        return self.moves(z)

    def size(self, moves: Floats) -> Floats:
        z = moves / self.scales(moves.shape[1]) if self.transform is None else moves @ self._inverse.T
        return self.measure.sizes(z)

    def contains(self, row: Floats, point: Floats, radius: float) -> bool:
        if (point != self.clipped(row, point)).any():
            return False
        estimate = float(self.size((point - row)[None])[0])
        if self.transform is not None:  # its inverse is not exact: keep away from the boundary
            return estimate <= radius * (1 - 1e-9)
        doubt = 8 * len(row) * UNIT * (estimate + radius)
        return estimate < radius - doubt or (estimate <= radius + doubt and self._contains_exactly(row, point, radius))

    def stays(self, row: Floats, weights: Floats, threshold: float, radius: float, on: bool) -> bool:
        if self.transform is not None:
            return False
        lead = (exact_dot(row, weights) - Fraction(threshold)) * (1 if on else -1)
        if lead < 0:
            return False
        scales, degree = self.scales(len(row)).tolist(), self.measure.degree
        spread = [Fraction(w) * Fraction(s) for w, s in zip(weights.tolist(), scales, strict=True)]
        lead, reach = lead**degree, Fraction(radius) ** degree * self.measure.dual_powers(np.array(spread))
        return bool(lead >= reach if on else lead > reach)

    def _contains_exactly(self, row: Floats, point: Floats, radius: float) -> bool:
        z = [
            (Fraction(b) - Fraction(a)) / Fraction(s)
            for a, b, s in zip(row.tolist(), point.tolist(), self.scales(len(row)).tolist(), strict=True)
        ]
        return bool(self.measure.powers(np.array(z)) <= Fraction(float(radius)) ** self.measure.degree)

    def describe(self, radii: Floats) -> str:
        least, most = float(radii.min()), float(radii.max())
        radius = f"{least:g}" if least == most else f"{least:g} to {most:g}"
        shape = "" if self.scale is None and self.transform is None else ", scaled"
        shape += ", by whole steps" if self.is_discrete else ""
        return f"{self.norm} ball of radius {radius}{shape}{', within a range' if self.is_clipped else ''}"

    # Perturbations into halfspaces.

    def smallest(self, row: Floats, halves: Halfspaces) -> Move:
        return BallSpace(self, row, halves).smallest()

    def deepest(self, row: Floats, radius: float, halves: Halfspaces) -> Move:
        return BallSpace(self, row, halves).deepest(radius, self.units_of_depth(halves))

    # Two rows that may have a common perturbation.

    def may_meet(self, differences: Floats, radii: Floats) -> Bools:
        sizes = self.size(differences.reshape(-1, differences.shape[-1])).reshape(differences.shape[:-1])
        return np.asarray(sizes <= radii * (1 + CLOSE))

    def common_point(self, a: Floats, b: Floats, r_a: float, r_b: float) -> Floats:
        share = 0.5 if r_a + r_b == 0 else r_a / (r_a + r_b)
        return np.asarray(a + share * (b - a))

    def surely_meet(self, X: Floats, radii: Floats, pairs: Pairs) -> Bools:
        """Those whose sets overlap clearly, away from ranges."""
        i, j = pairs
        low, high = self.limits(X.shape[1])
        is_inside: Bools = np.all((low <= X) & (high >= X), axis=1)
        sizes = self.size(X[i] - X[j])
        is_near = (sizes <= (radii[i] + radii[j]) * (1 - CLOSE)) | (sizes <= 0)
        return np.asarray(is_near & is_inside[i] & is_inside[j])

    def meet_on_a_grid(self, X: Floats, radii: Floats, pairs: Pairs) -> Bools | None:
        if self.scale or self.transform or self.is_clipped:
            return None
        grid = min(quantum(X), quantum(radii))
        i, j = pairs
        rows, ends = np.ldexp(X, -grid), np.ldexp(radii, -grid)
        if max(np.abs(rows).max(), ends.max()) >= 2.0 ** min(_BITS, _POWER_BITS // self.measure.degree):
            return None
        apart, reach = (rows[i] - rows[j]).astype(np.int64), (ends[i] + ends[j]).astype(np.int64)
        return np.asarray(self.measure.powers(apart) <= reach**self.measure.degree)

    # What weights reach.

    @property
    def is_round(self) -> bool:
        return self.measure.is_round

    def coordinates(self, n_features: int) -> Floats:
        return np.asarray(np.linalg.inv(self.moves(np.eye(n_features)).T), dtype=np.float64)

    def dual_form(self, n_features: int) -> DualForm | None:
        return self.measure.dual_form(n_features)

    def lengths(self, y: Floats) -> Floats:
        return self.measure.sizes(y)

    def dual_norm(self, units: Floats) -> DualNorm:
        return DualNorm(self.measure, self.spread(units))
