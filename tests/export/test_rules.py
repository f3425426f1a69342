"""The rules say in words what the network computes."""

import re

import numpy as np
import pytest

from exported import ACTIVATIONS, fitted, real
from stepnet.export import to_rules
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import Staircase
from stepnet.model.network import Layer

HIDDEN = Layer([[0.5, 1.0], [1.0, -1.0], [0.0, 2.0]], [3.2, 0.0, 1.0])


def with_output(weights, threshold, hidden=HIDDEN):
    return fitted(
        hidden, Layer([weights], [threshold]), classes=["benign", "malignant"], names=["mitoses", "cell_size"]
    )


def test_neurons_are_inequalities_over_named_features():
    text = to_rules(with_output([1.0, 1.0, 1.0], 0.5))
    assert "h1 is on where cell_size + 0.5·mitoses ≥ 3.2\n" in text
    assert "h2 is on where mitoses - cell_size ≥ 0\n" in text
    assert "h3 is on where 2·cell_size ≥ 1\n" in text
    assert "All numbers are exact." in text


@pytest.mark.parametrize(
    ("weights", "threshold", "rule"),
    [
        ([1, 1, 1], 0.5, "malignant where h1 or h2 or h3, else benign."),
        ([1, -1, 1], 0.5, "malignant where at least 2, a majority, of these 3: h1, not h2, h3, else benign."),
        ([3, 1, 1], 1.5, "malignant where 3·h1 + h2 + h3 ≥ 1.5, else benign."),
        ([1, 1, 1], 4, "always benign."),
        ([0, 0, 0], 0, "always malignant."),
    ],
)
def test_outputs_are_said_by_their_classes(weights, threshold, rule):
    assert f"\n{rule}\n" in to_rules(with_output(weights, threshold))


def test_neurons_that_no_answer_depends_on_are_left_out():
    text = to_rules(with_output([1.0, 0.0, 1.0], 0.5))
    assert "h2 is on" not in text
    assert "Left out, since no answer depends on them: h2." in text
    deep = fitted(HIDDEN, Layer([[1, 1, 0], [0, 0, 1]], [1, 1]), Layer([[1, 0]], [1]))
    assert "h1.3 is on" not in to_rules(deep)
    assert "depends on them: h1.3." in to_rules(deep)


def test_rounded_numbers_are_said_to_be():
    assert "rounded to 6 digits" in to_rules(with_output([1 / 3, 1.0, 1.0], 0.5))


def test_several_classes_and_numbers():
    rng = np.random.default_rng(0)
    scores = to_rules(
        fitted(HIDDEN, Layer([[1, 0, 0], [0, 1, -1], [0, 0, 1]], [0, 1, 0], ARGMAX), classes=["a", "b", "c"])
    )
    assert "score of b = h2 - h3 - 1" in scores
    assert "largest score is the answer, the first of equal ones" in scores
    ordinal = to_rules(fitted(HIDDEN, Layer([[1, 1, 1]], [[1, 2]], Staircase((0, 1, 2))), classes=["a", "b", "c"]))
    assert "\na; b from 1 on, c from 2 on; of h1 + h2 + h3.\n" in ordinal
    assert "y = 2·h1 - h3 + 0.5\n" in to_rules(fitted(HIDDEN, Layer([[2, 0, -1]], [-0.5], IDENTITY)))
    stairs = to_rules(fitted(real(rng, 2, 2, ACTIVATIONS["stairs"]), real(rng, 1, 2)))
    assert re.search(r"h1 is 0; 1 from \S+ on, 2 from \S+ on, 3 from \S+ on; of ", stairs)


def test_names_stay_on_their_line():
    text = to_rules(fitted(Layer([[1.0]], [0.5]), classes=["a\nb", "c"], names=["x\r\ny"]))
    assert "c where x\\r\\ny ≥ 0.5, else a\\nb." in text
