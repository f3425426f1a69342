"""Bits: sets of rows as words of bits; their costs, and which of them are maximal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.runtime.compiling import kernel

Words = NDArray[np.uint64]
AT_ONCE = 300_000_000  # operations between two checks of the clock, roughly
_SETS_AT_ONCE = 500_000


def packed(sets: NDArray[np.bool_]) -> Words:
    """Rows of bits as words."""
    n_words = -(-sets.shape[1] // 64)
    data = np.zeros((len(sets), 8 * n_words), dtype=np.uint8)
    packed_bits = np.packbits(sets, axis=1, bitorder="little")
    data[:, : packed_bits.shape[1]] = packed_bits
    return data.view(np.uint64)


def costs(sets: Words, rows: Words, weights: Words) -> NDArray[np.int64]:
    """The weight of the rows that are not in a set, for each set."""
    counts = [np.bitwise_count(~sets & rows & plane).sum(axis=1, dtype=np.int64) for plane in weights]
    total: NDArray[np.int64] = np.array(counts).T @ (1 << np.arange(len(counts)))
    return total


def largest(words: Words, should_stop: Callable[[], bool]) -> Words:
    """The sets that are contained in no other one; if the time is up, some more.

    For points in general position, every set of a hyperplane through points that is not maximal has another such set
    with exactly one more row, so looking those up leaves nothing to compare.
    """
    is_kept = _without_larger(words, should_stop)
    if is_kept is None:
        return words
    words = words[is_kept]
    words = words[np.argsort(-np.bitwise_count(words).sum(axis=1, dtype=np.int64), kind="stable")]
    kept, n_kept = np.empty(len(words), dtype=np.int64), 0
    done = 0
    while done < len(words):
        if should_stop():
            return words
        n_kept, done = _keep_largest(words, kept, n_kept, done, AT_ONCE)
    return words[kept[:n_kept]]


def _without_larger(words: Words, should_stop: Callable[[], bool]) -> NDArray[np.bool_] | None:
    """Whether no other set has the rows of a set and exactly one more; of equal sets only the first counts."""
    codes = np.random.default_rng(0).integers(0, 2**64, 64 * words.shape[1], dtype=np.uint64)
    rows = np.bitwise_or.reduce(words, axis=0)
    hashes = np.empty(len(words), dtype=np.uint64)
    table = np.full(1 << (2 * len(words)).bit_length(), -1, dtype=np.int32)
    is_kept = np.empty(len(words), dtype=bool)
    for work in (_enter, _leave_out):
        for begin in range(0, len(words), _SETS_AT_ONCE):
            if should_stop():
                return None
            work(words, begin, min(len(words), begin + _SETS_AT_ONCE), rows, codes, hashes, table, is_kept)
    return is_kept


@kernel(nogil=True)
def _has_just(words: Any, one: int, other: int, word: int, more: Any) -> bool:
    """Whether one set has exactly the rows of another, and some more in one word."""
    for w in range(words.shape[1]):
        if words[one, w] != (words[other, w] | more if w == word else words[other, w]):
            return False
    return True


@kernel(nogil=True)
def _enter(words: Any, begin: int, end: int, rows: Any, codes: Any, hashes: Any, table: Any, is_kept: Any) -> None:
    """Enter sets into a table by hashes of their rows; of equal sets only the first."""
    mask = np.uint64(len(table) - 1)
    for k in range(begin, end):
        code = np.uint64(0)
        for w in range(words.shape[1]):
            for bit in range(64):
                if words[k, w] >> np.uint64(bit) & np.uint64(1):
                    code ^= codes[64 * w + bit]
        hashes[k] = code
        place = code & mask
        is_kept[k] = True
        while table[place] >= 0:
            other = table[place]
            if hashes[other] == code and _has_just(words, other, k, 0, np.uint64(0)):
                is_kept[k] = False
                break
            place = (place + np.uint64(1)) & mask
        if is_kept[k]:
            table[place] = k


@kernel(nogil=True)
def _leave_out(words: Any, begin: int, end: int, rows: Any, codes: Any, hashes: Any, table: Any, is_kept: Any) -> None:
    """Look up every set with one more row."""
    mask = np.uint64(len(table) - 1)
    for k in range(begin, end):
        for w in range(words.shape[1]):
            missing = rows[w] & ~words[k, w]
            for bit in range(64):
                if not is_kept[k]:
                    break
                one = np.uint64(1) << np.uint64(bit)
                if not missing & one:
                    continue
                code = hashes[k] ^ codes[64 * w + bit]
                place = code & mask
                while table[place] >= 0:
                    other = table[place]
                    if hashes[other] == code and _has_just(words, other, k, w, one):
                        is_kept[k] = False
                        break
                    place = (place + np.uint64(1)) & mask


@kernel(nogil=True)
def _keep_largest(words: Any, kept: Any, n_kept: int, done: int, most: int) -> Any:
    """Continue through sets in decreasing order of size; keep those that no earlier one contains."""
    n_words = words.shape[1]
    work = 0
    while done < len(words) and work < most:
        is_new = True
        for q in range(n_kept):
            is_inside = True
            for w in range(n_words):
                if words[done, w] & ~words[kept[q], w]:
                    is_inside = False
                    break
            if is_inside:
                is_new = False
                break
        work += n_kept
        if is_new:
            kept[n_kept] = done
            n_kept += 1
        done += 1
    return n_kept, done


@kernel(nogil=True, inline="always")
def count(word: Any) -> Any:
    """The number of bits that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
