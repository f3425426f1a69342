"""A threshold moved by the user: the answers it promises, and a certificate of its own that is true."""

import numpy as np
import pytest

from stepnet import Ball, Exact, Integers, Raises, Search, StepClassifier, StepEnsembleClassifier, load, save
from stepnet.errors import InvalidInputError

BRIEF = Search(moves=100, starts=1)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(0, 1, (80, 3))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(0, 1, 80) > 0, "yes", "no")


@pytest.fixture(scope="module")
def learned(rows):
    return StepClassifier(hidden=(6,), method="learn", random_state=0).fit(*rows)


def test_every_threshold_gives_the_answers_it_promises_and_a_true_certificate(rows, learned):
    scores = learned.decision_function(rows[0])
    thresholds = np.unique(scores)
    assert len(thresholds) > 3
    for threshold in [*thresholds, *(thresholds[1:] + thresholds[:-1]) / 2, thresholds[-1] + 1]:
        moved = learned.with_threshold(threshold, *rows)
        answers = np.where(scores >= threshold, "yes", "no")
        assert (moved.predict(rows[0]) == answers).all()
        assert moved.certificate_.loss == (answers != rows[1]).sum()
        assert moved.certificate_.bound == min(learned.certificate_.bound, moved.certificate_.loss)
        assert moved.certificate_.found_by == "moving a threshold"
        assert moved.certificate_.status in ("LEARNED", "OPTIMAL")
        assert moved.verify(*rows)


def test_the_model_itself_stays_and_zero_changes_nothing(rows, learned):
    before, certificate = learned.network_, learned.certificate_
    assert learned.with_threshold(0, *rows).network_ == before
    assert learned.with_threshold(9.0, *rows).network_ != before
    assert (learned.network_, learned.certificate_) == (before, certificate)


def test_a_moved_threshold_is_saved(rows, learned, tmp_path):
    moved = learned.with_threshold(learned.decision_function(rows[0]).max(), *rows)
    save(moved, tmp_path / "moved.json")
    again = load(tmp_path / "moved.json")
    assert (again.predict(rows[0]) == moved.predict(rows[0])).all()
    assert again.verify(*rows)
    assert (again.predict(rows[0]) == "yes").any()
    assert (again.predict(rows[0]) != learned.predict(rows[0])).any()


def test_a_proof_stays_a_proof_of_the_bound_but_no_longer_of_the_optimum():
    X, y = [[0], [1], [2], [3]], [0, 1, 0, 1]
    proven = StepClassifier(hidden=(), method=Exact(), random_state=0).fit(X, y)
    assert (proven.certificate_.loss, proven.certificate_.bound, proven.certificate_.status) == (1, 1, "OPTIMAL")
    moved = proven.with_threshold(proven.decision_function(X).max() + 1, X, y)
    assert moved.predict(X).tolist() == [0, 0, 0, 0]
    assert (moved.certificate_.loss, moved.certificate_.bound, moved.certificate_.status) == (2, 1, "FEASIBLE")
    assert moved.certificate_.proof == str(proven.certificate_.evidence)
    assert moved.verify(X, y, resolve=True)


def test_weights_of_rows_perturbations_and_integers_are_respected(rows):
    X, y = rows[0][:30], rows[1][:30]
    weights = np.arange(1.0, 31.0)
    robust = StepClassifier(hidden=(), weights=Integers(3), uncertainty=Ball("linf", 0.1), method=BRIEF)
    robust.fit(X, y, weights)
    moved = robust.with_threshold(0.25, X, y, weights)
    assert moved.verify(X, y, weights)
    assert moved.certificate_.loss >= moved.certificate_.nominal_loss
    votes = StepEnsembleClassifier(5, hidden=(3,), random_state=0).fit(X, y)
    assert votes.with_threshold(1.0, X, y).verify(X, y)


def test_what_is_not_admitted_is_an_error_that_says_so(rows, learned):
    X, y = rows
    with pytest.raises(InvalidInputError, match="these are not the data of the certificate"):
        learned.with_threshold(1.0, X[1:], y[1:])
    with pytest.raises(InvalidInputError, match="must be a finite number"):
        learned.with_threshold(np.nan, X, y)
    fixed = StepClassifier(hidden=(2,), threshold=0.5, method=BRIEF, random_state=0).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"do not fit threshold=0.5. Train with threshold='neuron'"):
        fixed.with_threshold(1.0, X, y)
    three = StepClassifier(hidden=(2,), method="learn", random_state=0).fit(X, np.arange(80) % 3)
    with pytest.raises(InvalidInputError, match="for two classes; this model has 3"):
        three.with_threshold(1.0, X, np.arange(80) % 3)
    with pytest.raises(ValueError, match="not fitted"):
        StepClassifier().with_threshold(1.0, X, y)


def test_constraints_hold_for_the_moved_network(rows):
    X, y = rows
    model = StepClassifier(hidden=(2,), constraints=[Raises(0)], method=BRIEF, random_state=0).fit(X, y)
    assert model.with_threshold(0.5, X, y).verify(X, y)
