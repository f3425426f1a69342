"""Models on their way out of the command line: written whole, checked before, refused with a reason."""

import json

import numpy as np
import pytest

import stepnet
from exported import CERTIFICATE, fitted, needs_compiler, real
from stepnet.cli.exports import DifferingAnswersError, export_model
from stepnet.errors import InvalidInputError, StepnetError
from stepnet.export import to_c
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.network import Layer


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    estimator = fitted(
        real(np.random.default_rng(0), 3, 2), Layer([[1.0, 1.0, 1.0]], [1.5]), classes=["no", "yes"], names=["a", "b"]
    )
    assert estimator.certificate_ == CERTIFICATE
    stepnet.save(estimator, tmp_path / "my-model.json")
    rows = np.random.default_rng(1).normal(0, 1, (50, 2))
    lines = [f"{i},{b!r},{a!r}" for i, (a, b) in enumerate(rows.tolist())]
    (tmp_path / "rows.csv").write_text("\n".join(["number,b,a", *lines]) + "\n")
    return tmp_path / "my-model.json"


@pytest.mark.parametrize(
    ("to", "name"),
    [("c", "my-model.c"), ("onnx", "my-model.onnx"), ("json", "my-model_network.json"), ("rules", "my-model.txt")],
)
def test_a_model_is_written_under_its_name(model, to, name, capsys):
    export_model(model, to, None, "floats", None, "float64")
    assert (model.parent / name).stat().st_size > 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{name}: StepClassifier as {to}")
    assert ("bytes in total" in printed) == (to == "c")


@needs_compiler
@pytest.mark.parametrize("to", ["c", "onnx"])
def test_a_table_is_checked_by_the_names_of_its_columns(model, to, capsys):
    export_model(model, to, model.parent / "out.file", "floats", model.parent / "rows.csv", "float64")
    assert "50 rows, 0 differ" in capsys.readouterr().out


@needs_compiler
def test_nothing_is_written_where_answers_differ(model, monkeypatch):
    other = fitted(real(np.random.default_rng(5), 3, 2), Layer([[1.0, 1.0, 1.0]], [1.5]), classes=["no", "yes"])
    wrong = to_c(other)
    monkeypatch.setattr("stepnet.export.to_c", lambda *_, **__: wrong)
    with pytest.raises(DifferingAnswersError, match=r"\d+ of 50 rows"):
        export_model(model, "c", None, "floats", model.parent / "rows.csv", "float64")
    assert not (model.parent / "my-model.c").exists()
    assert issubclass(DifferingAnswersError, StepnetError)


@pytest.mark.parametrize(
    ("to", "inputs", "check", "dtype", "match"),
    [
        ("java", "floats", None, "float64", "choose one of c, onnx, json, rules"),
        ("onnx", "bits", None, "float64", "--inputs bits is for --to c"),
        ("c", "floats", None, "float32", "--dtype float32 is for --to onnx"),
        ("rules", "floats", "rows.csv", "float64", "does not run"),
        ("c", "floats", "missing.csv", "float64", "no file"),
        ("c", "integers", None, "float64", "weights='ternary'"),
    ],
)
def test_what_does_not_go_together_is_refused(model, to, inputs, check, dtype, match):
    with pytest.raises(InvalidInputError, match=match):
        export_model(model, to, None, inputs, check and model.parent / check, dtype)
    assert sorted(path.name for path in model.parent.iterdir()) == ["my-model.json", "rows.csv"]


def test_the_model_itself_is_not_written_over(model):
    before = model.read_text()
    with pytest.raises(InvalidInputError, match="the model file itself"):
        export_model(model, "json", model, "floats", None, "float64")
    with pytest.raises(InvalidInputError, match="does not exist"):
        export_model(model, "json", model.parent / "no" / "file", "floats", None, "float64")
    assert model.read_text() == before
    assert json.loads(before)["format"] == "stepnet model"


@needs_compiler
def test_a_regressor_without_names_takes_a_table_of_its_features(tmp_path):
    rng = np.random.default_rng(0)
    stepnet.save(fitted(real(rng, 3, 2), real(rng, 1, 3, IDENTITY)), tmp_path / "m.json")
    (tmp_path / "rows.csv").write_text("u,v\n1,2\n-1,0.5\n")
    export_model(tmp_path / "m.json", "c", tmp_path / "1 m.c", "floats", tmp_path / "rows.csv", "float64")
    assert "void model_1_m_predict(const double *x, double *y)" in (tmp_path / "1 m.c").read_text()
    (tmp_path / "rows.csv").write_text("u,v,w\n1,2,3\n")
    with pytest.raises(InvalidInputError, match="3 columns, the model 2 features"):
        export_model(tmp_path / "m.json", "c", None, "floats", tmp_path / "rows.csv", "float64")
