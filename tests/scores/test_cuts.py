"""Cut points: round, and within the gap."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepnet.errors import InvalidInputError
from stepnet.scores.cuts import CutPoints

numbers = st.floats(-1e12, 1e12, allow_nan=False)


@pytest.mark.parametrize(
    ("low", "high", "is_at_least", "expected"),
    [
        (52.0, 53.0, True, 53.0),
        (52.0, 53.0, False, 52.0),
        (52.4, 53.9, True, 53.0),
        (1.0, 99.0, True, 50.0),
        (9.5, 11.0, True, 10.0),
        (-3.0, 2.0, True, 0.0),
        (0.12345, 0.12399, True, 0.1237),
    ],
)
def test_the_number_with_the_fewest_digits_stands_for_a_gap(
    low: float, high: float, is_at_least: bool, expected: float
) -> None:
    assert CutPoints.of("round").within(low, high, is_at_least=is_at_least) == expected


@given(one=numbers, other=numbers, choice=st.sampled_from(["round", "middle", 0.5, 10]), is_at_least=st.booleans())
def test_every_cut_lies_within_its_gap(one: float, other: float, choice: str | float, is_at_least: bool) -> None:
    low, high = sorted((one, other))
    if low == high:
        high = math.nextafter(high, math.inf)
    cut = CutPoints.of(choice).within(low, high, is_at_least=is_at_least)
    assert low < cut <= high if is_at_least else low <= cut < high


def test_multiples_of_a_step_are_preferred_where_there_are_any() -> None:
    assert CutPoints.of(0.25).within(1.1, 1.4, is_at_least=True) == 1.25
    assert CutPoints.of(10).within(1.1, 1.4, is_at_least=True) == 1.2


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="cut_points=-1 must be"):
        CutPoints.of(-1)
