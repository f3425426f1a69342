"""Learning from batches: weights and moments go on, rows are not kept, and the certificate says what it is about."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

import stepnet
from stepnet import StepAutoencoder, StepClassifier, StepRegressor
from stepnet.errors import InvalidInputError

X, Y = make_classification(1200, 6, n_informative=4, flip_y=0.05, random_state=1)
X = X * [1, 10, 100, 1, 1, 1] + 7
PARTS = np.array_split(np.arange(1000), 10)
NEW = np.arange(1000, 1200)


def learned(parts=PARTS, model=None, y=Y, **changes):
    model = model or StepClassifier(**{"hidden": (10,), "random_state": 0} | changes)
    for part in parts:
        model.partial_fit(X[part], y[part], classes=np.unique(y))
    return model


@pytest.mark.parametrize("changes", [{}, {"hidden": (8, 4)}, {"activation": "sign"}, {"threshold": "layer"}])
def test_a_loop_over_batches_learns(changes):
    model = learned(**changes)
    assert model.score(X[NEW], Y[NEW]) > 0.75
    assert (model.predict_proba(X[NEW]).argmax(axis=1) == model.predict(X[NEW])).all()


def test_several_classes_numbers_and_codes_are_learned_too():
    classes = np.digitize(X[:, 3] + X[:, 4], [5.0, 10.0, 15.0])
    model = learned(PARTS * 3, y=classes, output="one_hot", hidden=(25,))
    assert model.score(X[NEW], classes[NEW]) > np.bincount(classes).max() / len(classes) + 0.1
    rows, numbers = make_regression(1000, 4, random_state=0)
    regressor, coder = StepRegressor((20,), random_state=0), StepAutoencoder(8, random_state=0)
    for part in PARTS * 2:
        regressor.partial_fit(rows[part], 1e3 + numbers[part])
        coder.partial_fit(rows[part])
    assert regressor.score(rows, 1e3 + numbers) > 0.5
    assert coder.score(rows) > 0.3


def test_no_rows_are_kept_and_the_certificate_is_about_the_last_batch():
    model = learned()
    last = PARTS[-1]
    certificate = model.certificate_
    assert certificate.remark.startswith("learned from 1000 rows in 10 batches, not kept")
    assert (certificate.status, certificate.n_rows) == ("LEARNED", 100)
    assert certificate.loss == (model.predict(X[last]) != Y[last]).sum()
    assert model.verify(X[last], Y[last])
    prints = 4 * 900  # bytes: which rows it knows, so that none of them passes for a new one
    assert len(pickle.dumps(model)) < len(pickle.dumps(learned(PARTS[:1]))) + prints + 2_000
    with pytest.raises(InvalidInputError, match="no rows to add to or to drop"):
        model.forget([0])
    with pytest.raises(InvalidInputError, match="begin with partial_fit and method='prove'"):
        model.set_params(method="prove").partial_fit(X[last], Y[last])


def test_a_pickled_stream_goes_on_as_if_nothing_had_happened():
    half = learned(PARTS[:5])
    again = learned(PARTS[5:], model=pickle.loads(pickle.dumps(half)))
    assert again.network_ == learned(PARTS[5:], model=half).network_ == learned().network_


def test_a_stream_goes_on_after_a_fit_and_from_a_file(tmp_path):
    fitted = StepClassifier((10,), random_state=0).fit(X[:1000], Y[:1000])
    before = fitted.score(X[NEW], Y[NEW])
    stepnet.save(fitted, tmp_path / "model.json")
    for model in (fitted, stepnet.load(tmp_path / "model.json")):
        model.partial_fit(X[PARTS[0]], Y[PARTS[0]])
        assert model.score(X[NEW], Y[NEW]) > before - 0.1
        assert model.certificate_.n_rows == 100


def test_a_network_is_the_same_in_other_units_until_steps_are_made(monkeypatch):
    fitted = StepClassifier((10,), random_state=0).fit(X[:1000], Y[:1000])
    expected = fitted.decision_function(X)
    monkeypatch.setattr("stepnet.search.descent.stream.make_steps", lambda *arguments: None)
    for part in (PARTS[0][:30], PARTS[1]):  # the first batch gives other means and scales than the second
        fitted.partial_fit(X[part], Y[part])
    np.testing.assert_allclose(np.median(np.abs(fitted.decision_function(X) - expected)), 0, atol=1e-4)


def test_other_widths_begin_anew():
    model = learned(PARTS[:2])
    model.set_params(hidden=(3,)).partial_fit(X[PARTS[2]], Y[PARTS[2]])
    assert model.network_.widths == (3, 1)
    assert "in 1 batch," in model.certificate_.remark


def test_sorted_batches_give_a_warning():
    with pytest.warns(UserWarning, match="sorted by class"):
        learned([np.flatnonzero(Y == 0)[:100]])


def test_what_needs_all_rows_is_refused():
    with pytest.raises(InvalidInputError, match="class_weight='balanced' needs all rows"):
        learned(class_weight="balanced")
    with pytest.raises(InvalidInputError, match="one class only"):
        StepClassifier().partial_fit(X[:3], [0, 0, 0])
    model = learned(PARTS[:1])
    with pytest.raises(InvalidInputError, match="classes= to the first partial_fit"):
        model.partial_fit(X[:3], [0, 1, 2])


def test_a_failed_call_leaves_the_stream_as_it_was(monkeypatch):
    one, two = learned(PARTS[:2]), learned(PARTS[:2])
    with monkeypatch.context() as patch:
        patch.setattr("stepnet.estimators.online._remark", lambda stream: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            one.partial_fit(X[PARTS[2]], Y[PARTS[2]])
    assert learned(PARTS[2:3], model=one).network_ == learned(PARTS[2:3], model=two).network_


def test_pairs_and_proofs_keep_their_rows():
    classes = np.digitize(X[:, 3], [5.0, 9.0])
    model = learned(PARTS[:2], y=classes, output="one_vs_one", hidden=(2,))
    assert model.certificate_.n_rows == 200
