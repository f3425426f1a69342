"""Exported files take the features that answers depend on, or all, and say which."""

import json
import re

import numpy as np
import pytest

from exported import ACTIVATIONS, fitted, needs_compiler, real, whole
from stepnet.errors import InvalidInputError
from stepnet.export import ExportError, check_export, run_c, run_onnx, size_of, to_c, to_json, to_onnx, to_rules
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.network import Layer

NAMES = ["a", "b", "c", "d", "e"]
EXPORTS = {"c": to_c, "onnx": to_onnx}


def without(layer, *features):
    weights = layer.weights.copy()
    weights[:, list(features)] = 0.0
    return layer.with_(weights, layer.thresholds)


def sparse(kind="step"):
    """Feature b has no weight, and d only in a neuron that reaches no answer."""
    rng = np.random.default_rng(0)
    first = without(real(rng, 4, 5, ACTIVATIONS.get(kind, ACTIVATIONS["step"])), 1)
    weights = first.weights.copy()
    weights[:3, 3] = 0.0
    above = without(real(rng, 3, 4, ARGMAX if kind == "argmax" else IDENTITY if kind == "numbers" else ARGMAX), 3)
    return fitted(first.with_(weights, first.thresholds), above, names=NAMES)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("to", EXPORTS)
@pytest.mark.parametrize("kind", ["step", "sign", "stairs", "odd", "argmax", "numbers"])
def test_a_file_gives_the_same_answers_without_the_unused_columns(kind, to):
    model, X = sparse(kind), np.random.default_rng(1).normal(0, 1, (200, 5))
    assert model.network_.used_features == (0, 2, 4)
    for columns in ("used", "all"):
        assert check_export(model, EXPORTS[to](model, columns=columns), to, X) == 0
    run = {"c": run_c, "onnx": run_onnx}[to]
    answers = run(EXPORTS[to](model), X[:, [0, 2, 4]])
    assert answers.astype(str).tolist() == run(EXPORTS[to](model, columns="all"), X).astype(str).tolist()


@needs_compiler
@pytest.mark.parametrize("inputs", ["integers", "bits"])
def test_files_without_floats_leave_columns_out_too(inputs):
    rng = np.random.default_rng(2)
    model = fitted(without(whole(rng, 5, 40), *range(3, 37)), whole(rng, 1, 5))
    X = rng.integers(0, 2, (200, 40))
    for columns in ("used", "all"):
        assert check_export(model, to_c(model, inputs=inputs, columns=columns), "c", X) == 0
    assert size_of(model, inputs).bytes < size_of(model, inputs, "all").bytes


def test_the_head_of_a_file_lists_its_features_in_order():
    model = sparse()
    source = to_c(model)
    head = source[source.index("Features, in order:") : source.index("Classes:")]
    assert re.findall(r"\d  (\w)$", head, re.MULTILINE) == ["a", "c", "e"]
    assert "No answer depends on the other 2 of the model's 5 features." in head
    assert "enum { model_n_features = 3 };" in source
    assert "No answer" not in to_c(model, columns="all")
    assert [one["name"] for one in json.loads(to_json(model))["features"]] == ["a", "c", "e"]
    assert [one["name"] for one in json.loads(to_json(model, columns="all"))["features"]] == NAMES
    assert "No answer depends on the other 2" in to_rules(model)
    onnx = pytest.importorskip("onnx").load_from_string(to_onnx(model))
    assert "The features are a, c, e. No answer depends on the other 2" in onnx.doc_string


def test_nothing_changes_for_a_network_that_uses_all_features():
    model = fitted(real(np.random.default_rng(0), 3, 4))
    assert to_c(model) == to_c(model, columns="all")
    assert to_json(model) == to_json(model, columns="all")


@needs_compiler
@pytest.mark.parametrize(
    "layer", [Layer([[0.0, 0.0]], [0.5]), Layer([[0.3, 0.0, 0.1]], [0.5], IDENTITY)], ids=["constant", "linear"]
)
def test_files_that_cannot_do_with_fewer_take_all(layer):
    model = fitted(layer)
    X = np.random.default_rng(0).normal(0, 1, (50, model.n_features_in_))
    assert to_c(model) == to_c(model, columns="all")
    assert check_export(model, to_c(model), "c", X) == 0


def test_other_choices_and_other_files_are_refused():
    model = sparse()
    with pytest.raises(InvalidInputError, match="columns='few' is not known; choose 'used' or 'all'"):
        to_c(model, columns="few")
    other = fitted(real(np.random.default_rng(0), 3, 4))
    with pytest.raises(ExportError, match="takes 4 features; it is not one of this model"):
        check_export(model, to_c(other), "c", np.zeros((1, 5)))
    with pytest.raises(InvalidInputError, match="rows of 5 features"):
        check_export(model, to_c(model), "c", np.zeros((1, 3)))
