"""Oracle: can one neuron get these rows right, and if not, which few of them prove it?

A neuron that is on for some rows and off for others exists iff the convex hulls of the two sets are disjoint. With
a_i = ±(x_i, 1), + for rows that must be on, they meet iff 0 is a combination of the a_i with weights λ >= 0, Σ λ = 1
(Gordan), and then n + 2 rows suffice. The point of the convex hull of the a_i that is nearest to 0 decides it: least
squares, min |Σ λ_i (a_i, 1) - (0, 1)| with λ >= 0, by Lawson and Hanson's method. Floats propose, but every answer is
exact: the multipliers of a subsystem are integers with Σ λ_i a_i = 0, and a neuron is right in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats, activations, quantum
from stepnet.provers.subsystem import Subsystem
from stepnet.runtime.compiling import Compiling, kernel

Indices = NDArray[np.int64]
_NEAR = 1e-12  # squared distance to 0 below which the hulls are taken to meet
_STEPS = 60  # of the method, per dimension


@dataclass(frozen=True)
class Neuron:
    """w·x >= t on the rows that must be on, w·x < t on the others."""

    weights: Floats
    threshold: float


class Oracle:
    """Answers for subsets of some rows; the neuron must be on for those with ``on``, off for the others."""

    def __init__(self, X: Floats, on: NDArray[np.bool_], seed: int = 0) -> None:
        X = np.asarray(X, dtype=np.float64)
        self.X, self.on = X, on
        low, high = X.min(axis=0), X.max(axis=0)
        half = high / 2 - low / 2
        self._middle, self._half = low / 2 + high / 2, np.where(half > 0, half, 1.0)
        signs = np.where(on, 1.0, -1.0)
        scaled = (X - self._middle) / self._half
        self._columns = np.ascontiguousarray(
            np.concatenate([signs[:, None] * scaled, signs[:, None], np.ones((len(X), 1))], axis=1)
        )
        self._integers = [  # ±(x, 1)
            [*(sign * value for value in row), sign]
            for row, sign in zip(integer_rows(X), np.where(on, 1, -1).tolist(), strict=True)
        ]
        self._rng = np.random.default_rng(seed)

    def ask(self, rows: Indices, should_stop: Callable[[], bool] = lambda: False) -> Neuron | Subsystem | None:
        """A neuron for the rows, or a subsystem of them; None if rounding leaves it undecided, or the time is up."""
        if not len(rows):
            return Neuron(np.zeros(self.X.shape[1]), 0.0)
        distance, passive, point = _nearest(self._columns, rows, int(self._rng.integers(2**31)))
        if distance <= _NEAR:
            return self._subsystem(rows[passive], should_stop) or self._exact(rows, should_stop)
        return self._neuron(rows, point) or self._exact(rows, should_stop)

    def packing(
        self, rows: Indices, should_stop: Callable[[], bool] = lambda: False
    ) -> tuple[list[Subsystem], Neuron | None]:
        """Disjoint subsystems, and a neuron for the remaining rows (None if that is undecided)."""
        found: list[Subsystem] = []
        while not should_stop():
            answer = self.ask(rows, should_stop)
            if not isinstance(answer, Subsystem):
                return found, answer
            found.append(answer)
            rows = np.setdiff1d(rows, np.array(answer.rows), assume_unique=True)
        return found, None

    def _subsystem(self, rows: Indices, should_stop: Callable[[], bool] = lambda: False) -> Subsystem | None:
        """The rows as a subsystem, with integers that prove it; None if they are none, or the time is up."""
        rows = np.sort(rows)
        multipliers = null_vector([self._integers[i] for i in rows], should_stop)
        if multipliers is None:
            return None
        kept = [(int(i), value) for i, value in zip(rows, multipliers, strict=True) if value]
        return Subsystem(tuple(i for i, _ in kept), tuple(value for _, value in kept))

    def _neuron(self, rows: Indices, point: Floats) -> Neuron | None:
        """The hyperplane orthogonal to the nearest point, in the units of the data, if it gets every row right."""
        with np.errstate(over="ignore", invalid="ignore"):  # weights that overflow are no neuron
            weights = -point[:-2] / self._half
            threshold = float(point[-2] + weights @ self._middle)
        return self._if_right(rows, weights, threshold)

    def _if_right(self, rows: Indices, weights: Floats, threshold: float) -> Neuron | None:
        """The neuron, if it gets every row right in exact arithmetic."""
        if not (np.isfinite(weights).all() and math.isfinite(threshold)):
            return None
        signs = activations(self.X[rows], weights[None], np.array([threshold]))[1][:, 0]
        return Neuron(weights, threshold) if np.array_equal(signs >= 0, self.on[rows]) else None

    def _exact(self, rows: Indices, should_stop: Callable[[], bool] = lambda: False) -> Neuron | Subsystem | None:
        """The answer in rational arithmetic: slow, for rows that floats leave in doubt."""
        basis, direction = gordan([self._integers[i] for i in rows], should_stop)
        if basis is not None:
            return self._subsystem(rows[basis])
        if direction is None:
            return None
        largest = max(abs(value) for value in direction)
        units = [Fraction(2) ** -int(exponent) for exponent in _exponents(self.X)] + [Fraction(-1)]
        try:
            scaled = [float(value * unit / largest) for value, unit in zip(direction, units, strict=True)]
        except OverflowError:
            return None
        return self._if_right(rows, np.array(scaled[:-1]), scaled[-1])


def is_true(subsystem: Subsystem, X: Floats, on: NDArray[np.bool_]) -> bool:
    """Whether the multipliers prove the subsystem, in rational arithmetic, from the rows alone."""
    rows, multipliers = subsystem.rows, subsystem.multipliers
    if len(rows) != len(multipliers) or len(set(rows)) != len(rows) or not rows:
        return False
    if any(value <= 0 for value in multipliers) or not all(0 <= i < len(X) for i in rows):
        return False
    signed = [value if on[i] else -value for i, value in zip(rows, multipliers, strict=True)]
    if sum(signed):
        return False
    columns = X[list(rows)].T.tolist()
    return not any(sum(v * Fraction(x) for v, x in zip(signed, column, strict=True)) for column in columns)


def null_vector(columns: list[list[int]], should_stop: Callable[[], bool] = lambda: False) -> list[int] | None:
    """Non-negative integers, not all 0, with Σ value · column = 0; None if there are none.

    Fraction-free elimination: every intermediate number is a minor. None, too, if the null space is not of dimension 1,
    or the time is up.
    """
    n_columns = len(columns)
    rows = [list(row) for row in zip(*columns, strict=True)]
    pivots: list[int] = []
    free: int | None = None
    last, common = 1, 1
    for c in range(n_columns):
        if should_stop():
            return None
        done = len(pivots)
        pivot = next((r for r in range(done, len(rows)) if rows[r][c]), None)
        if pivot is None:
            if free is not None:
                return None
            free, common = c, last
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        lead, top = rows[done][c], rows[done][c + 1 :]
        for row in rows[done + 1 :]:
            factor = row[c]
            row[c + 1 :] = [(lead * a - factor * b) // last for a, b in zip(row[c + 1 :], top, strict=True)]
        pivots.append(c)
        last = lead
    if free is None:
        return None
    values = [0] * n_columns
    values[free] = common  # by Cramer's rule all others are integers then; those after it are 0
    for r, c in reversed([(r, c) for r, c in enumerate(pivots) if c < free]):
        values[c] = -sum(map(int.__mul__, rows[r][c + 1 :], values[c + 1 :])) // rows[r][c]
    if common < 0:
        values = [-value for value in values]
    if any(value < 0 for value in values):
        return None
    divisor = math.gcd(*values)
    return [value // divisor for value in values]


def _exponents(X: Floats) -> list[int]:
    """For every column, the exponent of the largest power of two that divides all of its numbers."""
    return [quantum(column) for column in X.T]


def integer_rows(X: Floats) -> list[list[int]]:
    """The rows as integers, each feature in its own unit."""
    mantissas, exponents = np.frexp(X)
    integers = np.ldexp(mantissas, 53).astype(np.int64).tolist()
    shifts = (exponents - 53 - np.array(_exponents(X), dtype=np.int64)).tolist()
    return [
        [value << shift if shift >= 0 else value >> -shift for value, shift in zip(row, by, strict=True)]
        for row, by in zip(integers, shifts, strict=True)
    ]


def gordan(columns: list[list[int]], should_stop: Callable[[], bool]) -> tuple[list[int] | None, list[Fraction] | None]:
    """Either columns of which 0 is a convex combination, or a direction with a positive product with every column.

    The simplex method in rational arithmetic, with Bland's rule, which never cycles.
    """
    n = len(columns[0]) + 1
    unit = Fraction(max(abs(value) for column in columns for value in column))  # so that products are not tiny
    table = [[Fraction(column[r]) for column in columns] for r in range(n - 1)] + [[unit] * len(columns)]
    right = [Fraction(0)] * (n - 1) + [unit]
    inverse = [[Fraction(int(r == c)) for c in range(n)] for r in range(n)]
    basis = [-1 - r for r in range(n)]  # artificial at first
    while True:
        if should_stop():
            return None, None
        values = _product(inverse, right)
        costs = [sum((inverse[r][c] for r in range(n) if basis[r] < 0), Fraction(0)) for c in range(n)]
        entering = next(
            (c for c in range(len(columns)) if sum(costs[r] * table[r][c] for r in range(n)) > 0 and c not in basis),
            None,
        )
        if entering is None:
            break
        column = _product(inverse, [row[entering] for row in table])
        ratios = [(values[r] / column[r], basis[r], r) for r in range(n) if column[r] > 0]
        # Artificial columns leave first: their numbers are negative.
        _, _, leaving = min(ratios)
        pivot = column[leaving]
        inverse[leaving] = [value / pivot for value in inverse[leaving]]
        for r in range(n):
            if r != leaving and column[r]:
                inverse[r] = [a - column[r] * b for a, b in zip(inverse[r], inverse[leaving], strict=True)]
        basis[leaving] = entering
    if any(basis[r] < 0 and values[r] for r in range(n)):
        return None, [-value for value in costs[:-1]]
    return [basis[r] for r in range(n) if basis[r] >= 0 and values[r]], None


def _product(matrix: list[list[Fraction]], vector: list[Fraction]) -> list[Fraction]:
    return [sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]


@kernel(error_model="numpy")
def _nearest(columns: Any, rows: Any, seed: int) -> Any:
    """The point nearest to (0, 1) in the cone of some rows of ``columns``: squared distance, its rows, difference.

    Of the rows that lead nearer, one whose slope is at least half of the best is chosen at random, so that asking
    again gives other subsystems.
    """
    np.random.seed(seed)
    k, n = len(rows), columns.shape[1]
    passive, values = np.empty(n + 1, np.int64), np.zeros(n + 1)
    is_passive, slopes = np.zeros(k, np.bool_), np.empty(k)
    point = np.zeros(n)
    point[n - 1] = 1.0
    basis, triangle = np.empty((n + 1, n)), np.zeros((n + 1, n + 1))
    size = 0
    for _ in range(_STEPS * n):
        best = 1e-11
        for c in range(k):
            slope = 0.0
            if not is_passive[c]:
                for q in range(n):
                    slope += columns[rows[c], q] * point[q]
            slopes[c] = slope
            best = max(best, slope)
        entering, n_good = -1, 0
        for c in range(k):
            if slopes[c] > 1e-11 and slopes[c] >= 0.5 * best:
                n_good += 1
                if np.random.random() * n_good < 1.0:
                    entering = c
        if entering < 0:
            break
        is_passive[entering] = True
        passive[size], values[size] = entering, 0.0
        size += 1
        is_dependent = False
        while size:
            wanted = np.empty(size)
            for j in range(size):  # an orthonormal basis of the passive rows, each orthogonalised twice
                for i in range(size):
                    triangle[i, j] = 0.0
                length = 0.0
                for q in range(n):
                    basis[j, q] = columns[rows[passive[j]], q]
                    length += basis[j, q] ** 2
                for _ in range(2):
                    for i in range(j):
                        product = 0.0
                        for q in range(n):
                            product += basis[i, q] * basis[j, q]
                        triangle[i, j] += product
                        for q in range(n):
                            basis[j, q] -= product * basis[i, q]
                rest = 0.0
                for q in range(n):
                    rest += basis[j, q] ** 2
                if rest <= 1e-22 * length:
                    is_dependent = True
                    break
                triangle[j, j] = np.sqrt(rest)
                for q in range(n):
                    basis[j, q] /= triangle[j, j]
            if is_dependent:
                break
            least = 1.0
            for j in range(size - 1, -1, -1):
                value = basis[j, n - 1]
                for i in range(j + 1, size):
                    value -= triangle[j, i] * wanted[i]
                wanted[j] = value / triangle[j, j]
                least = min(least, wanted[j])
            if least > 0:
                for j in range(size):
                    values[j] = wanted[j]
                break
            step = 1.0
            for j in range(size):
                if wanted[j] <= 0:
                    step = min(step, values[j] / (values[j] - wanted[j]))
            kept = 0
            for j in range(size):
                value = values[j] + step * (wanted[j] - values[j])
                if value > 1e-13:
                    passive[kept], values[kept] = passive[j], value
                    kept += 1
                else:
                    is_passive[passive[j]] = False
            size = kept
        if is_dependent:  # the point is as near as rounding allows
            size -= 1
            break
        distance = 0.0
        for q in range(n):
            point[q] = 1.0 if q == n - 1 else 0.0
            for j in range(size):
                point[q] -= values[j] * columns[rows[passive[j]], q]
            distance += point[q] ** 2
        if distance < 1e-18:
            break
    distance = 0.0
    for q in range(n):
        distance += point[q] ** 2
    return distance, passive[:size].copy(), point


def _compile() -> None:
    Oracle(np.array([[0.0], [1.0], [2.0]]), np.array([True, False, True])).packing(np.arange(3), lambda: False)


KERNELS = Compiling("subsystems", _compile, __name__, _nearest)
