"""Choices: which sets of rows, one per neuron, lose the least below a gate.

The sets of the neurons are chosen one after the other. A row is lost once all neurons that spoil it together get it
wrong. So the rows that each later neuron must get right, given those chosen so far, determine which sets it may still
have; the others are dropped before the next neuron is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.provers.bits import AT_ONCE, Words, costs, count
from stepnet.runtime.compiling import kernel

_BLOCK = 256  # sets per block


class _Lists(NamedTuple):
    """By the number of neurons chosen (the first index): what is lost, and which sets each later one may have."""

    lost: Words  # the rows that are lost
    at_stake: Words  # per neuron: rows that are lost if it gets them wrong, too
    words: Words  # per neuron: sets that it may have
    numbers: NDArray[np.int64]  # the numbers of these sets
    sizes: NDArray[np.int64]  # how many there are
    places: NDArray[np.int64]  # the next one to choose
    chosen: NDArray[np.int64]  # the numbers of the sets chosen so far
    missed: Words  # the rows that these get wrong


class _Limits(NamedTuple):
    """What the rows that are lost may weigh, by further weights."""

    planes: Words  # limits × bits × words: the rows whose weight has that bit
    most: NDArray[np.int64]


def best_sets(
    words: Words,
    classes: Words,
    weights: Words,
    gate: Sequence[int],
    rules: Sequence[Sequence[int]],
    most: int,
    should_stop: Callable[[], bool],
    limits: Sequence[tuple[Words, int]] = (),
) -> tuple[tuple[int, ...] | None, bool]:
    """The sets, one per neuron, that lose the least, if that is at most ``most``; and whether all were tried.

    ``weights`` has for every bit the rows whose weight has that bit. ``rules`` are, for each class, the sets of
    neurons that spoil a row, as bits. ``limits`` are further weights, and what the rows that are lost may weigh.
    """
    width, (n_sets, n_words) = len(gate), words.shape
    flat = np.array([[code, rule] for code in (0, 1) for rule in rules[code]], dtype=np.int64)
    lists = _Lists(
        np.zeros((width + 1, n_words), np.uint64),
        np.zeros((width, width, n_words), np.uint64),
        np.empty((width, width, n_words, n_sets), np.uint64),
        np.empty((width, width, n_sets), np.int64),
        np.zeros((width, width), np.int64),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros((width, n_words), np.uint64),
    )
    planes = np.zeros((len(limits), max([1, *(len(one) for one, _ in limits)]), n_words), np.uint64)
    for number, (one, _) in enumerate(limits):
        planes[number, : len(one)] = one
    allowed = _Limits(planes, np.array([limit for _, limit in limits], dtype=np.int64))
    best, found = most + 1, np.full(width, -1, dtype=np.int64)
    for j in range(width):
        for code in (0, 1):
            if 1 << j in rules[code]:
                lists.at_stake[0, j] |= classes[code]
        numbers = np.flatnonzero(costs(words, lists.at_stake[0, j], weights) < best)
        lists.sizes[0, j] = len(numbers)
        lists.numbers[0, j, : len(numbers)] = numbers
        lists.words[0, j, :, : len(numbers)] = words[numbers].T
    depth = 0
    while depth >= 0:
        if should_stop():
            return None, False
        depth, best = _search(lists, classes, weights, allowed, np.array(gate), flat, depth, best, found, AT_ONCE)
    return (tuple(found.tolist()) if best <= most else None), True


@kernel(nogil=True)
def _search(
    lists: Any,
    classes: Any,
    weights: Any,
    limits: Any,
    gate: Any,
    rules: Any,
    depth: int,
    best: int,
    found: Any,
    most: int,
) -> Any:
    """Continue for about ``most`` operations; the number of neurons chosen then, -1 at the end, and the best loss."""
    width, n_words = len(lists.places), lists.lost.shape[1]
    work = 0
    while depth >= 0 and work < most:
        place = lists.places[depth]
        if place == lists.sizes[depth, depth]:
            depth -= 1
            continue
        lists.places[depth] += 1
        number = lists.numbers[depth, depth, place]
        lists.chosen[depth] = number
        cost = 0
        for w in range(n_words):
            lists.missed[depth, w] = ~lists.words[depth, depth, w, place]
            lists.lost[depth + 1, w] = lists.lost[depth, w] | (lists.at_stake[depth, depth, w] & lists.missed[depth, w])
            for plane in range(len(weights)):
                cost += count(lists.lost[depth + 1, w] & weights[plane, w]) << plane
        work += 30
        if cost >= best or not _admits(limits, lists.lost[depth + 1]):
            continue
        if depth == width - 1:  # there is only one neuron
            best = cost
            found[0] = number
            continue
        is_open = True
        for j in range(depth + 1, width):
            # Neurons of equal weight in the gate are ordered.
            begin = 0
            if gate[j] == gate[depth]:
                begin = _place_of(number, lists.numbers[depth, j], lists.sizes[depth, j])
            _put_at_stake(lists, classes, rules, depth + 1, j)
            work += lists.sizes[depth, j] - begin
            if depth == width - 2:
                least, last = _least(
                    lists.words[depth, j], lists.numbers[depth, j], lists.sizes[depth, j], begin,
                    lists.lost[depth + 1], lists.at_stake[depth + 1, j], weights, limits, best,
                )  # fmt: skip
                if least < best:
                    best = least
                    found[:j] = lists.chosen[:j]
                    found[j] = last
                is_open = False
            elif is_open:
                lists.sizes[depth + 1, j] = _keep(
                    lists.words[depth, j], lists.numbers[depth, j], lists.sizes[depth, j], begin,
                    lists.lost[depth + 1], lists.at_stake[depth + 1, j], weights, limits, best,
                    lists.words[depth + 1, j], lists.numbers[depth + 1, j],
                )  # fmt: skip
                is_open = lists.sizes[depth + 1, j] > 0
        if is_open:
            depth += 1
            lists.places[depth] = 0
    return depth, best


@kernel(nogil=True)
def _place_of(number: int, numbers: Any, size: int) -> int:
    """Of the first one, in rising order, that is not smaller."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(nogil=True)
def _put_at_stake(lists: Any, classes: Any, rules: Any, depth: int, j: int) -> None:
    """After ``depth`` neurons: the rows that are lost if neuron j gets them wrong, too."""
    for w in range(lists.lost.shape[1]):
        at_stake = np.uint64(0)
        for r in range(len(rules)):
            others = rules[r, 1] ^ (1 << j)
            if others >> depth == 0:
                rows = classes[rules[r, 0], w]
                for i in range(depth):
                    if others >> i & 1:
                        rows &= lists.missed[i, w]
                at_stake |= rows
        lists.at_stake[depth, j, w] = at_stake


@kernel(nogil=True)
def _add_costs(words: Any, begin: int, lost: Any, at_stake: Any, weights: Any, sums: Any, size: int) -> None:
    """The loss with each of some sets."""
    for k in range(size):
        sums[k] = 0
    for w in range(len(lost)):
        base, stake = lost[w], at_stake[w]
        for plane in range(len(weights)):
            mask = weights[plane, w]
            for k in range(size):
                sums[k] += count((base | (stake & ~words[w, begin + k])) & mask) << plane


@kernel(nogil=True)
def _keep(
    words: Any,
    numbers: Any,
    size: int,
    begin: int,
    lost: Any,
    at_stake: Any,
    weights: Any,
    limits: Any,
    best: int,
    kept_words: Any,
    kept_numbers: Any,
) -> int:
    """Copy the sets whose loss is below the best; how many there are."""
    sums, n_kept = np.empty(_BLOCK, np.int64), 0
    for block in range(begin, size, _BLOCK):
        n = min(_BLOCK, size - block)
        _add_costs(words, block, lost, at_stake, weights, sums, n)
        for k in range(n):
            if sums[k] < best and _admits_set(limits, words, block + k, lost, at_stake):
                kept_numbers[n_kept] = numbers[block + k]
                for w in range(len(lost)):
                    kept_words[w, n_kept] = words[w, block + k]
                n_kept += 1
    return n_kept


@kernel(nogil=True)
def _least(
    words: Any, numbers: Any, size: int, begin: int, lost: Any, at_stake: Any, weights: Any, limits: Any, best: int
) -> Any:
    """The least loss, if it is below the best, and its set."""
    sums, number = np.empty(_BLOCK, np.int64), -1
    for block in range(begin, size, _BLOCK):
        n = min(_BLOCK, size - block)
        _add_costs(words, block, lost, at_stake, weights, sums, n)
        low = sums[0]
        for k in range(n):
            low = min(low, sums[k])
        if low < best and len(limits.most) > 0:
            for k in range(n):
                if sums[k] < best and _admits_set(limits, words, block + k, lost, at_stake):
                    best = sums[k]
                    number = numbers[block + k]
        elif low < best:
            best = low
            for k in range(n):
                if sums[k] == low:
                    number = numbers[block + k]
    return best, number


@kernel(nogil=True)
def _admits(limits: Any, lost: Any) -> bool:
    """Whether these rows may be lost."""
    for number in range(len(limits.most)):
        total = 0
        for w in range(len(lost)):
            for plane in range(limits.planes.shape[1]):
                total += count(lost[w] & limits.planes[number, plane, w]) << plane
        if total > limits.most[number]:
            return False
    return True


@kernel(nogil=True)
def _admits_set(limits: Any, words: Any, place: int, lost: Any, at_stake: Any) -> bool:
    """Whether the rows may be lost that are lost with one more set."""
    for number in range(len(limits.most)):
        total = 0
        for w in range(len(lost)):
            rows = lost[w] | (at_stake[w] & ~words[w, place])
            for plane in range(limits.planes.shape[1]):
                total += count(rows & limits.planes[number, plane, w]) << plane
        if total > limits.most[number]:
            return False
    return True
