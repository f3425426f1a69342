"""Fan: rays around 0 whose cones contain every neuron, and the values of rows there.

Rows are vectors of integers a_i. The n + 1 rays have integers as coordinates and the sum 0, and n of them are
independent: so each x is a non-negative combination of n of them. Products of integers are exact; those of a row are
divided by a power of two, which changes no sign, and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from stepnet.model.arithmetic import Bools, Floats
from stepnet.provers.corners import TINY
from stepnet.provers.correct_sets import independent_axes

_BITS = 20  # of the coordinates of a ray
_ILL = 1e-12  # a variance that is so much smaller than another one may be mostly rounding

Vectors = list[list[int]]


@dataclass(frozen=True)
class Fan:
    """Rays on some axes; the products of rows with them, exactly; and the same rounded to floats within [-1, 1]."""

    axes: list[int]
    rays: Vectors  # on these axes
    products: Vectors  # row, ray
    values: Floats  # ray, row

    def right_at(self, shares: Sequence[float]) -> Bools:
        """The rows that a sum of rays gets right, in exact arithmetic."""
        ratios = [value.as_integer_ratio() for value in shares]
        common = max(denominator for _, denominator in ratios)
        integers = [numerator * (common // denominator) for numerator, denominator in ratios]
        return np.array([sum(map(int.__mul__, row, integers)) > 0 for row in self.products])

    @classmethod
    def of(cls, vectors: Vectors) -> Fan:
        """In the space that the vectors span: on as many of their axes as they need."""
        axes = spanned_axes(vectors)
        vectors = [[vector[axis] for axis in axes] for vector in vectors]
        rays = _rays(vectors)
        products = [[sum(map(int.__mul__, vector, ray)) for ray in rays] for vector in vectors]
        return cls(axes, rays, products, np.ascontiguousarray(np.array([_rounded(row) for row in products]).T))


def spanned_axes(vectors: Vectors) -> list[int]:
    """As few axes as the rank of the vectors, on which their projection is one-to-one."""
    return independent_axes([[0] * len(vectors[0]), *vectors])


def _rounded(row: list[int]) -> list[float]:
    """Divided by a power of two that is no smaller than any of them; 0 only what is 0."""
    scale = 1 << max(abs(value) for value in row).bit_length()
    return [value / scale or (value and math.copysign(TINY, value)) for value in row]


def _rays(vectors: Vectors) -> Vectors:
    """A regular simplex in coordinates in which the rows look alike from all sides, or nearly so."""
    scales = [1 << max(abs(value) for value in column).bit_length() for column in zip(*vectors, strict=True)]
    rows = [[Fraction(value, scale) for value, scale in zip(vector, scales, strict=True)] for vector in vectors]
    variances, axes = _moments(rows)
    basis = None
    if variances[0] < _ILL * variances[-1]:  # the products with n rows that are as independent as can be tell more
        basis = _inverse(_pivots(rows))
        variances, axes = _moments([_product(row, basis) for row in rows])
    whitening = axes / np.sqrt(np.maximum(variances, _ILL * variances[-1]))
    rays = _integers(np.eye(len(scales)))
    for scaled in (_simplex(len(scales)) @ whitening.T, _simplex(len(scales))):
        rounded = _integers(scaled)
        if len(spanned_axes(rounded)) == len(scales):
            rays = rounded
            break
    # In the units of the vectors, as integers.
    exact: Sequence[Sequence[int | Fraction]] = (
        rays if basis is None else [_product_of_matrix(basis, ray) for ray in rays]
    )
    units = [[Fraction(value) / scale for value, scale in zip(ray, scales, strict=True)] for ray in exact]
    common = math.lcm(*(value.denominator for ray in units for value in ray))
    found = [[int(value * common) for value in ray] for ray in units]
    return [*found, [-sum(column) for column in zip(*found, strict=True)]]


def _moments(rows: list[list[Fraction]]) -> tuple[Floats, Floats]:
    """Second moments along their axes, in increasing order, and these axes, as columns."""
    floats = np.array([[float(value) for value in row] for row in rows])
    variances, axes = np.linalg.eigh(floats.T @ floats / len(floats))
    return np.maximum(variances, 0.0), axes


def _pivots(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """As many rows as there are columns: each the one that is largest after elimination of those before."""
    left, found, free = [list(row) for row in rows], [], list(range(len(rows[0])))
    while free:
        pivot, axis = max(
            ((i, c) for i in range(len(left)) for c in free), key=lambda place: abs(left[place[0]][place[1]])
        )
        top = left[pivot]
        found.append(rows[pivot])
        free.remove(axis)
        left = [[a - row[axis] / top[axis] * b for a, b in zip(row, top, strict=True)] for row in left]
    return found


def _inverse(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    n = len(matrix)
    table = [[*row, *(Fraction(int(r == c)) for c in range(n))] for r, row in enumerate(matrix)]
    for c in range(n):
        pivot = max(range(c, n), key=lambda r: abs(table[r][c]))
        table[c], table[pivot] = table[pivot], table[c]
        table[c] = [value / table[c][c] for value in table[c]]
        for r in range(n):
            if r != c and table[r][c]:
                table[r] = [a - table[r][c] * b for a, b in zip(table[r], table[c], strict=True)]
    return [row[n:] for row in table]


def _product(row: list[Fraction], matrix: list[list[Fraction]]) -> list[Fraction]:
    return [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*matrix, strict=True)]


def _product_of_matrix(matrix: list[list[Fraction]], column: Sequence[int]) -> list[Fraction]:
    return [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for row in matrix]


def _integers(rays: Floats) -> Vectors:
    steps: Vectors = np.round(rays / np.abs(rays).max() * 2.0**_BITS).astype(np.int64).tolist()
    return steps


def _simplex(n: int) -> Floats:
    """n of the n + 1 corners of a regular simplex around 0."""
    corners = np.eye(n + 1) - 1.0 / (n + 1)
    basis = np.linalg.qr(corners[:, :n])[0]
    return np.asarray(corners[:n] @ basis)


def middle_of(points: Vectors) -> list[int]:
    return [(min(column) + max(column)) // 2 for column in zip(*points, strict=True)]


def vectors_of(points: Vectors, on: Bools) -> Vectors:
    """±(x, 1) of points with integers as coordinates, from the middle of them."""
    middle, signs = middle_of(points), np.where(on, 1, -1).tolist()
    return [
        [*(sign * (value - centre) for value, centre in zip(point, middle, strict=True)), sign]
        for point, sign in zip(points, signs, strict=True)
    ]
