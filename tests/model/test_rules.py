"""What is said of a neuron is what it computes."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN, STEP, Staircase
from stepnet.model.network import Layer, Network
from stepnet.model.rules import Words, at_least, hidden_names

PLAIN, SHORT = Words(), Words(digits=4, most_terms=30, is_scaled=True)
BITS = (0.0, 1.0)


@pytest.mark.parametrize(
    ("weights", "threshold", "words"),
    [
        ([1.0, -2.0, 0.0], 3.0, "-2·q + p ≥ 3"),
        ([0.5, -0.25, 0.0], 1.0, "0.5·p - 0.25·q ≥ 1"),
        ([2.0, 0.0, 0.0], 1.0, "2·p ≥ 1"),
        ([0.0, -2.0, 0.0], 3.0, "2·q ≤ -3"),
        ([0.0, -1.0, 0.0], 0.0, "q ≤ 0"),
        ([-1.0, -0.5, 0.0], -1.5, "p + 0.5·q ≤ 1.5"),
        ([0.0, 0.0, 0.0], 0.0, "always"),
        ([0.0, 0.0, 0.0], 0.1, "never"),
    ],
)
def test_conditions_over_numbers_are_inequalities(weights, threshold, words):
    assert words == PLAIN.condition(weights, threshold, ["p", "q", "r"])


@pytest.mark.parametrize(
    ("weights", "threshold", "words"),
    [
        ([0.5, -0.25, 0.0], 1.0, "p - 0.5·q ≥ 2"),
        ([3.0, -2.0, 1.0], 1.0, "3·p - 2·q + r ≥ 1"),
        ([2.0, 0.0, 0.0], 1.0, "p ≥ 0.5"),
        ([0.0, -0.5, 0.0], 3.0, "q ≤ -6"),
    ],
)
def test_scaled_sums_begin_with_weight_one(weights, threshold, words):
    assert SHORT.condition(weights, threshold, ["p", "q", "r"]) == words


@pytest.mark.parametrize(
    ("weights", "threshold", "words"),
    [
        ([1, 1, 1], 0.5, "p or q or r"),
        ([1, 1, 1], 2.5, "p and q and r"),
        ([1, 1, 1], 1.5, "at least 2, a majority, of these 3: p, q, r"),
        ([0.1, 0.1, -0.1], 0.05, "at least 2, a majority, of these 3: p, q, not r"),
        ([0.3, 0.4, 0.35], 0.6, "at least 2, a majority, of these 3: p, q, r"),
        ([1.0, 0.71, 0.0], 1.35, "p and q"),
        ([-1, -1, 0], -0.5, "not p and not q"),
        ([-1, 0, 0], 0, "not p"),
        ([3, 1, 1], 1.5, "3·p + q + r ≥ 1.5"),
        ([1, 1, 1], 4, "never"),
        ([1, 1, 1], 0, "always"),
    ],
)
def test_conditions_over_bits_are_counts_where_they_can_be(weights, threshold, words):
    assert PLAIN.condition(weights, threshold, ["p", "q", "r"], BITS) == words


@pytest.mark.parametrize("activation", [STEP, SIGN, Staircase((1.0, -1.0))])
def test_counts_hold_for_the_very_bits_the_neuron_is_on_for(activation):
    """The words are read back and compared with the neuron, for random weights."""
    rng, n_counted = np.random.default_rng(0), 0
    for _ in range(150):
        weights, threshold = rng.integers(-2, 3, 4), rng.integers(-4, 5) + rng.choice([0, 0.5])
        rule = PLAIN.condition(weights.tolist(), threshold, ["h1", "h2", "h3", "h4"], activation.values)
        for bits in itertools.product((0, 1), repeat=4):
            inputs = np.array(activation.values)[list(bits)]
            expected = Network((Layer(weights[None], [threshold]),)).predict(inputs[None])[0]
            holds = read(rule, inputs)
            n_counted += holds is not None
            assert holds is None or holds == expected, (rule, bits)
    assert n_counted > 1000


def read(rule, inputs):
    """Whether a rule holds for inputs of two values; None where it is an inequality."""
    if rule in ("always", "never"):
        return rule == "always"
    if "≥" in rule or "≤" in rule:
        return None
    conditions = [
        inputs[int(j) - 1] == (float(value) if value else not negated)
        for negated, j, value in re.findall(r"(not )?\bh(\d)(?: is (-?1))?", rule)
    ]
    least = re.search(r"at least (\d)", rule)
    return sum(conditions) >= (int(least[1]) if least else 1 if " or " in rule else len(conditions))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=5), st.integers(-12, 12))
def test_counts_are_found_where_there_are_any_and_nowhere_else(weights, end):
    used = [weight for weight in weights if weight]
    reached = {}  # by the number of conditions that hold
    for bits in itertools.product((0, 1), repeat=len(used)):
        n_held = sum(bit == (weight > 0) for bit, weight in zip(bits, used, strict=True))
        reached.setdefault(n_held, set()).add(sum(w * b for w, b in zip(used, bits, strict=True)) >= end)
    is_count = all(len(answers) == 1 for answers in reached.values())
    count = at_least(weights, end)
    assert (count is not None) == is_count
    if count is not None:
        assert all(answers == {n_held >= count} for n_held, answers in reached.items())


def test_long_sums_begin_with_their_largest_terms():
    names = [f"x{i}" for i in range(1, 41)]
    text = SHORT.sum([*range(1, 41), -7], [*names, ""])
    assert text.startswith("40·x40 + 39·x39 + ")
    assert text.endswith(" + 10 smaller terms - 7")
    assert SHORT.condition([1.0] * 40, 3, names, BITS).endswith("x29, x30, and 10 more")
    assert PLAIN.sum([0.0, 0.0], ["p", "q"]) == "0"


def test_rules():
    stairs = Staircase((0, 1, 2))
    assert PLAIN.rule(STEP, [1.0], [0.5], ["p"]) == "on where p ≥ 0.5"
    assert PLAIN.rule(SIGN, [1.0], [0.5], ["p"]) == "1 where p ≥ 0.5, else -1"
    assert PLAIN.rule(STEP, [0.0], [0.5], ["p"]) == "always off"
    assert PLAIN.rule(STEP, [0.0], [0.0], ["p"], answers=("no", "yes")) == "always yes"
    assert PLAIN.rule(STEP, [1.0], [0.5], ["h1"], values=BITS, answers=("no", "yes")) == "yes where h1, else no"
    assert PLAIN.rule(stairs, [1.0], [0.5, 1.5], ["p"]) == "0; 1 from 0.5 on, 2 from 1.5 on; of p"
    assert PLAIN.rule(stairs, [1.0], [0.5, 1.5], ["p"], answers=("low", "mid", "top")).startswith("low; mid from 0.5")
    assert PLAIN.rule(IDENTITY, [2.0, -1.0], [3.0], ["p", "q"]) == "2·p - q - 3"
    assert PLAIN.rule(ARGMAX, [0.0, 0.0], [-0.5], ["p", "q"]) == "0.5"


def test_names_that_look_like_templates_stay_as_they_are():
    assert PLAIN.condition([1.0, -1.0], 0.5, ["{0}", "{"], BITS) == "{0} and not {"


def test_rounded_numbers_are_known():
    assert PLAIN.is_rounded(1 / 3)
    assert not PLAIN.is_rounded(0.125)
    assert not PLAIN.is_rounded(123456789.0)


def test_neurons_are_named_by_layer_where_there_are_several():
    assert hidden_names((2, 1), 0) == ["h1", "h2"]
    assert hidden_names((2, 3, 1), 1) == ["h2.1", "h2.2", "h2.3"]
