"""RowWeights: what misclassified rows weigh together, in exact integers and few different sums.

Clauses about a loss need a variable for every sum that it can have. Weights of classes, times the number of equal rows,
have few sums below a good loss, whatever their digits; sums that differ by rounding alone are made one. Where there are
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
_FINE = 40  # bits of the loss that sums are told apart by, where rounding may have made equal ones different
_COARSEST = 4  # the same, at least
_SAME = 34  # bits of losses that are equal in all but their rounding
_ROUNDING = Fraction(1, 2**50)  # of a loss
_STEPS = 64  # grains that a sum may lose in a tree of sums; 2**(_FINE - _SAME)


@dataclass(frozen=True)
class RowWeights:
    """Weights of rows as integers, and the sums below a loss.

    ``integers`` times ``unit`` are the weights, exactly. ``sums`` are those that sets of rows have below the loss, in
    order, where such as are within ``grain`` of a smaller one count as that.
    """

    loss: float
    integers: tuple[int, ...]
    unit: Fraction
    grain: int
    sums: tuple[int, ...]

    @classmethod
    def of(cls, weights: Floats, loss: float) -> RowWeights:
        """For losses below ``loss``, with as fine a grain as few sums allow."""
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
        """Whether only rounding is smoothed over: a network of the best loss can be told from better ones."""
        return self.grain <= _units_of(self.loss, self.unit) >> _FINE

    def limit_below(self, loss: float) -> int:
        """What a network that loses less can lose at most, in units; losses that differ by rounding alone are equal."""
        units = _units_of(loss, self.unit)
        return units - 1 - max(units >> _SAME, _STEPS * self.grain if self.is_exact else 0)

    def loss_of(self, total: int) -> float:
        return float(total * self.unit)

    def round_up(self, value: float) -> float:
        """The smallest loss of any rows that is not below ``value``, less some grains, or the loss that was given."""
        place = bisect_left(self.sums, _units_of(max(value, 0.0), self.unit) - len(self.integers) * self.grain)
        return self.loss_of(self.sums[place]) if place < len(self.sums) else self.loss

    def heavy(self, rows: Iterable[int], limit: int) -> list[int]:
        """As few of the rows as weigh more than ``limit`` units together; none if all of them do not."""
        chosen, total = [], 0
        for row in sorted(rows, key=lambda row: -self.integers[row]):
            chosen.append(row)
            total += self.integers[row]
            if total > limit:
                return chosen
        return []


def _units_of(loss: float, unit: Fraction) -> int:
    """Rounded up, but not where the loss itself was."""
    return math.ceil(Fraction(loss) * (1 - _ROUNDING) / unit)


def sums_of(integers: Sequence[int], most: int, grain: int, limit: int) -> list[int] | None:
    """All sums up to ``most``, in order, less up to a grain for each number; None if there are more than ``limit``."""
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
    """For each number the one that it counts as: the smallest of those up to a grain below it."""
    counted_as: dict[int, int] = {}
    first: int | None = None
    for total in sorted(totals):
        if first is None or total - first > grain:
            first = total
        counted_as[total] = first
    return counted_as


def few(totals: Collection[int], grain: int, limit: int) -> dict[int, int]:
    """Like :func:`spaced`, with a coarser grain where that leaves more than ``limit`` different ones."""
    while True:
        counted_as = spaced(totals, grain)
        if len(set(counted_as.values())) <= limit:
            return counted_as
        grain = 2 * grain + 1
