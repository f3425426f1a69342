"""Limits on errors: what they count, in rationals, and what they refuse."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from brute_force import rational_answers, recounted
from stepnet import (
    Ball,
    FalsePositiveRate,
    FalsePositives,
    Parity,
    Precision,
    Recall,
    StepClassifier,
    StepRegressor,
)
from stepnet.certificate.certificate import statements_of
from stepnet.errors import InvalidInputError
from stepnet.model.network import Layer, Network
from stepnet.problem.error_limits.demand import Statement
from stepnet.problem.error_limits.inequality import Inequality
from stepnet.problem.error_limits.limits import as_written

X, Y = [[0.0], [1.0], [2.0], [3.0]], ["ill", "well", "ill", "well"]

KINDS = {
    "recall": lambda limit, groups: Recall(at_least=limit),
    "false_positive_rate": lambda limit, groups: FalsePositiveRate(at_most=limit),
    "false_positives": lambda limit, groups: FalsePositives(at_most=limit),
    "precision": lambda limit, groups: Precision(at_least=limit),
    ("parity", "recall"): lambda limit, groups: Parity(by=groups, within=limit),
    ("parity", "false_positive_rate"): lambda limit, groups: Parity(by=groups, of="false_positive_rate", within=limit),
    ("parity", "selection_rate"): lambda limit, groups: Parity(by=groups, of="selection_rate", within=limit),
}


@st.composite
def situations(draw):
    """Few rows, many of them equal, of two classes and two groups; weights of many digits; a network and a limit."""
    n_rows = draw(st.integers(4, 12))
    cells = st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)
    rows = np.column_stack([draw(cells), draw(cells)]).astype(float)
    y, groups = draw(cells), draw(cells)
    y, groups = np.array([0, 1, 0, 1] + [v % 2 for v in y[4:]]), [0, 0, 1, 1] + [v % 2 for v in groups[4:]]
    sizes = st.one_of(st.integers(1, 4), st.floats(1e-3, 1e3))
    weights = draw(st.one_of(st.none(), st.lists(sizes, min_size=n_rows, max_size=n_rows)))
    weight, threshold = draw(st.tuples(st.integers(-2, 2), st.integers(-2, 2))), draw(st.integers(-3, 3))
    network = Network((Layer([list(map(float, weight))], [float(threshold)]),))
    limit = Fraction(draw(st.integers(0, 20)), 20)
    return rows, y, groups, weights, network, limit


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=40)
@given(situation=situations())
def test_a_statement_is_what_a_recount_in_rationals_gives(kind, situation):
    rows, y, groups, weights, network, limit = situation
    constraint = KINDS[kind](limit, groups)
    problem = StepClassifier(hidden=(), constraints=[constraint]).problem(rows, y, weights)
    (statement,) = statements_of(problem, network)
    answers = rational_answers([(network.layers[0].weights, network.layers[0].thresholds)], rows)
    counted = recounted(kind, y, answers, np.ones(len(y)) if weights is None else weights, groups)
    assert statement.value == counted
    is_met = counted is None or (counted >= limit if kind in ("recall", "precision") else counted <= limit)
    assert statement.holds == is_met
    assert (problem.refuses(network) is None) == is_met


@pytest.mark.parametrize("of", ["recall", "false_positive_rate", "selection_rate"])
@settings(max_examples=20)
@given(situation=situations())
def test_groups_of_a_column_are_counted_like_those_of_an_array(of, situation):
    rows, y, groups, weights, network, limit = situation
    rows = pd.DataFrame({"size": rows[:, 0], "sex": groups})
    limits = [Parity(by=by, of=of, within=limit) for by in ("sex", 1, groups)]
    problem = StepClassifier(hidden=(), constraints=limits).problem(rows, y, weights)
    answers = rational_answers([(network.layers[0].weights, network.layers[0].thresholds)], rows.to_numpy())
    counted = recounted(("parity", of), y, answers, np.ones(len(y)) if weights is None else weights, groups)
    assert [one.value for one in statements_of(problem, network)] == [counted] * 3


def test_equal_rows_of_different_groups_are_merged_and_still_counted_apart():
    rows, y, groups = [[0.0], [0.0], [0.0], [1.0], [1.0]], [1, 1, 1, 1, 0], ["f", "f", "m", "m", "m"]
    problem = StepClassifier(hidden=(), constraints=[Parity(by=groups, within=1)]).problem(rows, y)
    assert problem.dataset.n_rows == 3
    (statement,) = statements_of(problem, Network((Layer([[1.0]], [0.5]),)))  # on for x = 1
    assert statement.value == Fraction(1, 2)


def test_factors_on_classes_do_not_count():
    rows, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    classifier = StepClassifier(hidden=(), constraints=[Precision(at_least=0)], class_weight={0: 1.0, 1: 7.0})
    (statement,) = statements_of(classifier.problem(rows, y), Network((Layer([[0.0]], [0.0]),)))
    assert statement.value == Fraction(1, 3)


def test_a_limit_is_the_number_that_is_written():
    assert as_written(0.95) == Fraction(19, 20)
    assert as_written(np.float64(0.1)) == Fraction(1, 10)
    assert as_written(1) == 1
    assert as_written(Fraction(1, 3)) == Fraction(1, 3)


def test_recall_takes_several_classes():
    problem = StepClassifier(hidden=(), output="one_hot", constraints=[Recall("b", at_least=1)]).problem(
        [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "c"]
    )
    (statement,) = problem.constraints.demands
    assert statement.name == "recall of b"
    assert statement.inequalities[0].coefficients.sum() == 2


def test_only_parity_can_be_broken_by_a_right_answer():
    limits = [Recall(at_least=0.9), Precision(at_least=0.9), FalsePositiveRate(at_most=0.1), FalsePositives(at_most=3)]
    demands = StepClassifier(constraints=limits).problem(X, Y).constraints.demands
    assert all(one.is_monotone for one in demands)
    (parity,) = (
        StepClassifier(constraints=[Parity(by=[1, 2, 2, 1], within=0.1, of="selection_rate")])
        .problem(X, Y)
        .constraints.demands
    )
    assert not parity.is_monotone


def test_sums_beyond_64_bits_are_exact():
    one = Inequality.of(np.array([2**70, 2**70 + 2, 4], dtype=object), 2**71 + 2)
    assert one.holds(np.array([True, True, False]))
    assert not one.holds(np.array([True, True, True]))
    coefficients, most = one.scaled(1e4)
    assert coefficients.max() == 1e4
    assert coefficients[:2].sum() <= most


def test_limits_can_be_cloned_compared_pickled_and_printed():
    limit = Parity(by=np.array(["f", "m"]), of="recall", within=0.03)
    assert clone(StepClassifier(constraints=[limit])).constraints == [limit] == pickle.loads(pickle.dumps([limit]))
    assert repr(limit) == "Parity(by=<2 rows>, of='recall', within=0.03)"
    assert hash(limit) == hash(Parity(by=["f", "m"], of="recall", within=0.03))


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (lambda: Recall("ill"), "at_least must be a number from 0 to 1"),
        (lambda: Recall("ill", at_least=1.5), "at_least must be a number from 0 to 1"),
        (lambda: FalsePositives("ill", at_most=-1), "at_most must be a non-negative number"),
        (lambda: Parity(by=3.5, within=0.1), "must be a column of X or have one entry per row"),
        (lambda: Parity(by="sex", of="precision", within=0.1), "not linear in its errors"),
        (lambda: Parity(by="sex"), "within must be a number from 0 to 1"),
        (lambda: Recall("sick", at_least=0.9), "there is no class 'sick'; the classes are \\['ill', 'well'\\]"),
        (lambda: Parity(by="sex", within=0.1), "there is no column 'sex'; give a number from 0 to 0"),
        (lambda: Parity(by=[1, 2], within=0.1), "by has 2 entries, but there are 4 rows"),
        (lambda: Parity(by=[1, 1, 1, 1], within=0.1), "by gives 1 groups"),
        (lambda: Parity(by=[1, 2, 1, 2], within=0.1), "fewer than two groups have rows that count"),
    ],
)
def test_what_makes_no_sense_is_refused(constraint, message):
    with pytest.raises(InvalidInputError, match=message):
        StepClassifier(constraints=[constraint()]).problem(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"uncertainty": Ball("linf", 0.1)}, "are for rows that are certain"),
        ({"loss": "hinge"}, "reads values. Use loss='misclassified'"),
    ],
)
def test_limits_need_errors_that_can_be_counted(options, message):
    with pytest.raises(InvalidInputError, match=message):
        StepClassifier(constraints=[Recall(at_least=0.9)], **options).problem(X, Y)


def test_limits_are_for_classes():
    with pytest.raises(InvalidInputError, match="are for classes; this is a regression"):
        StepRegressor(constraints=[Recall(at_least=0.9)]).problem(X, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(InvalidInputError, match="Recall does not work with output='one_vs_one'"):
        StepClassifier(constraints=[Recall("a", at_least=0.9)], output="one_vs_one").problem(X, ["a", "b", "c", "a"])
    with pytest.raises(InvalidInputError, match="is for two classes; got 3"):
        StepClassifier(constraints=[Precision("a", at_least=0.9)], output="one_hot").problem(X, ["a", "b", "c", "a"])


def test_a_statement_says_what_it_is_about():
    assert str(Statement("recall of ill", ">=", Fraction(19, 20), Fraction(39, 40))) == (
        "recall of ill is 39/40 = 97.5 %, at least 95 %"
    )
    assert (
        str(Statement("precision of ill", ">=", Fraction(1, 2), None))
        == "precision of ill is not defined, at least 50 %"
    )
    assert str(Statement("number of false positives of ill", "<=", Fraction(20), Fraction(3), is_share=False)) == (
        "number of false positives of ill is 3, at most 20"
    )
