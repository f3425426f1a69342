"""Scopes are data: they print themselves, go to JSON and come back."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepnet.bounds.old_words import scope_of
from stepnet.bounds.scope import ALL_NETWORKS, Scope
from stepnet.errors import ModelFileError

SIZES = st.floats(1e-6, 1e6)
SCOPES = st.one_of(
    st.just(ALL_NETWORKS),
    st.builds(
        Scope.of_margin,
        st.one_of(st.just(0.0), SIZES),
        in_data_units=st.booleans(),
        of_thresholds=st.booleans(),
        largest_weight=st.one_of(st.none(), SIZES),
    ),
)


@given(SCOPES, st.booleans(), st.booleans())
def test_a_scope_comes_back_from_json(scope, is_perturbed, is_earlier):
    scope = scope.with_perturbed_rows() if is_perturbed else scope
    scope = scope.of_earlier_rows() if is_earlier else scope
    assert Scope.from_dict(json.loads(json.dumps(scope.to_dict()))) == scope
    assert scope.is_all == (str(scope) == "all networks")


@given(SIZES, SIZES)
def test_no_more_is_claimed_than_proven(margin, weight):
    scope = Scope.of_margin(margin, largest_weight=weight)
    assert margin * (1 - 1e-6) <= scope.margin <= margin * 1.01
    assert weight * 0.99 <= scope.largest_weight <= weight * (1 + 1e-6)


@given(SCOPES, SCOPES)
def test_what_covers_another_scope_has_no_narrower_condition(one, other):
    assert ALL_NETWORKS.covers(one)
    assert one.covers(one)
    if one.covers(other) and not one.is_all:
        assert one.margin <= other.margin
        assert (one.largest_weight or math.inf) >= (other.largest_weight or math.inf)
    assert not one.covers(ALL_NETWORKS) or one.is_all


@pytest.mark.parametrize(
    ("words", "scope"),
    [
        ("all networks", ALL_NETWORKS),
        ("networks with margin >= 0.0001", Scope(margin=0.0001)),
        ("networks with margin >= 1e-05 in the units of the data", Scope(margin=1e-05, in_data_units=True)),
        ("networks with margin and |threshold| >= 0.0002", Scope(margin=0.0002, of_thresholds=True)),
        ("all networks with last-layer weights up to 8", Scope(largest_weight=8.0)),
        (
            "networks with margin >= 0.0001 and last-layer weights up to 7.2, moved rows included on the earlier rows",
            Scope(0.0001, largest_weight=7.2, at_perturbed_rows=True, on_earlier_rows=True),
        ),
        ("networks of good will", Scope(stated="networks of good will")),
    ],
)
def test_sentences_of_0_1_0_are_read(words, scope):
    assert scope_of(words) == scope
    assert str(scope) == words.replace("moved", "perturbed")


def test_words_that_are_not_understood_cover_nothing_but_themselves():
    stated = Scope(stated="networks of good will")
    assert not stated.is_all
    assert stated.covers(stated)
    assert not stated.covers(Scope(margin=0.1))


@pytest.mark.parametrize(
    "data", [None, "all networks", {"margins": 1}, {"margin": -1.0}, {"margin": True}, {"stated": 3}, {"margin": "0"}]
)
def test_damaged_scopes_are_refused(data):
    with pytest.raises(ModelFileError, match="scope is damaged"):
        Scope.from_dict(data)
