"""The ensemble: one network with the sum of its members, calibrated, whatever the number of jobs."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepnet import Ball, Learn, StepClassifier, StepEnsembleClassifier, load, save
from stepnet.errors import InvalidInputError

X, Y = make_classification(200, 5, random_state=0)
NEW_X, NEW_Y = make_classification(1000, 5, n_informative=3, flip_y=0.2, random_state=1)
IRIS = load_iris(return_X_y=True)


def quick(**changes):
    return StepEnsembleClassifier(**{"n_estimators": 3, "hidden": (5,), "random_state": 0} | changes)


@parametrize_with_checks([quick()])
def test_scikit_learn_s_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([quick(kinds=("oblique",)), quick(kinds=("bits",))])
def test_scikit_learn_s_checks_pass_without_trees(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kinds", [("oblique", "trees"), ("trees",), ("oblique",), ("bits", "trees", "oblique")])
@pytest.mark.parametrize("data", [(X, Y), IRIS], ids=["two classes", "three classes"])
def test_the_sum_of_the_members_is_one_network(kinds, data):
    ensemble = quick(kinds=kinds).fit(*data)
    sums = np.sum([member.predict(data[0]) for member in ensemble.members_], axis=0)
    values = ensemble.network_.values(data[0])
    assert [*map(Fraction, values.ravel().tolist())] == [*map(Fraction, sums.ravel().tolist())]
    answers = sums[:, 0] >= 0 if sums.shape[1] == 1 else sums.argmax(axis=1)
    assert (ensemble.predict(data[0]) == answers).all()
    assert ensemble.certificate_.loss == (ensemble.predict(data[0]) != data[1]).sum()
    assert ensemble.verify(*data)


@pytest.mark.parametrize("data", [(X, Y), IRIS], ids=["two classes", "three classes"])
@pytest.mark.parametrize("n_jobs", [2, -1, None])
def test_the_number_of_jobs_does_not_change_the_network(n_jobs, data):
    assert quick(n_jobs=n_jobs).fit(*data).network_ == quick().fit(*data).network_


def test_probabilities_agree_with_answers_and_are_better_than_those_of_members_that_know_their_rows():
    rows, labels = NEW_X[:500], NEW_Y[:500]
    ensemble = quick(n_estimators=5, hidden=(25,)).fit(rows, labels)
    probabilities = ensemble.predict_proba(NEW_X[500:])
    assert (probabilities.argmax(axis=1) == ensemble.predict(NEW_X[500:])).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    single = StepClassifier((25,), method=Learn(strength=0.0), random_state=0).fit(rows, labels)
    assert log_loss(NEW_Y[500:], probabilities) < log_loss(NEW_Y[500:], single.predict_proba(NEW_X[500:]))


def test_several_classes_have_probabilities_too():
    ensemble = quick().fit(*IRIS)
    assert (ensemble.predict_proba(IRIS[0]).argmax(axis=1) == ensemble.predict(IRIS[0])).all()
    assert log_loss(IRIS[1], ensemble.predict_proba(IRIS[0])) < 0.3


def test_it_comes_back_from_a_file_with_its_probabilities(tmp_path):
    ensemble = quick().fit(X, Y)
    save(ensemble, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.network_ == ensemble.network_
    assert (again.predict_proba(X) == ensemble.predict_proba(X)).all()
    assert again.verify(X, Y)


def test_fewer_members_than_parts_of_the_rows_are_enough():
    ensemble = quick(n_estimators=1, kinds=("trees",)).fit(X, Y)
    assert len(ensemble.members_) == 1
    assert ensemble.score(X, Y) > 0.8


def test_a_class_of_one_row_is_no_obstacle():
    labels = np.where(np.arange(200) == 7, 2, Y)
    assert quick().fit(X, labels).score(X, labels) > 0.8


def test_features_that_say_nothing_give_the_larger_class():
    ensemble = quick().fit(np.ones((30, 2)), np.arange(30) % 3 == 0)
    assert not ensemble.predict([[1.0, 1.0]])[0]
    assert ensemble.predict_proba([[1.0, 1.0]])[0, 1] == pytest.approx(1 / 3, abs=0.1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_estimators": 0},
        {"method": "learn"},
        {"hidden": (0,)},
        {"n_jobs": 0},
        {"kinds": ("forests",)},
        {"kinds": ()},
        {"kinds": ("trees", "trees")},
    ],
)
def test_bad_parameters_get_a_clear_error(parameters):
    with pytest.raises(InvalidInputError):
        quick(**parameters).fit(X, Y)


def test_members_can_be_trained_otherwise():
    ensemble = quick(method=Learn(epochs=20, strength=0.0), kinds=("oblique",)).fit(X, Y)
    assert len(ensemble.members_) == 3
    assert ensemble.score(X, Y) > 0.7


def test_members_are_shown_as_they_are_trained(capsys):
    quick(verbose=1).fit(X, Y)
    assert "loss -  bound -  (9 of 9 members, 100% done)" in capsys.readouterr().err


def test_robust_members_vote_and_their_shares_are_calibrated():
    ensemble = quick(uncertainty=Ball("linf", 0.05), hidden=(2,), time_limit=20).fit(X, Y)
    votes = np.sum([member.predict(X) for member in ensemble.members_], axis=0)
    assert (ensemble.predict(X) == (votes > 1.5)).all()
    assert (ensemble.predict_proba(X).argmax(axis=1) == ensemble.predict(X)).all()
