"""The JSON export is what its schema says, and anyone can compute its answers in a few lines."""

import json
from fractions import Fraction

import jsonschema
import numpy as np
import pytest

from exported import ACTIVATIONS, fitted, hard_rows, real, whole
from stepnet.errors import InvalidInputError
from stepnet.export import to_json, to_rules
from stepnet.export.json_file import SCHEMA
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import Staircase
from stepnet.model.network import Layer
from stepnet.tables.columns import Column, Columns
from stepnet.tables.operations import OPERATIONS

NETWORKS = {
    "real": lambda rng: (real(rng, 5, 3), real(rng, 1, 5)),
    "argmax": lambda rng: (whole(rng, 5, 3), whole(rng, 4, 5, ARGMAX)),
    "ordinal": lambda rng: (real(rng, 5, 3), real(rng, 1, 5, Staircase((0.0, 1.0, 2.0)))),
    "numbers": lambda rng: (real(rng, 5, 3), real(rng, 2, 5, IDENTITY)),
} | {name: lambda rng, a=activation: (real(rng, 4, 3, a), real(rng, 1, 4)) for name, activation in ACTIVATIONS.items()}


def read_and_answer(text, row):
    """A reader that knows nothing but the file."""
    content = json.loads(text)
    for i, feature in enumerate(content["features"]):
        for name, number in feature.get("arithmetic", ()):
            row[i] = OPERATIONS[name].apply(row[i], number)
    signals = [Fraction(x) for x in row]
    for layer in content["layers"]:
        sums = [sum(Fraction(w) * h for w, h in zip(weights, signals, strict=True)) for weights in layer["weights"]]
        if layer["activation"] != "levels":
            scores = [s - Fraction(ends[0]) for s, ends in zip(sums, layer["thresholds"], strict=True)]
            return scores if layer["activation"] == "identity" else content["classes"][scores.index(max(scores))]
        levels = [sum(Fraction(t) <= s for t in ends) for s, ends in zip(sums, layer["thresholds"], strict=True)]
        signals = [Fraction(layer["values"][level]) for level in levels]
    return content["classes"][levels[0]]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_reader_of_a_few_lines_gives_the_same_answers(name):
    rng = np.random.default_rng(0)
    model = fitted(*NETWORKS[name](rng))
    rows = hard_rows(rng, model.network_.layers[0], 12)
    answers = [read_and_answer(to_json(model), row) for row in rows.tolist()]
    if name == "numbers":
        np.testing.assert_array_equal(np.array(answers, dtype=float), model.predict(rows))
    else:
        assert answers == model.predict(rows).tolist()


def test_scaled_features_bring_their_operations():
    model = fitted(Layer([[0.3, -0.7]], [0.1]), names=["a", "b"])
    model.columns_ = Columns((Column("a", arithmetic=((("subtract", 0.1), ("divide", 0.3)),)), Column("b")))
    content = json.loads(to_json(model))
    assert content["meaning"].startswith("First, each feature goes through the operations")
    assert [one["arithmetic"] for one in content["features"]] == [[["subtract", 0.1], ["divide", 0.3]], []]
    jsonschema.validate(content, json.loads(SCHEMA.read_text(encoding="utf-8")))
    rows = np.random.default_rng(0).normal(0, 1, (50, 2))
    answers = [read_and_answer(to_json(model), row) for row in rows.tolist()]
    assert answers == model.predict(model.columns_.after_operations(rows)).tolist()


@pytest.mark.parametrize("name", NETWORKS)
def test_the_file_is_what_the_schema_says(name):
    content = json.loads(to_json(fitted(*NETWORKS[name](np.random.default_rng(0)))))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(content, schema)
    for damage in ({"version": 1}, {"layers": []}, {"extra": 1}, {"classes": ["one"]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(content | damage, schema)


def test_features_and_certificate_are_in_it():
    content = json.loads(to_json(fitted(Layer([[1.0, 2.0]], [0.5]), classes=["a", "b"], names=["age", "größe"])))
    assert content["features"] == [{"name": "age", "description": "age"}, {"name": "größe", "description": "größe"}]
    assert content["classes"] == ["a", "b"]
    assert content["certificate"]["loss"] == 3.0


def test_sentences_of_columns_describe_the_features():
    model = fitted(Layer([[1.0]], [0.5]), names=["color_red"])
    model.columns_ = Columns((Column("color", "one_hot", ("red",)),))
    assert json.loads(to_json(model))["features"] == [
        {"name": "color_red", "description": "1 where color is 'red', else 0"}
    ]
    assert "color_red: 1 where color is 'red', else 0\n" in to_rules(model)


def test_classes_without_a_form_in_json_are_refused():
    model = fitted(Layer([[1.0]], [0.5]), classes=np.array([b"a", b"b"], dtype=object))
    with pytest.raises(InvalidInputError, match="classes must be numbers"):
        to_json(model)
