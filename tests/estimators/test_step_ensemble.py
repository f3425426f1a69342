"""The ensemble: one network that answers like the vote, whatever the number of jobs."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepnet import Learn, StepEnsembleClassifier
from stepnet.errors import InvalidInputError

X, Y = make_classification(200, 5, random_state=0)


def quick(**changes):
    return StepEnsembleClassifier(**{"n_estimators": 3, "hidden": (5,), "random_state": 0} | changes)


@parametrize_with_checks([quick()])
def test_scikit_learn_s_checks_pass(estimator, check):
    check(estimator)


def test_the_vote_is_one_network_that_answers_identically():
    ensemble = quick().fit(X, Y)
    votes = np.mean([member.predict(X) for member in ensemble.members_], axis=0)
    assert (ensemble.predict(X) == (votes > 0.5)).all()
    assert np.allclose(ensemble.predict_proba(X)[:, 1], votes)
    assert ensemble.network_.widths == (15, 3, 1)
    assert ensemble.certificate_.loss == (ensemble.predict(X) != Y).sum()
    assert ensemble.verify(X, Y)


@pytest.mark.parametrize("n_jobs", [2, -1, None])
def test_the_number_of_jobs_does_not_change_the_network(n_jobs):
    assert quick(n_jobs=n_jobs).fit(X, Y).network_ == quick().fit(X, Y).network_


@pytest.mark.parametrize("parameters", [{"n_estimators": 0}, {"method": "learn"}, {"hidden": (0,)}, {"n_jobs": 0}])
def test_bad_parameters_get_a_clear_error(parameters):
    with pytest.raises(InvalidInputError):
        quick(**parameters).fit(X, Y)


def test_members_can_be_trained_otherwise():
    assert quick(method=Learn(epochs=20, strength=0.0)).fit(X, Y).score(X, Y) > 0.7


def test_members_are_shown_as_they_are_trained(capsys):
    quick(verbose=1).fit(X, Y)
    assert "loss -  bound -  (3 of 3 members, 100% done)" in capsys.readouterr().err
