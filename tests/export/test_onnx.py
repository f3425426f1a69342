"""Exported ONNX models give the answers of predict away from hyperplanes, and state the distance."""

import json
import sys

import numpy as np
import pytest

from exported import ACTIVATIONS, autoencoder, fitted, hard_rows, real, whole
from stepnet.errors import InvalidInputError, MissingExtraError
from stepnet.export import check_export, doubt, run_onnx, to_onnx
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP, Staircase
from stepnet.model.arithmetic import quantum
from stepnet.model.network import Layer

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")


def wide_spread(rng, width, n_inputs, activation=STEP):
    layer = real(rng, width, n_inputs, activation)
    return layer.with_(layer.weights * 2.0 ** rng.integers(-60, 60, layer.weights.shape), layer.thresholds)


NETWORKS = {
    "one neuron": lambda rng: (real(rng, 1, 3),),
    "real": lambda rng: (real(rng, 5, 3), real(rng, 1, 5)),
    "ternary": lambda rng: (whole(rng, 40, 3), whole(rng, 1, 40)),
    "wide spread": lambda rng: (whole(rng, 9, 3), wide_spread(rng, 5, 9), wide_spread(rng, 1, 5)),
    "argmax alone": lambda rng: (real(rng, 4, 3, ARGMAX),),
    "argmax": lambda rng: (real(rng, 6, 3), real(rng, 3, 6, ARGMAX)),
    "argmax of integers": lambda rng: (whole(rng, 6, 3), whole(rng, 3, 6, ARGMAX)),
    "argmax of wide spread": lambda rng: (whole(rng, 6, 3), wide_spread(rng, 4, 6, ARGMAX)),
    "ordinal": lambda rng: (real(rng, 5, 3), real(rng, 1, 5, Staircase((0.0, 1.0, 2.0)))),
} | {
    name: lambda rng, a=activation: (real(rng, 4, 3, a), real(rng, 4, 4, a), whole(rng, 1, 4))
    for name, activation in ACTIVATIONS.items()
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_answers_are_those_of_predict(name, dtype):
    rng = np.random.default_rng(len(name))
    model = fitted(*NETWORKS[name](rng))
    rows = np.vstack([rng.normal(0, 1, (500, 3)), rng.integers(-3, 4, (500, 3))]).astype(np.float32)
    if dtype == "float32":  # rows in doubt may differ, and only those
        rows = rows[distances(model, rows) > doubt(model, largest=np.abs(rows).max(), dtype=dtype)]
    assert len(rows) > 500
    assert check_export(model, to_onnx(model, dtype=dtype), "onnx", rows) == 0


def distances(model, rows):
    """To the nearest hyperplane of the first layer."""
    layer = model.network_.layers[0]
    weights, ends = layer.weights, layer.thresholds.reshape(layer.width, -1)
    if layer.activation == ARGMAX:
        k, j = np.triu_indices(layer.width, 1)
        weights, ends = weights[k] - weights[j], ends[k] - ends[j]
    lengths = np.linalg.norm(weights, axis=1)
    away = np.abs((rows.astype(float) @ weights.T)[:, :, None] - ends) / np.where(lengths > 0, lengths, 1)[:, None]
    away[:, lengths == 0] = np.inf
    return away.min(axis=(1, 2))


@pytest.mark.parametrize("name", ["wide spread", "argmax of wide spread", "odd", "stairs", "real"])
def test_layers_above_the_first_are_exact(name):
    """Every pattern of bits, by a first layer that hands its rows on."""
    rng = np.random.default_rng(1)
    _, *above = NETWORKS[name](rng)
    n = above[0].weights.shape[1]
    model = fitted(Layer(np.eye(n), np.full(n, 0.5)), *above)
    rows = np.array(np.meshgrid(*[[0.0, 1.0]] * n)).reshape(n, -1).T
    assert check_export(model, to_onnx(model), "onnx", rows) == 0
    assert check_export(model, to_onnx(model, dtype="float32"), "onnx", rows) == 0


def test_ties_above_the_first_layer_are_kept():
    """A sum that is equal to the threshold in rationals, and not in floats."""
    weights = [0.1, 0.2, 0.3]
    end = 0.1 + 0.2 + 0.3  # rounded up: the exact sum does not reach it
    for threshold in (end, np.nextafter(end, 0)):
        model = fitted(Layer(np.eye(3), [1.0] * 3), Layer([weights], [threshold]))
        assert check_export(model, to_onnx(model), "onnx", [[1.0, 1.0, 1.0]]) == 0


@pytest.mark.parametrize("activation", ["step", "sign", "stairs"])
def test_numbers_are_those_of_predict_to_the_last_bit(activation):
    rng = np.random.default_rng(3)
    last = Layer(rng.normal(0, 1, (2, 9)) * 10.0 ** rng.integers(-9, 9, (2, 9)), rng.normal(0, 1, 2), IDENTITY)
    model = fitted(real(rng, 9, 3, ACTIVATIONS[activation]), last)
    assert check_export(model, to_onnx(model), "onnx", rng.normal(0, 1, (300, 3))) == 0
    assert "to the last bit" in onnx.load_from_string(to_onnx(model)).doc_string


def test_numbers_that_are_rounded_are_said_to_be():
    rng = np.random.default_rng(3)
    model = fitted(real(rng, 5, 3, ACTIVATIONS["odd"]), real(rng, 1, 5, IDENTITY))
    content, rows = to_onnx(model), rng.normal(0, 1, (300, 3))
    assert "they may differ in the last digits" in onnx.load_from_string(content).doc_string
    np.testing.assert_allclose(run_onnx(content, rows)[:, 0], model.predict(rows), rtol=1e-12, atol=1e-14)


def test_an_autoencoder_gives_its_reconstruction():
    rng = np.random.default_rng(0)
    model = autoencoder(real(rng, 4, 5), real(rng, 5, 4, IDENTITY))
    assert check_export(model, to_onnx(model), "onnx", rng.normal(0, 1, (100, 5))) == 0


@pytest.mark.parametrize("classes", [["no", "größer"], [3, 7], [False, True], [0.5, 1.5], np.array(["a", "b"], object)])
def test_labels_are_the_classes_themselves(classes):
    model = fitted(Layer([[1.0]], [0.5]), classes=classes)
    labels = run_onnx(to_onnx(model), [[1.0], [0.0]])
    assert labels.tolist() == [model.classes_[1], model.classes_[0]]


def test_the_model_says_what_it_is():
    model = fitted(Layer([[1.0, 0.5]], [0.25]), classes=["no", "yes"], names=["a", "b"])
    loaded = onnx.load_from_string(to_onnx(model))
    properties = {one.key: one.value for one in loaded.metadata_props}
    assert json.loads(properties["feature_names"]) == ["a", "b"]
    assert json.loads(properties["classes"]) == ["no", "yes"]
    assert json.loads(properties["certificate"])["loss"] == 3.0
    assert "margin of the training rows is 0.25" in loaded.doc_string
    assert "multiples of 2^-" in loaded.doc_string
    assert "farther than" in onnx.load_from_string(to_onnx(model, exact=False)).doc_string
    assert "rounded to float32" in onnx.load_from_string(to_onnx(model, dtype="float32")).doc_string


@pytest.mark.parametrize("name", NETWORKS)
def test_rows_on_hyperplanes_are_told_exactly(name):
    rng = np.random.default_rng(7)
    model = fitted(*NETWORKS[name](rng))
    rows = hard_rows(rng, model.network_.layers[0])
    rows_and_one = np.column_stack([rows, np.ones(len(rows))])
    sizes = np.frexp(np.abs(rows_and_one).max(axis=1))[1]
    seen = np.array([quantum(row) >= size - 100 for row, size in zip(rows_and_one, sizes, strict=True)])  # as promised
    assert seen.sum() > 200
    assert check_export(model, to_onnx(model), "onnx", rows[seen]) == 0


def test_plain_sums_are_rounded_on_hyperplanes():
    """The rows of the test before are no easy ones."""
    rng = np.random.default_rng(7)
    model = fitted(*NETWORKS["argmax alone"](rng))
    rows = hard_rows(rng, model.network_.layers[0])
    assert check_export(model, to_onnx(model, exact=False), "onnx", rows) > 0


def test_float32_cannot_be_exact():
    with pytest.raises(InvalidInputError, match="needs dtype='float64'"):
        to_onnx(fitted(Layer([[1.0]], [0.5])), dtype="float32", exact=True)


def test_doubt_covers_what_rounding_does_and_not_much_more():
    """Rows beside a hyperplane: ONNX may err below the distance only; just below it, it does for float32."""
    rng = np.random.default_rng(0)
    layer = real(rng, 1, 8)
    model, direction = fitted(layer), layer.weights[0] / np.linalg.norm(layer.weights[0])
    on = rng.normal(0, 1, (4000, 8))
    on -= ((on @ layer.weights[0] - layer.thresholds[0]) / np.linalg.norm(layer.weights[0]))[:, None] * direction
    content, far = to_onnx(model, dtype="float32"), doubt(model, largest=np.abs(on).max(), dtype="float32")
    assert check_export(model, content, "onnx", on + 1.01 * far * direction) == 0
    assert check_export(model, content, "onnx", on - 1.01 * far * direction) == 0
    assert check_export(model, content, "onnx", on - 0.01 * far * direction) > 0


def test_doubt_is_zero_where_sums_have_no_weights():
    assert doubt(fitted(Layer(np.zeros((1, 2)), [1.0]))) == 0.0


def test_equal_scores_apart_from_thresholds_are_always_in_doubt():
    assert doubt(fitted(Layer([[1.0], [1.0]], [0.1, 0.2], ARGMAX))) == np.inf


def test_wrong_weights_are_noticed():
    rng = np.random.default_rng(3)
    model, other = (fitted(*NETWORKS["real"](rng)) for _ in range(2))
    assert check_export(model, to_onnx(other), "onnx", rng.normal(0, 1, (200, 3))) > 0


def test_unknown_types_are_named():
    with pytest.raises(InvalidInputError, match="choose 'float64' or 'float32'"):
        to_onnx(fitted(Layer([[1.0]], [0.5])), dtype="float16")
    with pytest.raises(InvalidInputError, match="cannot be run"):
        check_export(fitted(Layer([[1.0]], [0.5])), "text", "onnx", [[1.0]])
    with pytest.raises(InvalidInputError, match="NaN or infinity"):
        check_export(fitted(Layer([[1.0]], [0.5])), "text", "c", [[np.nan]])


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"stepnet\[onnx\]"):
        to_onnx(fitted(Layer([[1.0]], [0.5])))
