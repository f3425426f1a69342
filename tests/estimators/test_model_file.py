"""Model files: the same estimator back, and damage is noticed."""

import json
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import stepnet
from conftest import XOR
from stepnet import (
    Constraint,
    Exact,
    Hinge,
    Integers,
    Learn,
    Lowers,
    Paper,
    Raises,
    Search,
    StepClassifier,
    StepEnsembleClassifier,
)
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.estimators.parameters import plain, restored
from stepnet.problem.weights import Real

LABELS = ["even", "odd", "odd", "even"]


@pytest.fixture
def fitted():
    return StepClassifier(hidden=(2,), method="prove", random_state=0, time_limit=20).fit(XOR, LABELS)


@pytest.mark.parametrize("labels", [LABELS, [-1, 1, 1, -1], [False, True, True, False]])
def test_a_saved_model_comes_back_the_same(labels, tmp_path):
    classifier = StepClassifier(hidden=(2,), method="prove", random_state=0, time_limit=20).fit(XOR, labels)
    stepnet.save(classifier, tmp_path / "model.json")
    again = stepnet.load(tmp_path / "model.json")
    assert again.network_ == classifier.network_
    assert again.certificate_ == classifier.certificate_
    assert again.predict(XOR).tolist() == labels
    assert again.classes_.dtype == classifier.classes_.dtype
    assert again.get_params(deep=False) == classifier.get_params(deep=False)
    assert again.verify(XOR, labels)


def test_options_come_back(tmp_path):
    method = Exact(formulation="tight", solver="highs")
    classifier = StepClassifier(hidden=(2,), weights=Integers(2), method=method, time_limit=20).fit(XOR, LABELS)
    stepnet.save(classifier, tmp_path / "model.json")
    again = stepnet.load(tmp_path / "model.json")
    assert again.weights == Integers(2)
    assert again.method.get_params() == method.get_params()
    assert again.fit(XOR, LABELS).certificate_.loss == 0


@pytest.mark.parametrize(
    "parameters",
    [
        {"hidden": np.array([2])},
        {"weights": Real()},
        {"method": Exact(formulation=Paper(two_sided=True))},
        {"method": Learn(epochs=50)},
        {"method": Search(moves=500, starts=1)},
        {"loss": Hinge(bound=5.0)},
        {"class_weight": {"even": 2.0, "odd": 1.0}},
        {"constraints": [Constraint({(np.int64(1), np.int64(0), np.int64(0)): 1.0}, lower=np.int64(0))]},
        {"sparsity": (4, None)},
        {"sparsity": "fewest"},
        {"constraints": [Raises(0), Lowers(1)], "hidden": (1,)},
        {"constraints": [Constraint({(1, 0, 0): 1.0, (1, 0, 1): -2.0}, lower=0.0, name="more")]},
    ],
)
def test_every_parameter_comes_back_in_working_order(parameters, tmp_path):
    classifier = StepClassifier(
        **{"hidden": (2,), "method": "prove", "time_limit": 10, "random_state": 0} | parameters
    ).fit(XOR, LABELS)
    stepnet.save(classifier, tmp_path / "model.json")
    again = stepnet.load(tmp_path / "model.json")
    assert again.verify(XOR, LABELS)
    assert again.fit(XOR, LABELS).network_ == classifier.network_


@pytest.mark.parametrize("value", [np.float64(np.inf), [np.nan], OrderedDict(a=np.int64(2)), Integers(3), Real()])
def test_odd_values_of_parameters_are_plain_json_and_come_back(value):
    text = json.dumps(plain(value), allow_nan=False)
    again = json.dumps(plain(restored(json.loads(text))), allow_nan=False)
    assert again == text


def test_an_ensemble_comes_back(tmp_path):
    ensemble = StepEnsembleClassifier(3, hidden=(4,), random_state=0).fit(XOR, LABELS)
    stepnet.save(ensemble, tmp_path / "model.json")
    again = stepnet.load(tmp_path / "model.json")
    assert (again.predict_proba(XOR) == ensemble.predict_proba(XOR)).all()
    assert again.verify(XOR, LABELS)


def test_probabilities_come_back(fitted, tmp_path):
    stepnet.save(fitted, tmp_path / "model.json")
    again = stepnet.load(tmp_path / "model.json")
    assert again.calibration_ == fitted.calibration_
    assert (again.predict_proba(XOR) == fitted.predict_proba(XOR)).all()


def test_a_file_of_an_earlier_version_has_answers_but_no_probabilities(fitted, tmp_path):
    stepnet.save(fitted, tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text()) | {"version": 5}
    del content["calibration"]
    (tmp_path / "model.json").write_text(json.dumps(content))
    again = stepnet.load(tmp_path / "model.json")
    assert again.predict(XOR).tolist() == LABELS
    with pytest.raises(InvalidInputError, match="Fit it again"):
        again.predict_proba(XOR)


def test_classes_that_json_cannot_hold_are_refused(tmp_path):
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-02", "2026-01-01"], dtype="datetime64[D]")
    classifier = StepClassifier(hidden=(2,), method="prove", random_state=0, time_limit=10)
    try:
        classifier.fit(XOR, days)
    except (TypeError, ValueError):
        pytest.skip("scikit-learn refuses such classes itself")
    with pytest.raises(InvalidInputError, match="numbers, text or booleans"):
        stepnet.save(classifier, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_a_network_without_hyperplanes_is_saved_as_plain_json(tmp_path):
    classifier = StepClassifier(hidden=(), method="prove", time_limit=5).fit([[0.0], [0.0], [0.0]], [0, 0, 1])
    assert classifier.certificate_.margin == np.inf or classifier.certificate_.margin >= 0
    stepnet.save(classifier, tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert "Infinity" not in text
    assert stepnet.load(tmp_path / "model.json").certificate_ == classifier.certificate_


def test_unfitted_models_are_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        stepnet.save(StepClassifier(), tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_missing_files_and_strangers_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="cannot read"):
        stepnet.load(tmp_path / "nothing.json")
    for text in ("", "{", "[1, 2]", '{"format": "other"}', "null", "\x00"):
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(ModelFileError, match=r"damaged: .*stepnet fit"):
            stepnet.load(tmp_path / "model.json")


def test_other_versions_are_named(fitted, tmp_path):
    stepnet.save(fitted, tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text()) | {"version": 99}
    (tmp_path / "model.json").write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="version 99"):
        stepnet.load(tmp_path / "model.json")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_is_noticed_or_harmless(fitted, tmp_path, data):
    """Any part replaced by anything: a ModelFileError, or a model that still works."""
    stepnet.save(fitted, tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    place, key = content, None
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        child = place[key]
        if not isinstance(child, dict | list) or not child or data.draw(st.booleans()):
            break
        place = child
    place[key] = data.draw(st.sampled_from([None, "x", -1, 1e300, [], {}, [[1]], {"a": 1}, True]))
    (tmp_path / "model.json").write_text(json.dumps(content))
    try:
        model = stepnet.load(tmp_path / "model.json")
    except ModelFileError:
        return
    assert len(model.predict(XOR)) == 4
