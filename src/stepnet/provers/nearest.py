"""Nearest: the point of a cone of columns that is nearest to (0, 1), by Lawson and Hanson's method."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.runtime.compiling import kernel

_STEPS = 60  # of the method, per dimension
_SLOPE = 1e-11  # that still leads nearer
_LENGTH = 1e-22  # squared, of what is left of a column that depends on others, relative
_SMALL = 1e-13  # a share of 0
_MET = 1e-18  # squared distance of 0


@kernel(error_model="numpy")
def nearest(columns: Any, n_columns: int, n_first: int) -> Any:
    """Squared distance, the columns of the point, and the difference to it.

    Of the columns the first few enter before others do. Of those that lead nearer, the steepest enters.
    """
    n = len(columns)
    passive, shares = np.empty(n + 1, np.int64), np.zeros(n + 1)
    is_passive, slopes = np.zeros(n_columns, np.bool_), np.empty(n_columns)
    basis, triangle = np.empty((n + 1, n)), np.zeros((n + 1, n + 1))
    difference = np.zeros(n)
    difference[n - 1] = 1.0
    size, n_valid = 0, 0
    for _ in range(_STEPS * n):
        entering = _steepest(columns, 0, n_first, is_passive, difference, slopes)
        if entering < 0:
            entering = _steepest(columns, n_first, n_columns, is_passive, difference, slopes)
        if entering < 0:
            break
        is_passive[entering] = True
        passive[size], shares[size] = entering, 0.0
        size += 1
        is_dependent = False
        while size:
            n_valid, is_dependent = _extend(columns, passive, size, n_valid, basis, triangle)
            if is_dependent:
                break
            kept, n_valid = _step(passive, shares, size, n_valid, basis, triangle, is_passive)
            if kept == size:
                break
            size = kept
        if is_dependent:  # the point is as near as rounding allows
            size -= 1
            break
        if _difference(columns, passive, shares, size, difference) < _MET:
            break
    return np.sum(difference**2), passive[:size].copy(), difference


@kernel(error_model="numpy")
def _steepest(columns: Any, begin: int, end: int, is_passive: Any, difference: Any, slopes: Any) -> int:
    """The column that leads nearer by most; -1 if none does."""
    best, entering = _SLOPE, -1
    slopes[begin:end] = 0.0
    for q in range(len(difference)):
        along = difference[q]
        for c in range(begin, end):
            slopes[c] += columns[q, c] * along
    for c in range(begin, end):
        if slopes[c] > best and not is_passive[c]:
            best, entering = slopes[c], c
    return entering


@kernel(error_model="numpy")
def _extend(columns: Any, passive: Any, size: int, n_valid: int, basis: Any, triangle: Any) -> Any:
    """An orthonormal basis of the passive columns, each orthogonalised twice; the first ``n_valid`` are there already.

    How many there are now, and whether the next one depends on them.
    """
    n = len(columns)
    for j in range(n_valid, size):
        length = 0.0
        for i in range(size):
            triangle[i, j] = 0.0
        for q in range(n):
            basis[j, q] = columns[q, passive[j]]
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
        if rest <= _LENGTH * length:
            return j, True
        triangle[j, j] = np.sqrt(rest)
        for q in range(n):
            basis[j, q] /= triangle[j, j]
    return size, False


@kernel(error_model="numpy")
def _step(passive: Any, shares: Any, size: int, n_valid: int, basis: Any, triangle: Any, is_passive: Any) -> Any:
    """Move to the nearest point of the passive columns' span, or to where shares get 0: how many columns are kept."""
    n, least, step = basis.shape[1], 1.0, 1.0
    wanted = np.empty(size)
    for j in range(size - 1, -1, -1):
        value = basis[j, n - 1]
        for i in range(j + 1, size):
            value -= triangle[j, i] * wanted[i]
        wanted[j] = value / triangle[j, j]
        least = min(least, wanted[j])
    if least > 0:
        shares[:size] = wanted
        return size, n_valid
    for j in range(size):
        if wanted[j] <= 0:
            step = min(step, shares[j] / (shares[j] - wanted[j]))
    kept = 0
    for j in range(size):
        value = shares[j] + step * (wanted[j] - shares[j])
        if value > _SMALL:
            passive[kept], shares[kept] = passive[j], value
            kept += 1
        else:
            is_passive[passive[j]] = False
            n_valid = min(n_valid, kept)
    return kept, n_valid


@kernel(error_model="numpy")
def _difference(columns: Any, passive: Any, shares: Any, size: int, difference: Any) -> float:
    """From the point to (0, 1); its squared length."""
    n, distance = len(difference), 0.0
    for q in range(n):
        difference[q] = 1.0 if q == n - 1 else 0.0
        for j in range(size):
            difference[q] -= shares[j] * columns[q, passive[j]]
        distance += difference[q] ** 2
    return distance
