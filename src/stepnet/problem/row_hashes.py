"""Hashes of rows: which rows may be equal, and a fingerprint of all of them that comes piece by piece.

    F = Σ_i w_i H(x_i, y_i)   modulo   p = 2⁶¹ - 1,

a sum over rows, so neither their order nor the blocks that they come in matter, and a row of weight 2 is the same as
two rows. Weights are integers times powers of two, and modulo p a power of two is a rotation of 61 bits: no weight is
rounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats

Hashes = NDArray[np.uint64]

_BITS = 61
_MODULUS = 2**_BITS - 1
_MULTIPLIER, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
_LAST = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_CHUNK = 10_000  # rows: their hashes stay in the cache


def row_hashes(X: NDArray[Any]) -> Hashes:
    """One for each row; equal rows have equal hashes."""
    hashes = np.zeros(len(X), dtype=np.uint64)
    for first in range(0, len(X), _CHUNK):
        part, rows = hashes[first : first + _CHUNK], X[first : first + _CHUNK]
        for column in rows.T:
            _mix(part, (column.astype(np.float64) + 0.0).view(np.uint64))  # -0.0 becomes 0.0
    return hashes


def _mix(hashes: Hashes, bits: Hashes) -> None:
    hashes ^= bits
    hashes *= _MULTIPLIER
    hashes ^= hashes >> _SHIFT


def with_targets(hashes: Hashes, keys: Sequence[NDArray[Any]]) -> Hashes:
    """Hashes of rows with their targets (codes of classes or numbers), and with whatever else tells rows apart."""
    mixed = hashes.copy()
    for key in keys:
        _mix(mixed, key.astype(np.int64 if key.dtype.kind in "iu" else np.float64).view(np.uint64))
    for factor in _LAST:
        mixed ^= mixed >> np.uint64(33)
        mixed *= factor
    return mixed ^ (mixed >> np.uint64(33))


def weighted_sum(hashes: Hashes, weights: Floats) -> int:
    """Σ w H modulo p, exact."""
    values = hashes >> np.uint64(64 - _BITS)
    if not (weights == 1).all():
        mantissas, exponents = np.frexp(weights)
        values = _product(values, (mantissas * 2.0**53).astype(np.uint64))
        values = _rotated(values, ((exponents - 53) % _BITS).astype(np.uint64))
    low, high = (values & np.uint64(2**32 - 1)).sum(), (values >> np.uint64(32)).sum()
    total: int = (int(low) + (int(high) << 32)) % _MODULUS
    return total


def fingerprint_of(total: int, n_features: int) -> str:
    """The text that identifies data by the sum over their rows."""
    return hashlib.sha256(f"rows of {n_features} features: {total % _MODULUS}".encode()).hexdigest()[:16]


def _product(left: Hashes, right: Hashes) -> Hashes:
    """Modulo p, of numbers below 2⁶¹, in 64 bits: factors are split into 30 and 31 bits."""
    half, low = np.uint64(31), np.uint64(2**31 - 1)
    a, b, c, d = left >> half, left & low, right >> half, right & low
    middle = a * d + b * c  # below 2⁶²
    folded = (middle >> np.uint64(30)) + ((middle & np.uint64(2**30 - 1)) << half)
    return _reduced(_reduced(np.uint64(2) * (a * c)) + _reduced(folded) + _reduced(b * d))


def _rotated(values: Hashes, by: Hashes) -> Hashes:
    """Times 2^by modulo p."""
    return _reduced(((values << by) & np.uint64(_MODULUS)) | (values >> (np.uint64(_BITS) - by)))


def _reduced(values: Hashes) -> Hashes:
    return (values & np.uint64(_MODULUS)) + (values >> np.uint64(_BITS))
