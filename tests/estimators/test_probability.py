"""Where probabilities come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

from stepnet import Search, StepClassifier, load, save
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.model.calibration import Calibration, Isotonic, calibration_from

BRIEF = Search(moves=200, starts=1)


@pytest.fixture(scope="module")
def noisy() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 6))
    return X, (X[:, 0] + 1.5 * rng.normal(size=260) > 0).astype(int)


@pytest.mark.parametrize("probability", ["auto", "sigmoid", "isotonic"])
def test_the_more_probable_class_is_the_predicted_one(noisy: Any, probability: str) -> None:
    X, y = noisy
    for method in (BRIEF, "learn"):
        clf = StepClassifier(hidden=(3,), method=method, probability=probability, random_state=0).fit(X[:80], y[:80])
        chances = clf.predict_proba(X)
        assert ((chances[:, 1] > 0.5) == (clf.predict(X) == 1)).all()
        assert np.isfinite(clf.predict_log_proba(X)).all()
        assert chances.sum(axis=1) == pytest.approx(1.0)


def test_a_network_of_the_fewest_errors_is_not_too_sure_of_new_rows(noisy: Any) -> None:
    X, y = noisy
    clf = StepClassifier(hidden=(3,), method=BRIEF, random_state=0).fit(X[:80], y[:80])
    own = Calibration.fitted(clf.decision_function(X[:80]), y[:80], np.ones(80))
    new, codes = clf.decision_function(X[80:]), y[80:]
    assert clf.calibration_.slope < own.slope
    assert log_loss(codes, clf.calibration_.probabilities(new)) < log_loss(codes, own.probabilities(new))


def test_several_classes_have_probabilities_from_held_out_rows(noisy: Any) -> None:
    X, _ = noisy
    y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    clf = StepClassifier(hidden=(1,), method=BRIEF, random_state=0, time_limit=20).fit(X[:100], y[:100])
    chances = clf.predict_proba(X)
    assert chances.shape == (260, 3)
    assert (chances.argmax(axis=1) == clf.predict(X)).mean() > 0.99  # but for ties of values
    with pytest.raises(InvalidInputError, match="probability='isotonic' is for two classes"):
        StepClassifier(probability="isotonic").fit(X, y)


def test_an_isotonic_calibration_is_kept_in_the_file(noisy: Any, tmp_path: Path) -> None:
    X, y = noisy
    clf = StepClassifier(hidden=(3,), probability="isotonic", random_state=0).fit(X, y)
    assert isinstance(clf.calibration_, Isotonic)
    save(clf, tmp_path / "model.json")
    assert np.array_equal(load(tmp_path / "model.json").predict_proba(X), clf.predict_proba(X))
    moved = clf.with_threshold(0.1, X, y)
    assert np.allclose(moved.calibration_.shares, clf.calibration_.shares)


def test_none_leaves_probabilities_out(noisy: Any) -> None:
    X, y = noisy
    clf = StepClassifier(hidden=(2,), probability=None, random_state=0).fit(X, y)
    with pytest.raises(InvalidInputError, match="Fit with probability='auto'"):
        clf.predict_proba(X)
    with pytest.raises(InvalidInputError, match="probability='platt' is not known"):
        StepClassifier(probability="platt").fit(X, y)


def test_a_damaged_isotonic_calibration_is_refused() -> None:
    for data in ({"values": [1.0, 0.0], "shares": [0.1, 0.2]}, {"values": [], "shares": []}, {"shares": 3}):
        with pytest.raises(ModelFileError, match="calibration in the file is damaged"):
            calibration_from(data)
