"""Moves into halfspaces G δ >= h: the smallest one, and the one deepest inside within a radius.

What is said to be out of reach is shown by multipliers λ >= 0 of the halfspaces and of the ends of ranges: every
such move has λᵀG δ >= λ·h and λᵀG δ <= size · ‖Gᵀλ‖_*, so its size is at least λ·h / ‖Gᵀλ‖_*. That quotient is
computed with a bound on its rounding; whatever solver found λ need not be believed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from stepnet.errors import SolverFailure
from stepnet.model.arithmetic import Floats
from stepnet.uncertainty.programs import Optimum, minimise
from stepnet.uncertainty.sets import DUALS, Ball, Polyhedron, Uncertainty

_UNIT = 2.0**-52
_BISECTIONS = 16


class Halfspaces(NamedTuple):
    """G δ >= h for moves δ of a row; ``errors`` bounds the rounding of h."""

    G: Floats
    h: Floats
    errors: Floats

    @classmethod
    def of(cls, row: Floats, weights: Floats, thresholds: Floats, signs: Floats) -> Halfspaces:
        """w·(row + δ) at or above its threshold where the sign is 1, at or below where it is -1."""
        sizes = np.abs(weights) @ np.abs(row) + np.abs(thresholds)
        return cls(signs[:, None] * weights, signs * (thresholds - weights @ row), (len(row) + 3) * _UNIT * sizes)

    def inside(self, depth: float, sizes: Floats) -> Halfspaces:
        """The same, deeper by so many units of radius."""
        return self._replace(h=self.h + depth * sizes)


class Move(NamedTuple):
    """A move, if one was found, and what is shown of all others.

    For the smallest move ``bound`` is a size that none undercuts; for the deepest one within a radius a
    positive ``bound`` shows that there is no move at all.
    """

    delta: Floats | None
    bound: float


def smallest(uncertainty: Uncertainty, row: Floats, halves: Halfspaces) -> Move:
    """The smallest move into all halfspaces; the bound is infinite if there is none."""
    if isinstance(uncertainty, Polyhedron):
        return _smallest_in_polyhedron(uncertainty, halves)
    assert isinstance(uncertainty, Ball)
    space = _BallSpace(uncertainty, row, halves)
    if uncertainty.norm == "l2":
        return space.move(*least_distance(space.G, space.h, space.low, space.high))
    n = space.G.shape[1]
    if uncertainty.norm == "l1":
        low, high = np.zeros(2 * n), np.concatenate([space.high, -space.low])
        answer = minimise(np.ones(2 * n), np.hstack([space.G, -space.G]), space.h, low, high)
        z = None if answer.point is None else answer.point[:n] - answer.point[n:]
        ends = np.maximum(-answer.columns[n:], 0.0) - np.maximum(-answer.columns[:n], 0.0)
        return space.move(z, answer.rows, ends)
    eye, ones = np.eye(n), np.ones((n, 1))
    rows = np.block([[space.G, np.zeros((len(space.G), 1))], [-eye, ones], [eye, ones]])
    least, low, high = np.append(space.h, np.zeros(2 * n)), np.append(space.low, 0.0), np.append(space.high, np.inf)
    answer = minimise(np.append(np.zeros(n), 1.0), rows, least, low, high)
    z = None if answer.point is None else answer.point[:n]
    return space.move(z, answer.rows[: len(space.G)], answer.columns[:n])


def deepest(uncertainty: Uncertainty, row: Floats, radius: float, halves: Halfspaces) -> Move:
    """Of the moves within the radius the one farthest inside the halfspaces, in units of radius."""
    sizes = uncertainty.dual_sizes(halves.G)
    sizes = np.where(sizes > 0, sizes, 1.0)
    if isinstance(uncertainty, Ball) and uncertainty.norm == "l2":
        return _deepest_in_l2(uncertainty, row, radius, halves, sizes)
    if isinstance(uncertainty, Polyhedron):
        n, k = halves.G.shape[1], len(uncertainty.b)
        G, h = np.vstack([halves.G, -uncertainty.A]), np.append(halves.h, -radius * uncertainty.b)
        answer = _with_depth(G, h, np.append(sizes, np.zeros(k)), np.full(n, -np.inf), np.full(n, np.inf))
        gain, size = _shown_in_polyhedron(uncertainty, halves, answer.rows[: len(halves.h)], answer.rows[-k:])
        return Move(None if answer.point is None else answer.point[:n], gain - radius * size)
    assert isinstance(uncertainty, Ball)
    space = _BallSpace(uncertainty, row, halves)
    n, depth = space.G.shape[1], np.append(sizes, np.zeros(len(space.h) - len(sizes)))
    if uncertainty.norm == "linf":
        low, high = np.maximum(space.low, -radius), np.minimum(space.high, radius)
        answer = _with_depth(space.G, space.h, depth, low, high)
        z = None if answer.point is None else answer.point[:n]
        return space.within(z, radius, answer.rows, _ends(answer.columns[:n], space, radius))
    G = np.vstack([np.hstack([space.G, -space.G]), -np.ones((1, 2 * n))])
    high = np.minimum(np.concatenate([space.high, -space.low]), radius)
    answer = _with_depth(G, np.append(space.h, -radius), np.append(depth, 0.0), np.zeros(2 * n), high)
    z = None if answer.point is None else answer.point[:n] - answer.point[n : 2 * n]
    up, down = np.maximum(-answer.columns[:n], 0.0), np.maximum(-answer.columns[n : 2 * n], 0.0)
    ends = np.where(space.low > -radius, down, 0.0) - np.where(space.high < radius, up, 0.0)
    return space.within(z, radius, answer.rows[:-1], ends)


def _with_depth(G: Floats, h: Floats, depth: Floats, low: Floats, high: Floats) -> Optimum:
    """max s with G x - s · depth >= h; s may be negative."""
    rows = np.hstack([G, -depth[:, None]])
    cost = np.append(np.zeros(G.shape[1]), -1.0)
    return minimise(cost, rows, h, np.append(low, -np.inf), np.append(high, np.inf))


def _ends(columns: Floats, space: _BallSpace, radius: float) -> Floats:
    """The multipliers of ends of ranges; those of the ball itself are in the norm already."""
    is_range = np.where(columns > 0, space.low > -radius, space.high < radius)
    return np.where(is_range, columns, 0.0)


class _BallSpace:
    """Halfspaces and ranges in the coordinates z of a ball, δ = scale · z or transform z."""

    def __init__(self, ball: Ball, row: Floats, halves: Halfspaces) -> None:
        self.ball = ball
        n = len(row)
        low, high = ball.limits(n)
        low, high = np.minimum(low - row, 0.0), np.maximum(high - row, 0.0)
        self.G, self.h, self.errors = ball.spread(halves.G), halves.h, halves.errors
        self.G_sizes = np.abs(self.G)  # of the terms that were added up
        if ball.transform is None:
            scales = ball.scales(n)
            self.low, self.high = low / scales, high / scales
            return
        for end, sign in ((low, 1.0), (high, -1.0)):  # ranges of δ are halfspaces of z
            finite = np.isfinite(end)
            self.G = np.vstack([self.G, sign * ball.spread(np.eye(n)[finite])])
            self.h = np.append(self.h, sign * end[finite])
            self.errors = np.append(self.errors, _UNIT * (np.abs(end[finite]) + np.abs(row[finite])))
        self.G_sizes = np.abs(self.G) + _spread_sizes(ball, halves.G, len(self.h))
        self.low, self.high = np.full(n, -np.inf), np.full(n, np.inf)

    def shown(self, multipliers: Floats, ends: Floats) -> tuple[float, float]:
        """λ·h less its rounding, and ‖Gᵀλ‖_* with its own; ``ends`` of ranges are positive of low, negative of high."""
        has_low, has_high = np.isfinite(self.low), np.isfinite(self.high)
        up, down = np.where(has_low, np.maximum(ends, 0.0), 0.0), np.where(has_high, np.maximum(-ends, 0.0), 0.0)
        low, high = np.where(has_low, self.low, 0.0), np.where(has_high, self.high, 0.0)
        products = np.concatenate([multipliers * self.h, up * low, -down * high])
        n_terms = len(products) + len(self.low) + 4
        gain = products.sum() - multipliers @ self.errors - n_terms * _UNIT * np.abs(products).sum()
        direction = multipliers @ self.G + up - down
        rounding = n_terms * _UNIT * (multipliers @ self.G_sizes + up + down)
        size = np.linalg.norm(np.abs(direction) + rounding, ord=DUALS[self.ball.norm])
        return float(gain), float(size * (1 + 4 * n_terms * _UNIT))

    def move(self, z: Floats | None, multipliers: Floats, ends: Floats) -> Move:
        gain, size = self.shown(multipliers, ends)
        bound = 0.0 if gain <= 0 else gain / size * (1 - 4 * _UNIT)
        return Move(None if z is None else self.ball.moves(z[None])[0], bound)

    def within(self, z: Floats | None, radius: float, multipliers: Floats, ends: Floats) -> Move:
        gain, size = self.shown(multipliers, ends)
        return Move(None if z is None else self.ball.moves(z[None])[0], gain - radius * size * (1 + 4 * _UNIT))


def _spread_sizes(ball: Ball, G: Floats, n_rows: int) -> Floats:
    """|G| |M| of a transform M: the sizes of the terms in G M; those of ranges, whose terms are single, are 0."""
    sizes = np.zeros((n_rows, G.shape[1]))
    sizes[: len(G)] = np.abs(G) @ np.abs(np.array(ball.transform))
    return sizes


def _deepest_in_l2(ball: Ball, row: Floats, radius: float, halves: Halfspaces, sizes: Floats) -> Move:
    """By bisection over the depth, each time the smallest move."""
    first = smallest(ball, row, halves)
    if first.delta is None or first.bound > radius:
        return Move(None, first.bound - radius)
    best, low = first.delta, 0.0
    high = radius - float(ball.size(best[None])[0])  # deeper by a unit of radius is farther by one at least
    if high <= 0:
        return Move(best, first.bound - radius)
    for _ in range(_BISECTIONS):
        depth = (low + high) / 2 if low else high / 8  # at first down to the right order of magnitude
        try:
            found = smallest(ball, row, halves.inside(depth, sizes)).delta
        except SolverFailure:
            found = None
        if found is not None and float(ball.size(found[None])[0]) <= radius:
            best, low = found, depth
        else:
            high = depth
        if low > 0.5 * high:
            break
    return Move(best, first.bound - radius)


def _smallest_in_polyhedron(polyhedron: Polyhedron, halves: Halfspaces) -> Move:
    n, k = halves.G.shape[1], len(polyhedron.b)
    rows = np.block([[halves.G, np.zeros((len(halves.G), 1))], [-polyhedron.A, polyhedron.b[:, None]]])
    least, high = np.append(halves.h, np.zeros(k)), np.full(n + 1, np.inf)
    answer = minimise(np.append(np.zeros(n), 1.0), rows, least, np.append(-high[:n], 0.0), high)
    multipliers, facets = answer.rows[: len(halves.h)], answer.rows[len(halves.h) :]
    gain, size = _shown_in_polyhedron(polyhedron, halves, multipliers, facets)
    bound = 0.0 if gain <= 0 else gain / size * (1 - 4 * _UNIT)
    return Move(None if answer.point is None else answer.point[:n], bound)


def _shown_in_polyhedron(
    polyhedron: Polyhedron, halves: Halfspaces, multipliers: Floats, facets: Floats
) -> tuple[float, float]:
    """λ·h, and what λᵀG δ can be at size 1: μ·b with Aᵀμ = Gᵀλ, and all of what is left of that equation."""
    n_terms = len(multipliers) + len(facets) + halves.G.shape[1] + 4
    gain = multipliers @ halves.h - multipliers @ (halves.errors + n_terms * _UNIT * np.abs(halves.h))
    rest = np.abs(multipliers @ halves.G - facets @ polyhedron.A)
    rest += n_terms * _UNIT * (multipliers @ np.abs(halves.G) + facets @ np.abs(polyhedron.A))
    return float(gain), float(facets @ polyhedron.b * (1 + n_terms * _UNIT) + rest.sum() * polyhedron.extent)


def least_distance(G: Floats, h: Floats, low: Floats, high: Floats) -> tuple[Floats | None, Floats, Floats]:
    """min |z|_2 with G z >= h and low <= z <= high, by non-negative least squares on the dual (Lawson and Hanson).

    Returns the point (None: there is none), the multipliers of the rows, and those of the ends.
    """
    n, k = G.shape[1], len(h)
    is_low, is_high = np.isfinite(low), np.isfinite(high)
    eye = np.eye(n)
    G = np.vstack([G, eye[is_low], -eye[is_high]])
    h = np.concatenate([h, low[is_low], -high[is_high]])
    if not (h > 0).any():
        return np.zeros(n), np.zeros(k), np.zeros(n)
    scale = float(np.abs(h).max())
    left, right = np.vstack([G.T, h / scale]), np.append(np.zeros(n), 1.0)
    try:
        dual, _ = nnls(left, right, maxiter=50 * (len(h) + n))
    except RuntimeError as error:
        raise SolverFailure("least distance did not end") from error
    residual = left @ dual - right
    ends = np.zeros(n)
    ends[is_low] += dual[k : k + is_low.sum()]
    ends[is_high] -= dual[k + is_low.sum() :]
    if residual[n] > -1e-12 or np.linalg.norm(residual) < 1e-9:
        return None, dual[:k], ends
    z: Floats = -residual[:n] / residual[n] * scale
    if not (G @ z >= h - 1e-7 * (1.0 + np.abs(h))).all():
        raise SolverFailure("least distance ended without a point")
    return z, dual[:k], ends
