"""Certain: whether columns surely have a combination with positive shares, in floats with a bound on their error."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.runtime.compiling import kernel

_TINY = 1e-13  # a pivot
_ROUNDING = 2.0**-52


@kernel(nogil=True, error_model="numpy")
def is_certain(columns: Any, chosen: Any) -> bool:
    """Whether columns, with the last coordinate 1, surely have (0, 1) as a combination with positive shares.

    R is about the inverse of the matrix B of the columns, l~ = R (0, 1). If |R B - I| <= e < 1 in the norm of row sums,
    B has an inverse and l = inverse(B) (0, 1) differs from l~ by at most e / (1 - e) · max |l~|, since
    l~ - l = (R B - I) l. Each coordinate of B and each product carries an error of some units of rounding.
    """
    n = len(columns)
    if len(chosen) < n:
        return False
    matrix, is_strict = np.empty((n, n)), False
    for j in range(n):
        matrix[:, j] = columns[:, chosen[j]]
        is_strict |= matrix[n - 1, j] > 0
        matrix[n - 1, j] = 1.0
    if not is_strict:
        return False
    inverse, is_found = _inverse(matrix)
    if not is_found:
        return False
    error, least, largest = 0.0, np.inf, 0.0
    for i in range(n):
        row, size = 0.0, 0.0
        for j in range(n):
            entry = -1.0 if i == j else 0.0
            for q in range(n):
                product = inverse[i, q] * matrix[q, j]
                entry += product
                size += abs(product) + abs(inverse[i, q])
            row += abs(entry)
        error = max(error, row + (size + n) * (n + 4) * _ROUNDING)
        least, largest = min(least, inverse[i, n - 1]), max(largest, abs(inverse[i, n - 1]))
    return error < 0.25 and least > 2.0 * error * largest


@kernel(nogil=True, error_model="numpy")
def _inverse(matrix: Any) -> Any:
    """By elimination with pivots, rounded; and whether no pivot is tiny."""
    n = len(matrix)
    left, right = matrix.copy(), np.eye(n)
    for c in range(n):
        pivot = c
        for r in range(c + 1, n):
            if abs(left[r, c]) > abs(left[pivot, c]):
                pivot = r
        if abs(left[pivot, c]) < _TINY:
            return right, False
        for q in range(n):
            left[c, q], left[pivot, q] = left[pivot, q], left[c, q]
            right[c, q], right[pivot, q] = right[pivot, q], right[c, q]
        factor = 1.0 / left[c, c]
        left[c] *= factor
        right[c] *= factor
        for r in range(n):
            factor = left[r, c]
            if r != c and factor != 0.0:
                for q in range(n):
                    left[r, q] -= factor * left[c, q]
                    right[r, q] -= factor * right[c, q]
    return right, True
