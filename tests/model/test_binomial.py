"""Exact binomial bounds, against sums of binomial probabilities in rational numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from stepnet.model.binomial import at_least, at_most, clopper_pearson


def tail(count: int, total: int, share: Fraction) -> Fraction:
    """The probability of at most ``count`` of ``total``."""
    return sum((comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(count + 1)), Fraction(0))


@pytest.mark.parametrize(("count", "total"), [(0, 1), (0, 30), (3, 30), (29, 30), (7, 140)])
def test_beyond_the_bound_so_few_would_have_the_stated_probability(count: int, total: int) -> None:
    bound = Fraction(at_most(count, total, 0.95))
    assert float(tail(count, total, bound)) == pytest.approx(0.05, rel=1e-9)
    assert at_least(total - count, total, 0.95) == 1 - at_most(count, total, 0.95)


def test_nothing_can_be_said_where_all_or_none_are_counted() -> None:
    assert at_most(5, 5) == 1.0
    assert at_least(0, 5) == 0.0
    assert clopper_pearson(0, 5)[0] == 0.0
    assert clopper_pearson(5, 5)[1] == 1.0


def test_the_two_sided_interval_has_the_one_sided_bounds_of_half_the_rest() -> None:
    low, high = clopper_pearson(4, 20, 0.9)
    assert high == pytest.approx(at_most(4, 20, 0.95))
    assert low == pytest.approx(at_least(4, 20, 0.95))
