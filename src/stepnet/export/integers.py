"""Layers above the first in integers: what a sum of bits has to reach.

A staircase with the values v_0, ..., v_L hands on L bits, one for each threshold that is reached: its value is
v_0 plus the sum of v_i - v_{i-1} over the bits that are on. Floats are dyadic rationals, so the sum of a neuron
above is, on a grid of its own, an integer combination of bits, and ``sum >= t`` is ``integers >= ceil(t)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from stepnet.model.network import Layer
from stepnet.model.rules import at_least


@dataclass(frozen=True)
class Sums:
    """Neurons over bits: integer weights, and what a sum must reach or what is taken off it.

    ``weights[j][b]`` is that of bit b. A neuron with L thresholds has as many ``thresholds[j]``, of which its
    level is the number reached. Of an argmax the largest ``factor * sum - thresholds[j][0]`` answers.
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
        """No sum, threshold or partial sum is larger in absolute value."""
        sums = max((sum(map(abs, row)) for row in self.weights), default=0) * self.factor
        return sums + max(map(abs, self.ends))

    @property
    def largest_weight(self) -> int:
        return max((abs(weight) for row in self.weights for weight in row), default=0)


def over_bits(layer: Layer, values: Sequence[float]) -> Sums:
    """A layer over the bits of one below whose neurons have these values."""
    base, *others = map(Fraction, values)
    rises = [other - before for before, other in zip([base, *others], others, strict=False)]
    rows, thresholds = [], []
    for weights, ends in zip(layer.weights.tolist(), layer.thresholds.reshape(layer.width, -1).tolist(), strict=True):
        exact = [Fraction(weight) for weight in weights]
        rows.append([weight * rise for weight in exact for rise in rises])
        offset = base * sum(exact) if base else 0
        thresholds.append([Fraction(end) - offset for end in ends])
    return _compared(rows, thresholds) if layer.activation.is_compared else _reaching(rows, thresholds)


def over_integers(layer: Layer) -> Sums:
    """A layer over inputs that are integers of any size; thresholds are not cut to the range of the sums."""
    rows = [[Fraction(weight) for weight in weights] for weights in layer.weights.tolist()]
    thresholds = [[Fraction(end) for end in ends] for ends in layer.thresholds.reshape(layer.width, -1).tolist()]
    if layer.activation.is_compared:
        return _compared(rows, thresholds)
    found = [scaled(row) for row in rows]
    return Sums(
        [integers for integers, _ in found],
        [[math.ceil(end * scale) for end in ends] for (_, scale), ends in zip(found, thresholds, strict=True)],
    )


def scaled(row: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """The smallest integers in the same proportions, and the factor that gives them."""
    grid = math.lcm(*(weight.denominator for weight in row))
    integers = [int(weight * grid) for weight in row]
    common = math.gcd(*integers) or 1
    return [value // common for value in integers], Fraction(grid, common)


def _reaching(rows: list[list[Fraction]], thresholds: list[list[Fraction]]) -> Sums:
    """Each neuron on its own grid; thresholds beyond all sums are cut to the first that means the same.

    Neurons that only count get the weights of a count, which are the smallest.
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
    """All neurons on one grid. Fractions of thresholds only order equal sums, so their ranks do as well."""
    width = len(rows[0])
    flat, scale = scaled([weight for row in rows for weight in row])
    ends = [end * scale for (end,) in thresholds]
    fractions = [end - math.floor(end) for end in ends]
    ranks = {value: rank for rank, value in enumerate(sorted(set(fractions)))}
    offsets = [[len(ranks) * math.floor(end) + ranks[part]] for end, part in zip(ends, fractions, strict=True)]
    return Sums([flat[k * width : (k + 1) * width] for k in range(len(rows))], offsets, len(ranks))


def digits(value: int, n_bits: int, n_digits: int) -> list[int]:
    """The lowest first, in base 2**n_bits, each from -2**(n_bits - 1) to 2**(n_bits - 1) - 1."""
    half, mask, found = 1 << (n_bits - 1), (1 << n_bits) - 1, []
    for _ in range(n_digits):
        digit = ((value + half) & mask) - half
        found.append(digit)
        value = (value - digit) >> n_bits
    if value:
        raise OverflowError("the number has more digits")
    return found


def n_digits(largest: int, n_bits: int) -> int:
    """Enough digits for every integer up to ``largest`` in absolute value."""
    return (largest.bit_length() + 1) // n_bits + 1
