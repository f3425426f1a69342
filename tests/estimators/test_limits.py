"""Limits: whatever the time allows, the model is complete, far better than chance, and says what was left out."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from stepnet import StepClassifier, StepEnsembleClassifier, StepRegressor, load, save
from stepnet.certificate.certificate import Certificate
from stepnet.export.json_file import to_json
from stepnet.runtime.limits import Budget

DIGITS, LABELS = (part[:600] for part in load_digits(return_X_y=True))
IRIS = load_iris(return_X_y=True)
TINY = 1e-9  # seconds: used up before the work begins


@pytest.mark.parametrize("method", ["learn", "prove", "search", "exact"])
def test_all_classes_are_told_apart_when_the_budget_ends_at_once(method):
    classifier = StepClassifier(method=method, time_limit=TINY, random_state=0).fit(DIGITS, LABELS)
    assert classifier.score(DIGITS, LABELS) > 0.8
    assert set(classifier.predict(DIGITS)) == set(range(10))
    assert classifier.certificate_.stop_reason == "time"
    assert classifier.verify(DIGITS, LABELS)


@pytest.mark.parametrize("method", ["learn", "prove", "search", "exact"])
@pytest.mark.parametrize("output", ["one_hot", "one_vs_one"])
def test_single_networks_too(method, output):
    classifier = StepClassifier(method=method, output=output, time_limit=TINY, random_state=0).fit(*IRIS)
    assert classifier.score(*IRIS) > 0.8


@pytest.mark.parametrize("method", ["prove", "search"])
def test_integer_weights_and_ordered_classes_too(method):
    X, y = IRIS
    options = {"method": method, "time_limit": TINY, "random_state": 0}
    assert StepClassifier((4,), output="ordinal", **options).fit(X, y).score(X, y) > 0.8
    X = np.round(8 * X)
    assert StepClassifier((4,), weights="ternary", **options).fit(X, y).score(X, y) > 0.8


def test_an_ensemble_is_at_least_as_good_as_linear_discriminants():
    classifier = StepEnsembleClassifier(time_limit=TINY, random_state=0).fit(DIGITS, LABELS)
    assert classifier.score(DIGITS, LABELS) > 0.8
    assert classifier.certificate_.stop_reason == "time"
    two = StepEnsembleClassifier(time_limit=TINY, random_state=0).fit(DIGITS, LABELS > 4)
    assert len(two.members_) == 1
    assert two.score(DIGITS, LABELS > 4) > 0.8


@pytest.mark.parametrize("method", ["learn", "prove", "search"])
def test_a_regressor_follows_the_linear_trend(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 3.0]
    assert StepRegressor(method=method, time_limit=TINY, random_state=0).fit(X, y).score(X, y) > 0.8


def test_constraints_hold_in_pairs_that_there_was_no_time_for():
    classifier = StepClassifier((2,), method="search", sparsity=3, time_limit=TINY, random_state=0).fit(*IRIS)
    assert all(network.n_weights <= 3 for network in classifier._pair_networks)


@pytest.fixture
def hurried(monkeypatch):
    """A fitted classifier without a margin."""
    monkeypatch.setattr("stepnet.model.network.smallest_distance", lambda *arguments: None)
    return StepClassifier((2,), method="learn", random_state=0).fit(*IRIS)


def test_a_margin_that_was_not_computed_is_unknown_everywhere(hurried, tmp_path):
    certificate = hurried.certificate_
    assert certificate.margin is None
    assert "margin unknown" in str(certificate)
    assert certificate.to_dict()["margin"] is None
    save(hurried, tmp_path / "model.json")
    assert load(tmp_path / "model.json").certificate_ == certificate
    assert json.loads(to_json(hurried))["certificate"]["margin"] is None


def test_an_infinite_margin_is_not_an_unknown_one(hurried):
    plain = hurried.certificate_.to_dict() | {"margin": "infinite"}
    certificate = Certificate.from_dict(plain)
    assert certificate.margin == np.inf
    assert certificate.to_dict() == plain


def test_null_in_older_files_is_an_infinite_margin(hurried, tmp_path):
    save(hurried, tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text()) | {"version": 4}
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert load(tmp_path / "old.json").certificate_.margin == np.inf


def test_the_runtime_is_the_time_that_the_user_waited(monkeypatch):
    """A clock that only certifying moves."""
    now = [0.0]
    monkeypatch.setattr(Budget, "elapsed", property(lambda budget: now[0]))

    def slow(*arguments):
        now[0] += 7.0
        return 1.0

    monkeypatch.setattr("stepnet.model.network.smallest_distance", slow)
    classifier = StepClassifier((1,), method="prove", random_state=0).fit([[0.0], [1.0]], [0, 1])
    assert classifier.certificate_.runtime == classifier.result_.runtime >= 7.0
    assert classifier.trace_[-1][0] == classifier.certificate_.runtime


def test_grace_is_a_moment_after_whatever_ended_it():
    budget = Budget(100.0)
    assert budget.with_grace().time_limit == 101.0
    budget.stop("interrupted")
    assert budget.with_grace().remaining <= 1.0
    assert not budget.with_grace().is_used_up()
    assert Budget().with_grace().remaining == np.inf
