"""Limits on errors as users meet them: certificates, files, learning, cross-validation and the trade-off curve."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from stepnet import (
    FalsePositives,
    Parity,
    Precision,
    Recall,
    Search,
    StepClassifier,
    load,
    save,
    tradeoff,
    verify_proof,
)
from stepnet.errors import InfeasibleError, InvalidInputError, ModelFileError
from stepnet.estimators.tradeoff import _sharpened, _together

BRIEF = Search(moves=200, starts=1)
RNG = np.random.default_rng(0)
X = RNG.integers(0, 6, (40, 2)).astype(float)
Y = np.where(X.sum(axis=1) + RNG.normal(size=40) * 1.5 > 5, "ill", "well")
SEX = RNG.choice(["f", "m"], 40)
LINE, LINE_Y = [[0], [1], [2], [3], [4]], ["well", "ill", "well", "ill", "ill"]


@pytest.fixture(scope="module")
def fitted():
    limits = [Recall("ill", at_least=0.9), Parity(by=SEX, of="recall", within=0.2, positive="ill")]
    return StepClassifier(hidden=(1,), constraints=limits, method=BRIEF, random_state=0).fit(X, Y)


def test_a_certificate_states_every_limit_with_its_exact_value(fitted):
    recall, parity = fitted.certificate_.limits
    answers = fitted.predict(X)
    assert recall.value == Fraction(int(((answers == "ill") & (Y == "ill")).sum()), int((Y == "ill").sum()))
    by_sex = [
        Fraction(int(((answers == "ill") & own).sum()), int(own.sum()))
        for own in ((Y == "ill") & (s == SEX) for s in "fm")
    ]
    assert parity.value == abs(by_sex[0] - by_sex[1])
    assert recall.holds
    assert parity.holds
    assert f"  limit    {recall}\n" in str(fitted.certificate_)


def test_files_keep_limits_and_verify_counts_again(fitted, tmp_path):
    save(fitted, tmp_path / "m.json")
    restored = load(tmp_path / "m.json")
    assert restored.constraints == tuple(fitted.constraints)
    assert restored.certificate_ == fitted.certificate_
    checks = restored.verify(X, Y).checks
    assert [check.holds for check in checks[-2:]] == [True, True]
    content = json.loads((tmp_path / "m.json").read_text())
    content["certificate"]["limits"][0]["value"] = "98/99"
    (tmp_path / "m.json").write_text(json.dumps(content))
    assert not load(tmp_path / "m.json").verify(X, Y)
    content["certificate"]["limits"][0]["value"] = "a lot"
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="a limit in the certificate is damaged"):
        load(tmp_path / "m.json")


def test_rows_in_another_order_are_told_from_the_groups_that_were_given():
    limit = Parity(by=["f", "f", "m", "m"], of="selection_rate", within=1)
    classifier = StepClassifier(hidden=(), constraints=[limit], method=BRIEF, random_state=0)
    classifier.fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert classifier.certificate_.limits[0].value == 1
    verification = classifier.verify([[0], [2], [1], [3]], [0, 1, 0, 1])
    assert [check.holds for check in verification.checks] == [True, True, True, False]
    assert "follow the order of the rows that were fitted" in str(verification)


@pytest.mark.parametrize("limits", [[Recall("ill", at_least=0.97)], [Precision("ill", at_least=0.95)]])
def test_learning_moves_the_last_threshold(limits):
    classifier = StepClassifier(hidden=(4,), constraints=limits, random_state=0).fit(X, Y)
    assert classifier.certificate_.status == "LEARNED"
    assert classifier.certificate_.limits[0].holds


def test_learning_searches_where_no_threshold_meets_the_limits():
    limits = [Recall("in", at_least=1), FalsePositives("in", at_most=0)]
    rows, y = [[0.0], [1.0], [2.0], [3.0]], ["out", "in", "out", "in"]
    classifier = StepClassifier(hidden=(3,), constraints=limits, time_limit=1000, random_state=0).fit(rows, y)
    assert classifier.score(rows, y) == 1


def test_a_fit_that_is_infeasible_raises_and_a_grid_search_goes_on():
    limits = [Recall("ill", at_least=1), FalsePositives("ill", at_most=0)]
    classifier = StepClassifier(hidden=(1,), constraints=limits, method="prove", time_limit=1000, random_state=0)
    with pytest.raises(InfeasibleError, match=r"the largest is 2/3 = 66\.67 %") as caught:
        classifier.fit(LINE, LINE_Y)
    assert isinstance(caught.value, ValueError)
    assert caught.value.network is not None
    assert not hasattr(classifier, "network_")
    rows, y = np.vstack([LINE] * 2), LINE_Y * 2
    grid = GridSearchCV(classifier, {"hidden": [(1,), (3,)]}, cv=[(np.arange(5), np.arange(5, 10))], refit=False)
    with pytest.warns(match="fits failed"):
        scores = grid.fit(rows, y).cv_results_["mean_test_score"]
    assert np.isnan(scores[0])
    assert scores[1] == 1


def test_groups_by_a_column_go_through_cross_validation():
    rows = np.column_stack([X, SEX == "f"])
    classifier = StepClassifier(hidden=(), constraints=[Parity(by=2, within=0.5)], method=BRIEF, random_state=0)
    folds = [(np.arange(30), np.arange(30, 40))]
    assert GridSearchCV(classifier, {"hidden": [()]}, cv=folds, error_score="raise").fit(rows, Y).best_score_ > 0
    classifier.set_params(constraints=[Parity(by=SEX, within=0.5)])
    with pytest.raises(InvalidInputError, match="by has 40 entries, but there are 30 rows"):
        classifier.fit(rows[:30], Y[:30])


def test_a_moved_threshold_must_meet_the_limits(fitted):
    with pytest.raises(InvalidInputError, match="the threshold cannot be moved by -1000: its recall of ill is 0"):
        fitted.with_threshold(-1000.0, X, Y)


def test_a_saved_proof_is_one_without_the_limits(tmp_path):
    limits = [Recall("ill", at_least=1)]
    classifier = StepClassifier(hidden=(1,), constraints=limits, method="prove", time_limit=1000, random_state=0).fit(
        LINE, LINE_Y
    )
    assert classifier.certificate_.bound == 1
    classifier.save_proof(tmp_path / "proof", LINE, LINE_Y)
    assert verify_proof(tmp_path / "proof")


def test_the_curve_is_proven_from_both_sides(tmp_path):
    curve = tradeoff(LINE, LINE_Y, positive="ill", hidden=(1,))
    assert [(one.at_most, one.recall, one.recall_at_most) for one in curve.points] == [
        (0, Fraction(2, 3), Fraction(2, 3)),
        (1, 1, 1),
    ]
    assert {one.status for one in curve.points} == {"OPTIMAL"}
    assert curve.points[1].false_positives == 1
    assert "2 of 2 points are proven; with at most 1 false positives the recall of ill is 100 %." in str(curve)
    curve.plot(tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").read_text().startswith("<?xml")


def test_points_of_a_curve_share_networks_and_bounds():
    curve = tradeoff(LINE, LINE_Y, positive="ill", hidden=(1,))
    one, last = curve.points
    weak = replace(last, recall=Fraction(1, 3), recall_at_most=Fraction(1), false_positives=Fraction(1))
    early, late = _sharpened([replace(weak, at_most=0.0, false_positives=Fraction(0)), replace(weak, at_most=1.0)])
    assert (early.recall, late.recall) == (Fraction(1, 3), Fraction(1, 3))
    early, late = _sharpened([replace(weak, at_most=0.0, false_positives=Fraction(0)), replace(one, at_most=1.0)])
    assert early.recall == late.recall == Fraction(2, 3)  # the network of the second has no false positives
    assert early.recall_at_most == one.recall_at_most  # and no network with fewer has a larger recall
    both = _together(replace(weak, at_most=0.0), one)
    assert (both.recall, both.recall_at_most, both.network) == (one.recall, one.recall_at_most, one.network)
    assert both.runtime == weak.runtime + one.runtime


def test_the_curve_takes_weights_and_levels():
    curve = tradeoff(LINE, LINE_Y, positive="ill", hidden=(1,), sample_weight=[1, 1, 3, 1, 1], false_positives=[2.5, 3])
    assert [(one.at_most, one.recall) for one in curve.points] == [(2.5, Fraction(2, 3)), (3, 1)]
    with pytest.raises(InvalidInputError, match="must be non-negative numbers"):
        tradeoff(LINE, LINE_Y, false_positives=[-1])
