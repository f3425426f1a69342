"""Sets of rows as bits in words, for the checks by enumeration; this file shares no code with the provers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.runtime.compiling import Compiling, kernel

Words = NDArray[np.uint64]
_AT_ONCE = 50_000  # sets between two looks at the clock


def in_words(bits: NDArray[np.bool_]) -> Words:
    """Rows of bits as words of 64."""
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 64), dtype=bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def of_words(words: Words, n_bits: int) -> NDArray[np.bool_]:
    """The inverse of :func:`in_words`."""
    bytes_of = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(bytes_of, axis=1, count=n_bits, bitorder="little").astype(bool)


def weights_in(sets: Words, mask: Words, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """What the rows of each set that are in a mask weigh."""
    total = np.zeros(len(sets), dtype=np.int64)
    for bit in range(int(weights.max(initial=0)).bit_length()):
        plane = in_words((weights >> bit & 1 == 1)[None])[0] & mask
        if plane.any():
            _add_counts(sets, plane, 1 << bit, total)
    return total


def minimal(sets: Words, must_stop: Callable[[], bool]) -> Words:
    """Without repetitions, and without sets that have exactly one row more than another one."""
    if not len(sets):
        return sets
    sets = np.unique(sets, axis=0) if len(sets) < _AT_ONCE else _distinct(sets)
    codes = np.random.default_rng(0).integers(0, 2**64, 64 * sets.shape[1], dtype=np.uint64)
    hashes = np.zeros(len(sets), dtype=np.uint64)
    _hash(sets, codes, hashes)
    order = np.argsort(hashes)
    is_kept = np.ones(len(sets), dtype=np.bool_)
    for begin in range(0, len(sets), _AT_ONCE):
        if must_stop():
            raise TimeoutError
        _leave_out(sets, codes, hashes, order, hashes[order], begin, min(len(sets), begin + _AT_ONCE), is_kept)
    return sets[is_kept]


def _distinct(sets: Words) -> Words:
    """By the bytes of each set, which is faster for many."""
    rows = np.ascontiguousarray(sets).view([("", np.uint64)] * sets.shape[1]).ravel()
    return sets[np.unique(rows, return_index=True)[1]]


@kernel(nogil=True)
def _add_counts(sets: Any, plane: Any, factor: int, total: Any) -> None:
    for k in range(len(sets)):
        count = np.int64(0)
        for w in range(sets.shape[1]):
            word = sets[k, w] & plane[w]
            word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
            word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
            word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
            count += np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
        total[k] += factor * count


@kernel(nogil=True)
def _hash(sets: Any, codes: Any, hashes: Any) -> None:
    for k in range(len(sets)):
        for w in range(sets.shape[1]):
            for bit in range(64):
                if sets[k, w] >> np.uint64(bit) & np.uint64(1):
                    hashes[k] ^= codes[64 * w + bit]


@kernel(nogil=True)
def _leave_out(
    sets: Any, codes: Any, hashes: Any, order: Any, in_order: Any, begin: int, end: int, is_kept: Any
) -> None:
    """Mark sets from which one row can be taken so that another set is left; hashes only say where to look."""
    for k in range(begin, end):
        for w in range(sets.shape[1]):
            for bit in range(64):
                one = np.uint64(1) << np.uint64(bit)
                if not is_kept[k] or not sets[k, w] & one:
                    continue
                wanted = hashes[k] ^ codes[64 * w + bit]
                place = np.searchsorted(in_order, wanted)
                while place < len(order) and in_order[place] == wanted and is_kept[k]:
                    other = order[place]
                    is_same = True
                    for v in range(sets.shape[1]):
                        is_same = is_same and sets[other, v] == (sets[k, v] ^ one if v == w else sets[k, v])
                    is_kept[k] = not is_same
                    place += 1


def _compile() -> None:
    """Call every kernel on four points in the plane."""
    from stepnet.proof_files.hyperplanes import blocks

    points, on = [[0, 0], [0, 1], [1, 0], [1, 1]], np.array([0, 1, 1, 0])
    ones = np.ones(4, dtype=np.int64)
    for block in blocks(points, np.arange(4), on, ones, np.array([[1, 1]]), 4):
        minimal(block.above, lambda: False)
        weights_in(block.above, block.below[0], ones)


KERNELS = Compiling("enumerations of proofs", _compile, __name__, _leave_out)
