"""StepRegressor: numbers, with proofs, as scikit-learn's users expect."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import stepnet
from stepnet import Absolute, Exact, Search, Squared, StepRegressor
from stepnet.bounds.evidence import Conflicts
from stepnet.errors import InvalidInputError, NotAcceptedError


def quick(**changes):
    return StepRegressor(**{"hidden": (2,), "method": "prove", "time_limit": 3, "random_state": 0} | changes)


CHECKED = [
    quick(method=Search(moves=10, starts=1), time_limit=30),
    quick(hidden=(25,), method="learn"),
    quick(loss="absolute", weights="ternary", activation="sign", method=Search(moves=5, starts=1), time_limit=30),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_s_checks_pass(estimator, check):
    check(estimator)


def planted(seed, n_outputs=1):
    """Piecewise constant rows of three step neurons."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    bits = X @ rng.normal(size=(4, 3)) >= rng.normal(size=3) / 2
    return X, bits @ rng.normal(size=(3, n_outputs)) + 1.0


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_planted_steps_are_recovered(loss, n_outputs):
    X, y = planted(0, n_outputs)
    regressor = StepRegressor((3,), loss=loss, method="prove", random_state=0).fit(X, y)
    assert regressor.certificate_.loss < 1e-9
    assert regressor.certificate_.status == "OPTIMAL"
    np.testing.assert_allclose(regressor.predict(X), y, atol=1e-6)
    assert regressor.verify(X, y)


def test_one_target_comes_back_flat_and_several_do_not():
    X, y = planted(1, 2)
    assert quick(method="learn").fit(X, y[:, 0]).predict(X).shape == (150,)
    assert quick(method="learn").fit(X, y).predict(X).shape == (150, 2)


def test_rows_weigh_what_they_are_given():
    X, y = [[0.0], [0.0], [1.0]], [0.0, 3.0, 10.0]
    regressor = quick(hidden=(1,)).fit(X, y, [1, 2, 1])
    assert regressor.predict([[0.0]])[0] == pytest.approx(2.0)
    assert regressor.certificate_.loss == pytest.approx(1 * 4 + 2 * 1)
    assert regressor.certificate_.status == "OPTIMAL"
    assert regressor.certificate_.evidence == Conflicts("numbers")
    absolute = quick(hidden=(1,), loss="absolute").fit(X, y, [1, 2, 1])
    assert absolute.predict([[0.0]])[0] == pytest.approx(3.0)


@pytest.mark.slow
def test_the_ridge_shrinks_and_the_intercept_can_be_left_out():
    X, y = planted(2)
    free, ridged = (
        quick(loss=Squared(ridge=ridge), method=Search(moves=200, starts=1)).fit(X, y[:, 0]) for ridge in (0, 100)
    )
    assert np.abs(ridged.network_.layers[1].weights).sum() < np.abs(free.network_.layers[1].weights).sum()
    assert ridged.certificate_.loss == ridged.problem(X, y[:, 0]).evaluate(ridged.network_)
    without = quick(intercept=False).fit(X, y[:, 0])
    assert (without.network_.layers[1].thresholds == 0).all()


def test_learning_predicts_new_rows():
    X, y = make_regression(600, 5, noise=10, random_state=0)
    for loss in ("squared", "absolute"):
        model = StepRegressor((50,), loss=loss, method="learn", random_state=0).fit(X[:400], y[:400])
        assert r2_score(y[400:], model.predict(X[400:])) > 0.8


@pytest.mark.slow
def test_works_in_grid_searches_clones_pickles_and_files(tmp_path):
    X, y = planted(3)
    options = {"loss": ["squared", Squared(ridge=1.0), Absolute(bound=5.0)]}
    grid = GridSearchCV(quick(method="learn"), options, cv=2).fit(X, y[:, 0])
    assert grid.best_score_ > 0.3
    model = clone(quick(loss=Squared(ridge=0.5, bound=9.0), method=Exact(solver="scip")))
    assert model.loss.ridge == 0.5
    model = quick(loss=Squared(ridge=0.5, bound=9.0)).fit(X, y)
    for again in (pickle.loads(pickle.dumps(model)), _reloaded(model, tmp_path)):
        assert (again.predict(X) == model.predict(X)).all()
        assert again.certificate_ == model.certificate_
        assert again.verify(X, y)
        assert again.loss == model.loss


def _reloaded(model, folder):
    stepnet.save(model, folder / "model.json")
    return stepnet.load(folder / "model.json")


def test_a_wrong_claim_is_found_out():
    X, y = planted(4)
    model = quick(method="learn").fit(X, y)
    model.certificate_ = type(model.certificate_)(**{**model.certificate_.to_dict(), "loss": 0.0})
    assert not model.verify(X, y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden": ()}, "linear regression"),
        ({"loss": "hinge"}, "'squared', 'absolute'"),
        ({"weights": ("ternary", "ternary")}, "'real' as the last"),
        ({"sparsity": "fewest", "method": "exact"}, "misclassified rows"),
        ({"sparsity": 3, "method": "search"}, "last layer"),
        ({"method": Exact(formulation="gates")}, "formulation='tight'"),
        ({"method": Exact(formulation="paper")}, "formulation='tight'"),
        ({"method": Exact(solver="cpsat")}, "solver='highs'"),
    ],
)
def test_what_cannot_be_done_says_what_can(changes, message):
    X, y = planted(5)
    with pytest.raises((InvalidInputError, NotAcceptedError), match=message):
        quick(**changes).fit(X[:20], y[:20, 0])
