"""The ensemble for numbers: one network with the sum of its members."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepnet import StepEnsembleRegressor, StepRegressor, load, save
from stepnet.errors import InvalidInputError

X, Y = load_diabetes(return_X_y=True)


def quick(**changes):
    return StepEnsembleRegressor(**{"n_estimators": 3, "hidden": (5,), "random_state": 0} | changes)


@parametrize_with_checks([quick()])
def test_scikit_learn_s_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kinds", [("oblique", "trees"), ("trees",), ("bits",)])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_the_sum_of_the_members_is_one_network(kinds, n_targets):
    rows, numbers = X[:150], Y[:150] if n_targets == 1 else np.column_stack([Y, X[:, 2]])[:150]
    ensemble = quick(kinds=kinds).fit(rows, numbers)
    sums = np.sum([member.predict(rows) for member in ensemble.members_], axis=0)
    assert (ensemble.predict(rows) == (sums[:, 0] if n_targets == 1 else sums)).all()
    assert ensemble.verify(rows, numbers)


def test_it_predicts_new_rows_better_than_one_network():
    ensemble, single = StepEnsembleRegressor(random_state=0), StepRegressor(random_state=0)
    assert ensemble.fit(X[::2], Y[::2]).score(X[1::2], Y[1::2]) > single.fit(X[::2], Y[::2]).score(X[1::2], Y[1::2])


def test_large_numbers_keep_their_digits():
    far = quick().fit(X[:100], Y[:100] + 1e6).predict(X[:100]) - 1e6
    np.testing.assert_allclose(far, quick().fit(X[:100], Y[:100]).predict(X[:100]), atol=1.0)


@pytest.mark.parametrize("n_jobs", [2, None])
def test_the_number_of_jobs_does_not_change_the_network(n_jobs):
    assert quick(n_jobs=n_jobs).fit(X, Y).network_ == quick().fit(X, Y).network_


def test_it_comes_back_from_a_file(tmp_path):
    ensemble = quick().fit(X, Y)
    save(ensemble, tmp_path / "model.json")
    assert load(tmp_path / "model.json").network_ == ensemble.network_


def test_a_constant_is_learned():
    np.testing.assert_allclose(quick().fit(X[:30], np.full(30, 3.5)).predict(X[:2]), 3.5)


def test_bad_kinds_get_a_clear_error():
    with pytest.raises(InvalidInputError, match="'oblique', 'trees', 'bits'"):
        quick(kinds="tree").fit(X, Y)
