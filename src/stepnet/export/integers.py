"""Layers above the first in integers: weights over bits, and the integer that their sum must reach.

A staircase with the values v_0, ..., v_L outputs L bits, one per threshold, on if it is reached: its value is v_0
plus the sum of v_i - v_{i-1} over the bits that are on. Floats are dyadic rationals, so after scaling the sum of a
neuron above is an integer combination of bits, and ``sum >= t`` becomes ``integers >= ceil(t)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from stepnet.model.network import Layer
from stepnet.model.rules import at_least

_ZERO = Fraction(0)  # the same for all of the many weights that are zero


@dataclass(frozen=True)
class Sums:
    """Neurons over bits, with integer weights and thresholds.

    ``weights[j][b]`` is the weight of bit b. A neuron's level is the number of ``thresholds[j]`` that its sum
    reaches; an argmax answers with the largest ``factor * sum - thresholds[j][0]``.
    """

    weights: list[list[int]]
    thresholds: list[list[int]]
    factor: int = 1

    @property
    def ends(self) -> list[int]:
        """The thresholds of all neurons."""
        return [end for ends in self.thresholds for end in ends]

    @property
    def largest(self) -> int:
        """A bound on the absolute value of every sum, partial sum and threshold."""
        sums = max((sum(map(abs, row)) for row in self.weights), default=0) * self.factor
        return sums + max(map(abs, self.ends))

    @property
    def largest_weight(self) -> int:
        return max((abs(weight) for row in self.weights for weight in row), default=0)


def over_bits(layer: Layer, values: Sequence[float]) -> Sums:
    """A layer over the bits of a layer below whose neurons have these values."""
    base, *others = map(Fraction, values)
    rises = [other - before for before, other in pairwise([base, *others])]
    weights, thresholds = _fractions(layer)
    rows = weights if rises == [1] else [[weight * rise for weight in row for rise in rises] for row in weights]
    if base:
        thresholds = [[end - base * sum(row) for end in ends] for row, ends in zip(weights, thresholds, strict=True)]
    return _compared(rows, thresholds) if layer.activation.is_compared else _reaching(rows, thresholds)


def over_integers(layer: Layer) -> Sums:
    """A layer over integers of any size, so that sums have no range to which thresholds could be cut."""
    rows, thresholds = _fractions(layer)
    if layer.activation.is_compared:
        return _compared(rows, thresholds)
    found = [scaled(row) for row in rows]
    return Sums(
        [integers for integers, _ in found],
        [[math.ceil(end * scale) for end in ends] for (_, scale), ends in zip(found, thresholds, strict=True)],
    )


def scaled(row: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """The smallest integers in the same proportions, and the factor from the row to them."""
    grid = math.lcm(*{weight.denominator for weight in row})
    integers = [weight.numerator * (grid // weight.denominator) for weight in row]
    common = math.gcd(*integers) or 1
    return [value // common for value in integers], Fraction(grid, common)


def _fractions(layer: Layer) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """The weights and the thresholds of every neuron."""
    numbers = layer.weights, layer.thresholds.reshape(layer.width, -1)
    weights, thresholds = ([[Fraction(x) if x else _ZERO for x in row] for row in array.tolist()] for array in numbers)
    return weights, thresholds


def _reaching(rows: list[list[Fraction]], thresholds: list[list[Fraction]]) -> Sums:
    """Each neuron with its own scale; thresholds beyond all sums are cut to the nearest equivalent one.

    Neurons that only count their inputs get weights of 1 and -1, which are the smallest.
    """
    all_weights, all_ends = [], []
    for row, ends in zip(rows, thresholds, strict=True):
        weights, scale = scaled(row)
        lowest = sum(weight for weight in weights if weight < 0)
        highest = sum(weight for weight in weights if weight > 0)
        cut = [min(max(math.ceil(end * scale), lowest), highest + 1) for end in ends]
        count = at_least(weights, cut[0]) if len(cut) == 1 else None
        if count is not None:
            weights = [(weight > 0) - (weight < 0) for weight in weights]
            cut = [count - weights.count(-1)]
        all_weights.append(weights)
        all_ends.append(cut)
    return Sums(all_weights, all_ends)


def _compared(rows: list[list[Fraction]], thresholds: list[list[Fraction]]) -> Sums:
    """All neurons on one scale. The fractional parts of thresholds only break ties, for which their ranks suffice."""
    width = len(rows[0])
    flat, scale = scaled([weight for row in rows for weight in row])
    ends = [end * scale for (end,) in thresholds]
    fractions = [end - math.floor(end) for end in ends]
    ranks = {value: rank for rank, value in enumerate(sorted(set(fractions)))}
    offsets = [[len(ranks) * math.floor(end) + ranks[part]] for end, part in zip(ends, fractions, strict=True)]
    return Sums([flat[k * width : (k + 1) * width] for k in range(len(rows))], offsets, len(ranks))


def digits(value: int, n_bits: int, n_digits: int) -> list[int]:
    """In base 2**n_bits, lowest first, each from -2**(n_bits - 1) to 2**(n_bits - 1) - 1."""
    half, mask, found = 1 << (n_bits - 1), (1 << n_bits) - 1, []
    for _ in range(n_digits):
        digit = ((value + half) & mask) - half
        found.append(digit)
        value = (value - digit) >> n_bits
    if value:
        raise OverflowError(f"the number needs more than {n_digits} digits")
    return found


def n_digits(largest: int, n_bits: int) -> int:
    """The number of digits that suffices for all integers up to ``largest`` in absolute value."""
    return (largest.bit_length() + 1) // n_bits + 1
