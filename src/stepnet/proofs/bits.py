"""Bits: kernels over sets of rows as words of bits, and over the sides of hyperplanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.uint64]
_AT_ONCE = 300_000_000  # operations between two looks at the clock, about
_BLOCK = 256  # sets at once
_ROUNDING = 64 * 2.0**-52  # of a determinant of at most 6 rows, relative to the sum of its terms without their signs
_UNDERFLOW = 1e-290


def packed(sets: NDArray[np.bool_]) -> Words:
    """A row of bits as words."""
    n_words = -(-sets.shape[1] // 64)
    data = np.zeros((len(sets), 8 * n_words), dtype=np.uint8)
    packed_bits = np.packbits(sets, axis=1, bitorder="little")
    data[:, : packed_bits.shape[1]] = packed_bits
    return data.view(np.uint64)


EXACT, DIFFERENCES, COORDINATES = 0, 1, 2  # what floats are certain of: all minors; differences of points; neither


def signs_of(points: Any, chosen: Any, accuracy: int) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """On which side of hyperplanes through chosen points each point is, and which hyperplanes rounding leaves in doubt.

    0 everywhere where chosen points span no hyperplane. Where points are rounded, they are within [0, 1].
    """
    found: tuple[NDArray[np.int8], NDArray[np.bool_]] = _signs(
        points, chosen, 0.0 if accuracy == EXACT else _ROUNDING, accuracy == DIFFERENCES
    )
    return found


def largest(words: Words, should_stop: Callable[[], bool]) -> Words:
    """The sets that are in no other one; where the time is up, some more."""
    words = words[np.lexsort(words.T)]
    words = words[np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)])] if len(words) else words
    words = words[np.argsort(-np.bitwise_count(words).sum(axis=1, dtype=np.int64), kind="stable")]
    kept, n_kept = np.empty(len(words), dtype=np.int64), 0
    done = 0
    while done < len(words):
        if should_stop():
            return words
        n_kept, done = _keep_largest(words, kept, n_kept, done, _AT_ONCE)
    return words[kept[:n_kept]]


def best_sets(
    words: Words,
    classes: Words,
    weights: Words,
    gate: Sequence[int],
    rules: Sequence[Sequence[int]],
    most: int,
    should_stop: Callable[[], bool],
) -> tuple[tuple[int, ...] | None, bool]:
    """The sets, one a neuron, that leave least to misclassify, if that is at most ``most``; and whether all were tried.

    ``weights`` are rows of bits: those of the rows whose weight has that bit. ``rules`` are, for either class, the
    sets of neurons that spoil a row, as bits.
    """
    width = len(gate)
    flat = np.array([[code, rule] for code in (0, 1) for rule in rules[code]], dtype=np.int64)
    is_like_last = np.array([False, *(a == b for a, b in pairwise(gate))])
    best, found = most + 1, np.full(3, -1, dtype=np.int64)
    first = 0
    while first < len(words):
        if should_stop():
            return None, False
        first, best = _search(words, classes, weights, width, flat, is_like_last, first, best, found, _AT_ONCE)
    return (tuple(found[:width].tolist()) if best <= most else None), True


def costs(sets: Words, rows: Words, weights: Words) -> NDArray[np.int64]:
    """What the rows weigh that are not in a set."""
    counts = [np.bitwise_count(~sets & rows & plane).sum(axis=1, dtype=np.int64) for plane in weights]
    total: NDArray[np.int64] = np.array(counts).T @ (1 << np.arange(len(counts)))
    return total


def subsets(n_points: int, size: int, at_once: int) -> Iterator[NDArray[np.int64]]:
    """All subsets of so many points, some at once."""
    last = np.arange(size)
    last[-1] -= 1
    while True:
        found, n_found = _next_subsets(last, n_points, np.empty((at_once, size), dtype=np.int64))
        if n_found:
            yield found[:n_found]
        if n_found < at_once:
            return


@njit(cache=True, nogil=True)
def _next_subsets(last: Any, n_points: int, found: Any) -> Any:
    """The subsets after the last one, in order, which becomes the last one found."""
    size = len(last)
    for k in range(len(found)):
        j = size - 1
        while j >= 0 and last[j] == n_points - size + j:
            j -= 1
        if j < 0:
            return found, k
        last[j] += 1
        for i in range(j + 1, size):
            last[i] = last[i - 1] + 1
        found[k] = last
    return found, len(found)


@njit(cache=True, nogil=True)
def right_sets(sides: Any, where: Any, on: Any, with_plane: bool) -> Any:
    """Rows that hyperplanes get right, by the sides of their points, in both orientations; 2 is nowhere."""
    n_words = (len(where) + 63) // 64
    sets = np.zeros((2 * len(sides), n_words), np.uint64)
    for k in range(len(sides)):
        for row in range(len(where)):
            side = sides[k, where[row]]
            bit = np.uint64(1) << np.uint64(row % 64)
            if side == 0:
                if with_plane:
                    sets[2 * k, row // 64] |= bit
                    sets[2 * k + 1, row // 64] |= bit
            elif side != 2:
                sets[2 * k + ((side > 0) != on[row]), row // 64] |= bit
    return sets


@njit(cache=True, nogil=True)
def _signs(points: Any, chosen: Any, rounding: float, is_relative: bool) -> Any:
    """Minors column by column; coordinates differ by at most 1 where there is rounding."""
    n_points, n = points.shape
    n_masks = 1 << n
    signs = np.zeros((len(chosen), n_points), np.int8)
    in_doubt = np.zeros(len(chosen), np.bool_)
    minors, sizes = np.empty(n_masks), np.empty(n_masks)
    normal = np.empty(n)
    counts = np.zeros(n_masks, np.int64)
    small = rounding  # any error of rounding is smaller
    for mask in range(1, n_masks):
        counts[mask] = counts[mask >> 1] + (mask & 1)
    for factor in range(2, n + 1):
        small *= factor
    for k in range(len(chosen)):
        base = chosen[k, 0]
        minors[0] = sizes[0] = 1.0
        has_sizes = False
        for mask in range(1, n_masks - 1):
            size = counts[mask]
            minors[mask] = 0.0
            for c in range(n):
                if mask >> c & 1:
                    rest = mask ^ (1 << c)
                    term = (points[chosen[k, size], c] - points[base, c]) * minors[rest]
                    minors[mask] += -term if counts[rest >> c] % 2 else term
        for c in range(n):
            minor = minors[(n_masks - 1) ^ (1 << c)]
            normal[c] = -minor if counts[(n_masks - 1) >> (c + 1)] % 2 else minor
        for p in range(n_points):
            value = 0.0
            for c in range(n):
                value += normal[c] * (points[p, c] - points[base, c])
            if abs(value) > small + _UNDERFLOW or (value != 0.0 and rounding == 0.0):
                signs[k, p] = 1 if value > 0 else -1
                continue
            if rounding == 0.0:
                continue
            is_chosen = False
            for q in range(n):
                is_chosen = is_chosen or chosen[k, q] == p
            if is_chosen:
                continue
            if not is_relative:
                in_doubt[k] = True
                continue
            if not has_sizes:  # the sums of terms without their signs
                has_sizes = True
                for mask in range(1, n_masks - 1):
                    sizes[mask] = 0.0
                    for c in range(n):
                        if mask >> c & 1:
                            edge = points[chosen[k, counts[mask]], c] - points[base, c]
                            sizes[mask] += abs(edge) * sizes[mask ^ (1 << c)]
            extent = 0.0
            for c in range(n):
                extent += sizes[(n_masks - 1) ^ (1 << c)] * abs(points[p, c] - points[base, c])
            if abs(value) > rounding * extent + _UNDERFLOW:
                signs[k, p] = 1 if value > 0 else -1
            else:
                in_doubt[k] = True
    return signs, in_doubt


@njit(cache=True, nogil=True)
def are_simple(sides: Any, dimension: int, has_both: Any) -> Any:
    """Whether a hyperplane passes through just as many points as it needs, each with rows of one class."""
    found = np.empty(len(sides), np.bool_)
    for k in range(len(sides)):
        n_on = 0
        for p in range(len(has_both)):
            if sides[k, p] == 0:
                n_on += dimension + 1 if has_both[p] else 1
        found[k] = n_on == dimension
    return found


@njit(cache=True, nogil=True)
def _keep_largest(words: Any, kept: Any, n_kept: int, done: int, most: int) -> Any:
    """Go on with sets in falling order of size; those in no earlier one are kept."""
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


@njit(cache=True, nogil=True, inline="always")
def _count(word: Any) -> Any:
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _search(
    words: Any,
    classes: Any,
    weights: Any,
    width: int,
    rules: Any,
    is_like_last: Any,
    first: int,
    best: int,
    found: Any,
    most: int,
) -> Any:
    """All choices whose first set is ``first`` or later, until enough was done; where to go on, and the best loss."""
    n_sets, n_words = words.shape
    n_planes = len(weights)
    ones = ~np.uint64(0)
    # After d neurons are chosen: rows that are lost, and rows that are if the next one gets them wrong too.
    lost, at_stake = np.zeros((4, n_words), np.uint64), np.zeros((4, n_words), np.uint64)
    chosen, sums = np.zeros(3, np.int64), np.empty(_BLOCK, np.int64)
    by_word = np.ascontiguousarray(words.T)
    work = 0
    while first < n_sets and work < most:
        chosen[0] = first
        depth = 0
        while depth >= 0:
            if chosen[depth] >= n_sets or (depth == 0 and chosen[0] != first):
                depth -= 1
                if depth >= 0:
                    chosen[depth] += 1
                continue
            for w in range(n_words):
                lost[depth + 1, w] = lost[depth, w]
                for r in range(len(rules)):
                    if rules[r, 1] >> depth == 1:  # it ends with this neuron
                        rows = classes[rules[r, 0], w]
                        for j in range(depth + 1):
                            if rules[r, 1] >> j & 1:
                                rows &= ones ^ words[chosen[j], w]
                        lost[depth + 1, w] |= rows
            cost = 0
            for w in range(n_words):
                for plane in range(n_planes):
                    cost += _count(lost[depth + 1, w] & weights[plane, w]) << plane
            work += 30
            if cost >= best:
                chosen[depth] += 1
            elif depth == width - 1:
                best = cost
                for j in range(width):
                    found[j] = chosen[j]
                chosen[depth] += 1
            elif depth == width - 2:
                # The last neuron: what is at stake does not depend on it.
                for w in range(n_words):
                    at_stake[depth + 1, w] = np.uint64(0)
                    for r in range(len(rules)):
                        if rules[r, 1] >> (depth + 1) == 1:
                            rows = classes[rules[r, 0], w]
                            for j in range(depth + 1):
                                if rules[r, 1] >> j & 1:
                                    rows &= ones ^ words[chosen[j], w]
                            at_stake[depth + 1, w] |= rows
                begin = chosen[depth] if is_like_last[depth + 1] else 0
                for block in range(begin, n_sets, _BLOCK):
                    size = min(_BLOCK, n_sets - block)
                    for k in range(size):
                        sums[k] = 0
                    for w in range(n_words):
                        base, stake = lost[depth + 1, w], at_stake[depth + 1, w]
                        for plane in range(n_planes):
                            mask = weights[plane, w]
                            for k in range(size):
                                gone = base | (stake & ~by_word[w, block + k])
                                sums[k] += _count(gone & mask) << plane
                    low = sums[0]
                    for k in range(size):
                        low = min(low, sums[k])
                    if low < best:
                        best = low
                        for j in range(depth + 1):
                            found[j] = chosen[j]
                        for k in range(size):
                            if sums[k] == low:
                                found[depth + 1] = block + k
                work += n_sets - begin
                chosen[depth] += 1
            else:
                chosen[depth + 1] = chosen[depth] if is_like_last[depth + 1] else 0
                depth += 1
        first += 1
    return first, best
