"""The rules say in words what the network computes."""

import itertools
import re

import numpy as np
import pytest

from exported import ACTIVATIONS, fitted, real
from stepnet.activation import ARGMAX, IDENTITY, SIGN, STEP, Staircase
from stepnet.export import to_rules
from stepnet.network import Layer

HIDDEN = Layer([[0.5, 1.0], [1.0, -1.0], [0.0, 2.0]], [3.2, 0.0, 1.0])


def with_output(weights, threshold, hidden=HIDDEN):
    return fitted(
        hidden, Layer([weights], [threshold]), classes=["benign", "malignant"], names=["mitoses", "cell_size"]
    )


def test_neurons_are_inequalities_over_named_features():
    text = to_rules(with_output([1.0, 1.0, 1.0], 0.5))
    assert "h1 is on where 0.5·mitoses + cell_size >= 3.2\n" in text
    assert "h2 is on where mitoses - cell_size >= 0\n" in text
    assert "h3 is on where 2·cell_size >= 1\n" in text
    assert "All numbers are exact." in text


@pytest.mark.parametrize(
    ("weights", "threshold", "rule"),
    [
        ([1, 1, 1], 0.5, "where h1 or h2 or h3;"),
        ([1, 1, 1], 2.5, "where h1 and h2 and h3;"),
        ([1, 1, 1], 1.5, "where at least 2, a majority, of these 3: h1, h2, h3;"),
        ([1, -1, 1], 0.5, "where at least 2, a majority, of these 3: h1, not h2, h3;"),
        ([0.3, 0.4, 0.35], 0.6, "where at least 2, a majority, of these 3: h1, h2, h3;"),
        ([-1, 0, 0], 0, "where not h1;"),
        ([3, 1, 1], 2.5, "where 3·h1 + h2 + h3 >= 2.5;"),
        ([1, 1, 1], 4, "never;"),
        ([1, 1, 1], 0, "always;"),
        ([0, 0, 0], 0, "always;"),
    ],
)
def test_outputs_that_count_are_said_as_counts(weights, threshold, rule):
    assert f"malignant {rule} otherwise benign." in to_rules(with_output(weights, threshold))


def test_counts_say_what_the_neuron_computes():
    """The words are read back and compared with the neuron on all bits, for random weights."""
    rng = np.random.default_rng(0)
    n_counted = 0
    for values in (STEP, SIGN):
        for _ in range(150):
            layer = Layer(rng.integers(-2, 3, (1, 4)), [rng.integers(-4, 5) + rng.choice([0, 0.5])])
            text = to_rules(fitted(Layer(np.eye(4), np.full(4, 0.5), values), layer, classes=["no", "yes"]))
            rule = re.search(r"^yes (.*); otherwise no\.$", text, re.MULTILINE)[1]
            for bits in itertools.product((0, 1), repeat=4):
                expected = layer.weights[0] @ np.array(values.values)[list(bits)] >= layer.thresholds[0]
                holds = read(rule, bits)
                n_counted += holds is not None
                assert holds is None or holds == expected, (rule, bits)
    assert n_counted > 2000


def read(rule, bits):
    if rule in ("always", "never"):
        return rule == "always"
    if ">=" in rule:
        return None
    conditions = [
        bits[int(j) - 1] == (value == "1" if value else not negated)
        for negated, j, value in re.findall(r"(not )?\bh(\d)(?: is (-?1))?", rule)
    ]
    least = re.search(r"at least (\d)", rule)
    return sum(conditions) >= (int(least[1]) if least else 1 if " or " in rule else len(conditions))


def test_neurons_that_nothing_looks_at_are_left_out():
    text = to_rules(with_output([1.0, 0.0, 1.0], 0.5))
    assert "h2 is on" not in text
    assert "Left out, since nothing looks at them: h2." in text
    deep = fitted(HIDDEN, Layer([[1, 1, 0], [0, 0, 1]], [1, 1]), Layer([[1, 0]], [1]))
    assert "h1.3 is on" not in to_rules(deep)
    assert "looks at them: h1.3." in to_rules(deep)


def test_rounded_numbers_are_said_to_be():
    assert "rounded to 6 digits" in to_rules(with_output([1 / 3, 1.0, 1.0], 0.5))


def test_several_classes_and_numbers():
    rng = np.random.default_rng(0)
    scores = to_rules(
        fitted(HIDDEN, Layer([[1, 0, 0], [0, 1, -1], [0, 0, 1]], [0, 1, 0], ARGMAX), classes=["a", "b", "c"])
    )
    assert "score of b = h2 - h3 - 1" in scores
    assert "largest score answers, the first of equal ones" in scores
    ordinal = to_rules(fitted(HIDDEN, Layer([[1, 1, 1]], [[1, 2]], Staircase((0, 1, 2))), classes=["a", "b", "c"]))
    assert "a = h1 + h2 + h3\na; b from a >= 1; c from a >= 2;" in ordinal
    assert "y = 2·h1 - h3 + 0.5\n" in to_rules(fitted(HIDDEN, Layer([[2, 0, -1]], [-0.5], IDENTITY)))
    stairs = to_rules(fitted(real(rng, 2, 2, ACTIVATIONS["stairs"]), real(rng, 1, 2)))
    assert re.search(r"h1 is 0, 1 from a >= \S+, 2 from a >= \S+, 3 from a >= \S+, where a = ", stairs)


def test_names_stay_on_their_line():
    text = to_rules(fitted(Layer([[1.0]], [0.5]), classes=["a\nb", "c"], names=["x\r\ny"]))
    assert "c where x\\r\\ny >= 0.5; otherwise a\\nb." in text
