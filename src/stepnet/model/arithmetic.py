"""The exact sign of w·x - t, and its value.

Floats are dyadic rationals, so ``w·x - t`` has a well-defined sign. It is computed in float64 together with a bound on
the rounding error; only entries that the bound leaves in doubt are computed again with rationals. Where the value
itself is the answer, it is rounded once, from sums without error, so that it is the same on every machine.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Weights = Any  # Floats, or a sparse.csr_array without stored zeros

_UNIT = 2.0**-53  # relative rounding error of one float64 operation
_TINY = 2.0**-1074  # absolute rounding error of one product that underflows
_LARGEST = 1e300  # sums of such a size do not overflow
_EXACT = 2.0**53  # integers up to here are floats
_DOUBT = 1e-9  # relative: sums over intervals this close to a threshold may lie on either side
MOST_SLICES = 8  # the rest is below 2^-150 of the largest entry


def activations(inputs: Floats, weights: Weights, thresholds: Floats) -> tuple[Floats, NDArray[np.int8]]:
    """``inputs @ weights.T - thresholds``: the rounded values, and their exact signs (-1, 0, 1).

    Zeros that sparse weights leave out add nothing and round nothing, so the error bounds are those of all terms.
    """
    inputs, largest = np.asarray(inputs, dtype=np.float64), largest_weights(weights)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.subtract(inputs @ weights.T, thresholds)
        # Coarser bounds than each entry's own, but much faster to compute: one for a row, enough for most rows, ...
        lengths, n_terms = np.abs(inputs).sum(axis=1), weights.shape[1]
        size = lengths * largest.max(initial=0.0) + np.abs(thresholds).max(initial=0.0)
        nearest = np.abs(values).min(axis=1, initial=np.inf)
        doubtful = np.flatnonzero(~((nearest > _error(size, n_terms)) & (size < _LARGEST)))
        # ... then one for a row and a neuron.
        sizes = lengths[doubtful, None] * largest + np.abs(thresholds)
        in_doubt = _in_doubt(values[doubtful], sizes, n_terms)
    in_doubt[:, largest == 0] = False  # there the value is exactly -t
    doubtful = doubtful[in_doubt.any(axis=1)]
    signs = (values > 0).view(np.int8) - (values < 0).view(np.int8)
    if len(doubtful):
        signs[doubtful] = _doubtful_signs(inputs[doubtful], values[doubtful], weights, thresholds)
    return values, signs


def argmax(inputs: Floats, weights: Weights, thresholds: Floats) -> tuple[Floats, Ints]:
    """``inputs @ weights.T - thresholds``, and the exact index of each row's largest entry, in a tie the first."""
    inputs = np.asarray(inputs, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        values = inputs @ weights.T - thresholds
        sizes = np.abs(inputs) @ abs(weights).T + np.abs(thresholds)
        best = np.nan_to_num(values).argmax(axis=1)
        if _sums_are_exact(inputs, weights, thresholds, sizes):
            return values, best
        error = _error(sizes, weights.shape[1])
        every = np.arange(len(values))
        lead = values[every, best, None] - values - error - error[every, best, None]
        lead[every, best] = 1.0
        doubtful = np.flatnonzero(~((lead > 0).all(axis=1) & np.isfinite(values).all(axis=1)))
    for i in doubtful:
        exact = [_exact_value(inputs[i], *_terms(weights, j), t) for j, t in enumerate(thresholds.tolist())]
        best[i] = exact.index(max(exact))
    return values, best


def accurate_sums(inputs: Floats, weights: Weights, thresholds: Floats) -> Floats:
    """``inputs @ weights.T - thresholds``, accurate to the last digit and the same on every machine.

    Both factors are split into slices with so few bits that products of slices add up without rounding, in any order.
    """
    n_bits = slice_bits(weights.shape[1])
    total = np.broadcast_to(-thresholds, (len(inputs), weights.shape[0])).astype(np.float64)
    rest = np.zeros_like(total)
    right = slices(weights, n_bits)
    for left_slice in slices(np.asarray(inputs, dtype=np.float64), n_bits):
        for right_slice in right:
            part = left_slice @ right_slice.T
            before, total = total, total + part
            added = total - before
            rest += (before - (total - added)) + (part - added)  # the rounding error of that sum
    return np.asarray(total + rest)


def slice_bits(n_terms: int) -> int:
    """The number of bits of a slice such that sums of ``n_terms`` products of two slices are exact."""
    return (52 - int(np.ceil(np.log2(n_terms + 1)))) // 2


def slices(matrix: Weights, n_bits: int) -> list[Weights]:
    """Matrices that add up to this one; in each, the entries of a row are ``n_bits``-bit multiples of one number."""
    if sparse.issparse(matrix):
        return _sparse_slices(matrix, n_bits)
    found: list[Weights] = []
    while matrix.any() and len(found) < MOST_SLICES:
        _, exponents = np.frexp(np.abs(matrix).max(axis=1, keepdims=True))
        digits = np.round(np.ldexp(matrix, n_bits - exponents))
        found.append(np.ldexp(digits, exponents - n_bits))
        matrix = matrix - found[-1]
    return found


def _sparse_slices(matrix: sparse.csr_array, n_bits: int) -> list[Weights]:
    found: list[Weights] = []
    rows, rest = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.data
    while rest.any() and len(found) < MOST_SLICES:
        largest = np.zeros(matrix.shape[0])
        np.maximum.at(largest, rows, np.abs(rest))
        exponents = np.frexp(largest)[1][rows]
        part = np.ldexp(np.round(np.ldexp(rest, n_bits - exponents)), exponents - n_bits)
        found.append(sparse.csr_array((part, matrix.indices, matrix.indptr), shape=matrix.shape))
        rest = rest - part
    return found


def _in_doubt(values: Floats, sizes: Floats, n_terms: int) -> Bools:
    """Where the sign may be wrong; ``sizes`` bounds the sums of the absolute terms, up to rounding."""
    return ~((np.abs(values) > _error(sizes, n_terms)) & np.isfinite(values))


def _error(sizes: Floats, n_terms: int) -> Floats:
    n_terms += 2
    return n_terms * _UNIT / (1 - n_terms * _UNIT) * sizes * (1 + 2**-20) + n_terms * _TINY


def _doubtful_signs(inputs: Floats, values: Floats, weights: Weights, thresholds: Floats) -> NDArray[np.int8]:
    """The signs of a few rows, by exact float sums, a sharper error bound, or rationals."""
    signs = np.sign(np.nan_to_num(values)).astype(np.int8)
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.abs(inputs) @ abs(weights).T + np.abs(thresholds)
        if _sums_are_exact(inputs, weights, thresholds, sizes):
            return signs
        in_doubt = _in_doubt(values, sizes, weights.shape[1])
    # Where all weights or all inputs are zero, the value is -t.
    in_doubt &= np.outer((inputs != 0).any(axis=1), largest_weights(weights) != 0)
    for i, j in zip(*np.nonzero(in_doubt), strict=True):
        places, own = _terms(weights, j)
        signs[i, j] = _rational_sign(inputs[i, places], own, thresholds[j])
    return signs


def largest_weights(weights: Weights) -> Floats:
    """The largest absolute weight of each neuron."""
    if not sparse.issparse(weights):
        return np.asarray(np.abs(weights).max(axis=1, initial=0.0))
    found, has_weights = np.zeros(weights.shape[0]), np.diff(weights.indptr) > 0
    if has_weights.any():
        found[has_weights] = np.maximum.reduceat(np.abs(weights.data), weights.indptr[:-1][has_weights])
    return found


def _terms(weights: Weights, j: int) -> tuple[Any, Floats]:
    """The inputs of a neuron with stored weights, and these."""
    if not sparse.issparse(weights):
        return slice(None), weights[j]
    part = slice(weights.indptr[j], weights.indptr[j + 1])
    return weights.indices[part], weights.data[part]


def _exact_value(row: Floats, places: Any, weights: Floats, threshold: float) -> Fraction:
    return exact_dot(row[places], weights) - Fraction(threshold)


def exact_dot(left: Floats, right: Floats) -> Fraction:
    """``left·right`` as a rational number."""
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for a, b in pairs if a and b), Fraction(0))


def quantum(values: Floats) -> int:
    """The largest e such that every value is an integer multiple of 2**e (0 if all are zero)."""
    nonzero = values[values != 0]
    if nonzero.size == 0:
        return 0
    mantissas, exponents = np.frexp(nonzero)
    integers = (mantissas * _EXACT).astype(np.int64)
    lowest_bits = (integers & -integers).astype(np.float64)
    trailing_zeros = np.frexp(lowest_bits)[1] - 1
    return int((exponents - 53 + trailing_zeros).min())


def _sums_are_exact(inputs: Floats, weights: Weights, thresholds: Floats, size: Floats) -> bool:
    """Whether every partial sum is an integer multiple of one power of two, and small enough.

    Then float64 makes no rounding error at all, as for integer data with integer weights.
    """
    largest = float(size.max(initial=0.0))
    if not np.isfinite(largest):
        return False
    grid = quantum(inputs) + quantum(weights.data if sparse.issparse(weights) else weights)
    if thresholds.any():
        grid = min(grid, quantum(thresholds))
    return grid > -1000 and largest < np.ldexp(_EXACT, min(grid, 900))


def sums_of_bits_are_exact(weights: Weights, thresholds: Floats) -> bool:
    """Whether float64 adds up the weights of any inputs that are 0 or 1, less the threshold, without rounding."""
    sizes = np.asarray(abs(weights).sum(axis=1)).ravel() + np.abs(thresholds).reshape(weights.shape[0], -1).max(axis=1)
    return _sums_are_exact(np.ones(1), weights, thresholds, sizes)


def _rational_sign(row: Floats, weights: Floats, threshold: float) -> int:
    """The sign of row·weights - threshold, by integers: much faster than fractions."""
    (left, left_exponents), (right, right_exponents) = _integers(row), _integers(weights)
    (last,), (last_exponent,) = _integers(np.array([threshold]))
    terms = [a * b for a, b in zip(left, right, strict=True)] + [-last]
    exponents = [a + b for a, b in zip(left_exponents, right_exponents, strict=True)] + [last_exponent]
    lowest = min(exponents)
    total = sum(term << (exponent - lowest) for term, exponent in zip(terms, exponents, strict=True) if term)
    return (total > 0) - (total < 0)


def _integers(values: Floats) -> tuple[list[int], list[int]]:
    """Floats as integers times powers of two."""
    mantissas, exponents = np.frexp(values)
    return (mantissas * _EXACT).astype(np.int64).tolist(), (exponents - 53).tolist()


def ranges_of_sums(weights: Weights, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """The smallest and largest w·h, for each row of signals and of weights."""
    up, down = positive_part(weights).T, -positive_part(-weights).T
    return least @ up + most @ down, most @ up + least @ down


def positive_part(weights: Weights) -> Weights:
    return weights.maximum(0.0) if sparse.issparse(weights) else np.maximum(weights, 0.0)


def doubt_of(weights: Weights, least: Floats, most: Floats, thresholds: Floats) -> Floats:
    """Sums of a neuron that are this close to its threshold are in doubt; one number per neuron, for all rows."""
    largest = np.maximum(np.abs(least).max(axis=0, initial=0.0), np.abs(most).max(axis=0, initial=0.0))
    return np.asarray(_DOUBT * (abs(weights) @ largest + np.abs(thresholds)))
