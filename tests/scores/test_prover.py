"""The proof of scorecards against all of them, one by one."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepnet import StepScoreClassifier
from stepnet.methods.run import Run
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.scores import prover
from stepnet.scores.card import Card
from stepnet.scores.cuts import CutPoints
from stepnet.scores.form import Form


def all_rules(X: Any) -> list[Any]:
    """Feature and the rows where the rule is on, for every rule that is on for some rows only."""
    found = []
    for feature in range(X.shape[1]):
        for value in np.unique(X[:, feature])[1:]:
            found += [(feature, X[:, feature] >= value), (feature, X[:, feature] < value)]
    return found


def fewest_errors(X: Any, y: Any, weights: Any, n_rules: int, points: int, per_feature: int) -> tuple[float, int, int]:
    """The least loss of all scorecards, then the fewest rules with it, then the smallest sum of points."""
    rules, best = all_rules(X), (float(min(weights[y == 1].sum(), weights[y == 0].sum())), 0, 0)
    for size in range(1, n_rules + 1):
        for chosen in combinations(rules, size):
            features = [feature for feature, _ in chosen]
            if max(map(features.count, features)) > per_feature:
                continue
            for given_points in product(range(1, points + 1), repeat=size):
                totals = sum(p * on for p, (_, on) in zip(given_points, chosen, strict=True))
                for threshold in range(1, sum(given_points) + 1):
                    loss = float(weights[(totals >= threshold) != y].sum())
                    best = min(best, (loss, size, sum(given_points)))
    return best


def proven(X: Any, y: Any, weights: Any, n_rules: int, points: int, per_feature: int) -> StepScoreClassifier:
    score = StepScoreClassifier(
        n_rules, points, rules_per_feature=per_feature, method="prove", random_state=0, time_limit=None
    )
    return score.fit(X, y, weights)


def rank_of(card: Card) -> tuple[int, int]:
    return len(card.rules), card.most


@given(seed=st.integers(0, 10**6), n_rules=st.integers(1, 3), per_feature=st.integers(1, 3), n_values=st.integers(2, 4))
@settings(max_examples=12)
def test_no_scorecard_has_a_smaller_loss_and_none_of_that_loss_is_smaller(
    seed: int, n_rules: int, per_feature: int, n_values: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(9, 2)).astype(float)
    y, weights = rng.integers(0, 2, size=9), rng.integers(1, 4, size=9).astype(float)
    y[:2] = 0, 1
    score = proven(X, y, weights, n_rules, 2, per_feature)
    loss, size, total = fewest_errors(X, y, weights, n_rules, 2, per_feature)
    assert score.certificate_.status == "OPTIMAL"
    assert score.certificate_.loss == loss
    assert rank_of(score.card_) == (size, total)
    assert (score.card_.totals(X) >= score.card_.threshold).astype(int).tolist() == score.predict(X).tolist()


@given(seed=st.integers(0, 10**6), n_rules=st.integers(2, 3), per_feature=st.integers(1, 3))
@settings(max_examples=10)
def test_the_bound_of_any_function_of_the_rules_is_never_above_the_loss_of_a_scorecard(
    seed: int, n_rules: int, per_feature: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(9, 2)).astype(float)
    y, weights = rng.integers(0, 2, size=9), rng.integers(1, 4, size=9).astype(float)
    y[:2] = 0, 1
    form = Form.of(n_rules, 2, per_feature)
    run = Run(Problem(Dataset.from_rows(X, y, weights), form.architecture(2)), Budget())
    run.loss = float(weights.sum())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prover, "_FEWEST_RELAXED", 2)
        prover.ScoreProver(form, CutPoints()).relax(run, lambda: False)
    assert run.bound.value <= fewest_errors(X, y, weights, n_rules, 2, form.rules_per_feature)[0]


def test_weights_without_a_common_unit_are_proven_as_well() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, size=(10, 2)).astype(float), rng.integers(0, 2, size=10)
    weights = rng.random(10)
    score = proven(X, y, weights, 2, 2, 2)
    assert score.certificate_.status == "OPTIMAL"
    assert score.certificate_.loss == pytest.approx(fewest_errors(X, y, weights, 2, 2, 2)[0])


def test_the_scope_names_the_form() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    certificate = proven(X, y, np.ones(4), 2, 3, 1).certificate_
    assert str(certificate.scope) == (
        "all scorecards of up to 2 rules on one feature, 1 to 3 points each, at most 1 rule per feature"
    )
    assert (certificate.loss, certificate.bound) == (1.0, 1.0)


def test_a_proof_that_is_cut_short_has_a_bound_between_the_free_one_and_the_optimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prover, "_AT_ONCE", 10_000)  # so that it is asked often whether to go on
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X @ rng.normal(size=3) + rng.normal(size=80) > 0).astype(int)
    score = StepScoreClassifier(4, method="prove", random_state=0, time_limit=None)
    score.fit(X, y, on_incumbent=lambda now: now.bound >= 1)
    certificate = score.certificate_
    assert 1 <= certificate.bound < certificate.loss
    assert certificate.stop_reason == "callback"
    three = StepScoreClassifier(3, method="prove", random_state=0).fit(X, y).certificate_
    assert three.status == "OPTIMAL"
    assert certificate.bound <= three.loss
