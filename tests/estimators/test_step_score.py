"""StepScoreClassifier as an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepnet import StepScoreClassifier, load, save
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.export import to_rules


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, size=(200, 4)).astype(float)
    y = np.where(2 * (X[:, 0] >= 5) + (X[:, 1] <= 3) + (X[:, 2] >= 7) + (rng.random(200) < 0.1) >= 2, "ill", "fit")
    return X, y


@parametrize_with_checks([StepScoreClassifier(n_rules=2, random_state=0)])
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("method", ["learn", "search", "prove"])
def test_probabilities_agree_with_answers_and_rise_with_the_total(table: Any, method: str) -> None:
    X, y = table
    score = StepScoreClassifier(3, method=method, random_state=0).fit(X, y)
    chances = score.predict_proba(X)[:, 1]
    assert ((chances > 0.5) == (score.predict(X) == "ill")).all()
    assert np.array_equal(np.exp(score.predict_log_proba(X))[:, 1].round(9), chances.round(9))
    order = np.argsort(score.card_.totals(X), kind="stable")
    assert (np.diff(chances[order]) >= 0).all()
    assert (score.decision_function(X) > 0).tolist() == (score.predict(X) == "ill").tolist()


def test_no_method_needs_more_errors_than_the_one_before(table: Any) -> None:
    X, y = table
    losses = [
        StepScoreClassifier(3, method=method, random_state=0).fit(X, y).certificate_.loss
        for method in ("learn", "search", "prove")
    ]
    assert losses == sorted(losses, reverse=True)


def test_a_saved_scorecard_is_the_same_and_verifies(table: Any, tmp_path: Path) -> None:
    X, y = table
    score = StepScoreClassifier(3, method="prove", cut_points=0.5, random_state=0).fit(X, y)
    save(score, tmp_path / "score.json")
    again = load(tmp_path / "score.json")
    assert str(again) == str(score)
    assert again.get_params() == score.get_params()
    assert all(check.holds for check in again.verify(X, y, resolve=True).checks)
    assert "ill where" in to_rules(again)


def test_rules_per_feature_and_weights_are_kept(table: Any) -> None:
    X, y = table
    weights = np.where(y == "ill", 3.0, 1.0)
    score = StepScoreClassifier(3, rules_per_feature=1, method="search", random_state=0).fit(X, y, weights)
    features = [rule.feature for rule in score.card_.rules]
    assert len(set(features)) == len(features)
    assert score.certificate_.loss == weights[score.predict(X) != y].sum()
    by_class = StepScoreClassifier(3, rules_per_feature=1, method="search", class_weight={"ill": 3.0}, random_state=0)
    assert by_class.fit(X, y).certificate_.loss == score.certificate_.loss


def test_a_moved_threshold_stays_whole(table: Any) -> None:
    X, y = table
    score = StepScoreClassifier(3, method="search", random_state=0).fit(X, y)
    moved = score.with_threshold(-0.5, X, y)
    assert moved.card_.threshold == score.card_.threshold
    assert score.with_threshold(0.5, X, y).card_.threshold == score.card_.threshold + 1


def test_isotonic_and_no_probabilities(table: Any) -> None:
    X, y = table
    score = StepScoreClassifier(3, probability="isotonic", random_state=0).fit(X, y)
    assert ((score.predict_proba(X)[:, 1] > 0.5) == (score.predict(X) == "ill")).all()
    none = StepScoreClassifier(3, probability=None, random_state=0).fit(X, y)
    assert "–" in none.sheet()
    with pytest.raises(InvalidInputError, match="probability=None"):
        none.predict_proba(X)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"n_rules": 0}, "n_rules=0 must be an integer"),
        ({"points": 2.5}, "points=2.5 must be an integer"),
        ({"rules_per_feature": 0}, "rules_per_feature=0 must be"),
        ({"method": "exact"}, "method='exact' is not known for scorecards"),
        ({"cut_points": "nice"}, "cut_points='nice' must be"),
        ({"probability": "platt"}, "probability='platt' is not known"),
    ],
)
def test_wrong_parameters_are_refused_in_words(table: Any, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        clone(StepScoreClassifier()).set_params(**choices).fit(*table)


def test_a_proof_of_many_rules_and_several_classes_are_refused_with_the_way_out(table: Any) -> None:
    X, y = table
    with pytest.raises(NotAcceptedError, match="Use method='search' or 'learn'"):
        StepScoreClassifier(7, method="prove").fit(X, y)
    with pytest.raises(InvalidInputError, match="Only binary classification is supported"):
        StepScoreClassifier().fit(X, np.arange(len(X)) % 3)
