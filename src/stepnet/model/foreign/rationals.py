"""Arrays of rational numbers, square roots, and sums and products of floats that are known to be exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import quantum

Rationals = Any  # arrays of Fractions, in a shape that broadcasts to that of a tensor

_ROOT_BITS = 256  # of square roots that are no rationals
_EXACT = 2.0**53
ZERO, ONE = Fraction(0), Fraction(1)


def rationals(values: Any) -> Rationals:
    """Numbers as Fractions, without rounding."""
    array = np.asarray(values)
    if array.dtype == object:
        return array
    if array.dtype.kind not in "iufb" or not np.isfinite(array).all():
        raise InvalidInputError("all numbers must be finite")
    return _apply(Fraction, array.astype(np.float64 if array.dtype.kind == "f" else object))


def filled(value: Fraction, n_axes: int) -> Rationals:
    """One number, for all entries of a tensor with so many axes."""
    array = np.empty((1,) * n_axes, dtype=object)
    array.fill(value)
    return array


def chosen(condition: Any, yes: Any, no: Any) -> Rationals:
    """``numpy.where`` for rational numbers."""
    choose: Any = np.where
    return choose(condition, yes, no)


def root(value: Fraction) -> Fraction:
    """The square root: exact if it is rational, otherwise to 256 bits, so that it equals no number of a file."""
    if value < 0:
        raise InvalidInputError(f"a variance is negative ({float(value):g})")
    numerator, denominator = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if numerator**2 == value.numerator and denominator**2 == value.denominator:
        return Fraction(numerator, denominator)
    shift = max(0, _ROOT_BITS + value.denominator.bit_length() - value.numerator.bit_length()) // 2 * 2 + _ROOT_BITS
    shift += shift % 2
    return Fraction(math.isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


roots = np.frompyfunc(root, 1, 1)


def is_float(value: Fraction) -> bool:
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def uniform(values: Rationals) -> Fraction | None:
    """The number that all entries are; None if they differ."""
    flat = values.ravel()
    first: Fraction = flat[0]
    return first if all(one is first or one == first for one in flat) else None


def product(left: sparse.csr_array, right: sparse.csr_array) -> tuple[sparse.csr_array, bool]:
    """The matrix product in float64, and whether nothing in it was rounded."""
    found = sparse.csr_array(left @ right)
    terms = np.bincount(left.indices, minlength=left.shape[1]) @ np.diff(right.indptr)
    is_copy = terms == found.nnz and bool((np.abs(np.frexp(right.data)[0]) == 0.5).all())
    is_exact = is_copy or _is_on_grid(quantum(left.data) + quantum(right.data), abs(left) @ abs(right))
    return found, is_exact


def combined(matrix: sparse.csr_array, values: Rationals, n_columns: int) -> list[Fraction]:
    """``matrix @ values`` without rounding; few of the values are different."""
    kinds: dict[Fraction, int] = {}
    numbers = np.array([kinds.setdefault(one, len(kinds)) for one in values.ravel().tolist()])
    numbers = np.broadcast_to(numbers, n_columns) if len(numbers) == 1 else numbers
    chosen = sparse.csr_array((np.ones(n_columns), (np.arange(n_columns), numbers)), shape=(n_columns, len(kinds)))
    if list(kinds) == [ZERO]:
        return [ZERO] * matrix.shape[0]
    sums = matrix @ chosen
    if _is_on_grid(quantum(matrix.data), abs(matrix) @ chosen):
        totals = sums.toarray()
        return [sum((Fraction(x) * kind for x, kind in zip(row, kinds, strict=True) if x), ZERO) for row in totals]
    return [_dot(matrix, j, numbers, list(kinds)) for j in range(matrix.shape[0])]


def times(matrix: sparse.csr_array, factors: Sequence[Fraction]) -> tuple[sparse.csr_array, bool]:
    """The rows times their factors in float64, and whether nothing was rounded."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    rounded = np.array([float(one) for one in factors])
    data = matrix.data * rounded[rows]
    is_exact = all(is_float(one) for one in factors) and bool(_are_exact_products(matrix.data, rounded[rows]).all())
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape), is_exact


def _are_exact_products(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.bool_]:
    """A product of floats is a float if their digits, without zeros at the end, have at most 53 places together."""
    return np.asarray((_n_digits(left) + _n_digits(right) <= 53) | (left == 0) | (right == 0))


def _n_digits(values: NDArray[np.float64]) -> NDArray[Any]:
    integers = np.abs(np.frexp(values)[0] * _EXACT).astype(np.int64)
    lowest = np.frexp((integers & -integers).astype(np.float64))[1] - 1
    return np.where(integers == 0, 0, 53 - lowest)


def are_exact(left: NDArray[Any], right: NDArray[Any], operator: str, result: NDArray[np.float64]) -> bool:
    """Whether a sum, difference, product or quotient of arrays of floats was not rounded."""
    if operator == "Mul":
        return bool(_are_exact_products(*np.broadcast_arrays(left, right)).all())
    if operator == "Div":
        back, divided = np.broadcast_arrays(result, right)
        return bool((_are_exact_products(back, divided) & (back * divided == left)).all())
    other = right if operator == "Add" else -right
    part = result - left  # the error of a sum, by Knuth
    return bool(((left - (result - part)) + (other - part) == 0).all())


def _is_on_grid(grid: int, sizes: Any) -> bool:
    largest = sizes.data.max(initial=0.0) if sparse.issparse(sizes) else np.max(sizes, initial=0.0)
    return bool(grid > -1000 and largest < np.ldexp(_EXACT, min(grid, 900)))


def _dot(matrix: sparse.csr_array, j: int, numbers: NDArray[Any], kinds: list[Fraction]) -> Fraction:
    part = slice(matrix.indptr[j], matrix.indptr[j + 1])
    pairs = zip(matrix.data[part].tolist(), numbers[matrix.indices[part]].tolist(), strict=True)
    return sum((Fraction(weight) * kinds[number] for weight, number in pairs), ZERO)


def _apply(function: Any, array: NDArray[Any]) -> Rationals:
    found = np.empty(array.shape, dtype=object)
    found.ravel()[:] = [function(one) for one in array.ravel().tolist()]
    return found
