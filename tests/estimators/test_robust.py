"""Uncertain rows through every estimator: certificates, files, ensembles, online rows."""

import json

import numpy as np
import pytest

import stepnet
from stepnet import Ball, Polyhedron, Prove, Search, StepClassifier, StepEnsembleClassifier, StepRegressor, attack
from stepnet.errors import InvalidInputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
X = X[np.abs(X[:, 0] + X[:, 1]) > 0.3]
y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
QUICK = {"hidden": (2,), "method": "prove", "time_limit": 20, "random_state": 0}


def test_the_certificate_speaks_of_the_worst_case():
    classifier = StepClassifier(**QUICK, uncertainty=Ball("l2", 0.1)).fit(X, y)
    certificate = classifier.certificate_
    assert (certificate.status, certificate.loss, certificate.nominal_loss) == ("OPTIMAL", 0.0, 0.0)
    assert certificate.uncertainty == "l2 ball of radius 0.1"
    assert attack(classifier, X, y, norm="l2").radii.min() > 0.1
    assert classifier.verify(X, y)
    plain = StepClassifier(**QUICK).fit(X, y).certificate_
    assert (plain.uncertainty, plain.rounds, plain.scenarios) == ("", 0, 0)
    assert plain.nominal_loss == plain.loss


@pytest.mark.parametrize(
    "uncertainty",
    [
        Ball("l1", 0.1, scale=(1.0, 2.0), low=-3.0, high=(3.0, 3.0)),
        Ball("l2", 0.1, transform=((1.0, 0.5), (0.0, 1.0))),
        Polyhedron([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [0.1, 0.0, 0.1, 0.1]),
    ],
)
def test_model_files_keep_the_set(tmp_path, uncertainty):
    classifier = StepClassifier(**QUICK, uncertainty=uncertainty).fit(X, y)
    stepnet.save(classifier, tmp_path / "model.json")
    loaded = stepnet.load(tmp_path / "model.json")
    assert loaded.uncertainty == uncertainty
    assert loaded.certificate_ == classifier.certificate_
    assert loaded.verify(X, y)
    content = json.loads((tmp_path / "model.json").read_text())
    content["certificate"]["loss"] = 3.0
    (tmp_path / "model.json").write_text(json.dumps(content))
    assert not stepnet.load(tmp_path / "model.json").verify(X, y)


def test_a_model_trained_without_moves_breaks_where_a_robust_one_does_not():
    rows = np.array([[0.0, 0.0], [1.0, 0.1], [0.0, 3.0], [1.0, 3.1]])
    ball, labels = Ball("linf", 0.45), [0, 1, 0, 1]
    robust = StepClassifier(**QUICK, uncertainty=ball).fit(rows, labels)
    assert robust.certificate_.loss == 0
    assert attack(robust, rows, labels).certified(0.449) == 1


def test_ensembles_vote_for_the_worst_case():
    ball = Ball("linf", 0.05)
    ensemble = StepEnsembleClassifier(3, hidden=(2,), uncertainty=ball, random_state=0, time_limit=20).fit(X, y)
    certificate = ensemble.certificate_
    assert len(ensemble.members_) == 3
    assert certificate.nominal_loss <= certificate.loss <= 4
    assert ensemble.verify(X, y)
    assert (attack(ensemble, X, y).radii <= 0.05).sum() <= certificate.loss
    proven = StepEnsembleClassifier(3, hidden=(2,), method=Prove(), uncertainty=ball, random_state=0, time_limit=9)
    assert proven.fit(X, y).verify(X, y)
    with pytest.raises(InvalidInputError, match="Learn object"):
        StepEnsembleClassifier(3, method=Search()).fit(X, y)


def test_several_classes_by_pairs_are_judged_by_their_vote():
    labels = np.digitize(X[:, 0], [-0.6, 0.6])
    classifier = StepClassifier(**QUICK, uncertainty=Ball("linf", 0.02)).fit(X, labels)
    certificate = classifier.certificate_
    broken = (attack(classifier, X, labels).radii <= 0.02).sum()
    assert broken <= certificate.loss <= broken + 2  # rows in doubt count as broken
    assert certificate.loss < 15
    assert classifier.verify(X, labels)


@pytest.mark.slow
def test_numbers_and_their_radii():
    numbers = np.floor(X[:, 0])
    model = StepRegressor((3,), method="prove", loss="absolute", uncertainty=Ball("l1"), time_limit=4, random_state=0)
    model.fit(X, numbers, radius=np.full(len(X), 0.01))
    certificate = model.certificate_
    assert certificate.nominal_loss <= certificate.loss + 1e-12
    assert "absolute error" in str(certificate)
    assert model.verify(X, numbers, radius=np.full(len(X), 0.01))


def test_ends_that_are_infinite_go_into_files(tmp_path):
    ball = Ball("linf", 0.05, low=(-np.inf, -5.0))
    classifier = StepClassifier(**QUICK, uncertainty=ball).fit(X, y)
    stepnet.save(classifier, tmp_path / "model.json")
    assert stepnet.load(tmp_path / "model.json").uncertainty == ball


def test_a_bound_of_earlier_rows_is_not_called_false():
    few = StepClassifier((1,), uncertainty=Ball("linf", 1.0), method=Search(moves=5, starts=1), time_limit=20)
    rows = RNG.random((2000, 1))
    few.partial_fit(rows, np.arange(2000) % 2)
    more = 100 + RNG.random((8000, 1))
    few.partial_fit(more, np.zeros(8000, dtype=int))
    assert few.certificate_.bound == 1000
    assert few.verify(np.vstack([rows, more]), np.append(np.arange(2000) % 2, np.zeros(8000, dtype=int)))
