"""RowWeights: the total weights of misclassified rows, in exact integers and few distinct sums.

Clauses about a loss need a variable for every value it can have. Class weights, times the number of equal rows,
have few sums below a good loss, whatever their digits; sums that differ only by rounding are merged. If there are
still too many, sums closer than a grain count as the smallest of them: all bounds remain true.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from stepnet.model.arithmetic import Floats, quantum

MOST_SUMS = 100
_FINE = 40  # bits of the loss that distinguish sums, since rounding may have made equal ones different
_COARSEST = 4  # the same, at the least
_SAME = 34  # bits in which losses agree that differ only by rounding
_ROUNDING = Fraction(1, 2**50)  # relative, of a loss
_STEPS = 64  # grains that a sum may lose in a tree of sums; 2**(_FINE - _SAME)


@dataclass(frozen=True)
class RowWeights:
    """Row weights as integers, and their sums below a loss.

    ``integers`` times ``unit`` are the weights, exactly. ``sums`` are the sums of sets of rows below the loss, in
    order; those within ``grain`` of a smaller one count as that one.
    """

    loss: float
    integers: tuple[int, ...]
    unit: Fraction
    grain: int
    sums: tuple[int, ...]

    @classmethod
    def of(cls, weights: Floats, loss: float) -> RowWeights:
        """For losses below ``loss``, with the finest grain that leaves few sums."""
        unit = Fraction(2) ** quantum(weights)
        integers = [int(Fraction(weight) / unit) for weight in weights.tolist()]
        common = math.gcd(*integers)
        integers, unit = [value // common for value in integers], unit * common
        most = _units_of(loss, unit) - 1
        for bits in range(_FINE, _COARSEST - 1, -1):
            grain = max(most, 0) >> bits  # none for small integers
            sums = sums_of(integers, most, grain, MOST_SUMS)
            if sums is not None:
                return cls(loss, tuple(integers), unit, grain, tuple(sums))
        raise AssertionError("a coarse grain leaves few sums")

    @property
    def is_exact(self) -> bool:
        """Whether only rounding is smoothed, so that a network of the best loss differs from better ones."""
        return self.grain <= _units_of(self.loss, self.unit) >> _FINE

    def limit_below(self, loss: float) -> int:
        """The largest loss below ``loss``, in units; losses that differ only by rounding are equal."""
        units = _units_of(loss, self.unit)
        return units - 1 - max(units >> _SAME, _STEPS * self.grain if self.is_exact else 0)

    def loss_of(self, total: int) -> float:
        return float(total * self.unit)

    def round_up(self, value: float) -> float:
        """The smallest sum that is not below ``value``, less some grains; the given loss if there is none."""
        place = bisect_left(self.sums, _units_of(max(value, 0.0), self.unit) - len(self.integers) * self.grain)
        return self.loss_of(self.sums[place]) if place < len(self.sums) else self.loss

    def heavy(self, rows: Iterable[int], limit: int) -> list[int]:
        """As few of the rows as weigh more than ``limit`` units together; none if all of them weigh no more."""
        chosen, total = [], 0
        for row in sorted(rows, key=lambda row: -self.integers[row]):
            chosen.append(row)
            total += self.integers[row]
            if total > limit:
                return chosen
        return []


def _units_of(loss: float, unit: Fraction) -> int:
    """A loss in units, rounded up unless only its own rounding puts it above an integer."""
    return math.ceil(Fraction(loss) * (1 - _ROUNDING) / unit)


def sums_of(integers: Sequence[int], most: int, grain: int, limit: int) -> list[int] | None:
    """All sums up to ``most``, in order, each reduced by up to a grain per number; None if more than ``limit``."""
    found = [0] if most >= 0 else []
    for value, count in Counter(integers).items():
        for _ in range(count):
            merged = spaced({*found, *(total + value for total in found if total + value <= most)}, grain)
            larger = list(dict.fromkeys(merged.values()))
            if larger == found:
                break
            if len(larger) > limit:
                return None
            found = larger
    return found


def spaced(totals: Iterable[int], grain: int) -> dict[int, int]:
    """For each number, the one that it counts as: the smallest of those up to a grain below it."""
    counted_as: dict[int, int] = {}
    first: int | None = None
    for total in sorted(totals):
        if first is None or total - first > grain:
            first = total
        counted_as[total] = first
    return counted_as


def few(totals: Collection[int], grain: int, limit: int) -> dict[int, int]:
    """Like :func:`spaced`, with a coarser grain if more than ``limit`` distinct numbers were left."""
    while True:
        counted_as = spaced(totals, grain)
        if len(set(counted_as.values())) <= limit:
            return counted_as
        grain = 2 * grain + 1
