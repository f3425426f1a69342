"""A loss that is one file and one line of a registry works wherever losses are asked, and is refused elsewhere."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepnet import Ball, Hinge, Search, StepClassifier, StepRegressor, load, save
from stepnet.bounds.conflicts import conflict_bound
from stepnet.errors import InvalidInputError, ModelFileError, NotAcceptedError
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.base import AnswerLoss
from stepnet.problem.losses.registry import LOSSES
from stepnet.problem.problem import Problem
from toys import BEYOND_SEARCH, Distance, Quantile

BRIEF = Search(moves=300, starts=3)
ROWS = [[0.0], [0.0], [1.0], [2.0], [2.0], [2.0], [3.0], [4.0]]
STARS = [0, 2, 1, 2, 2, 0, 0, 1]


def ordinal(labels=STARS, **options):
    return StepClassifier(**{"hidden": (), "output": "ordinal", "method": BRIEF, "random_state": 0} | options)


def least_of_monotone(rows, stars):
    """One neuron with a threshold between classes, above one feature: answers rise along it, or they fall."""
    places = sorted({row[0] for row in rows})
    best = None
    for answers in product(range(3), repeat=len(places)):
        if list(answers) not in (sorted(answers), sorted(answers, reverse=True)):
            continue
        by_place = dict(zip(places, answers, strict=True))
        cost = sum(abs(by_place[row[0]] - star) for row, star in zip(rows, stars, strict=True))
        best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("loss", [Distance(), "distance"])
@pytest.mark.parametrize("output", ["ordinal", "one_hot"])
def test_the_search_of_answers_lies_between_bound_and_brute_force(loss, output, monkeypatch):
    monkeypatch.setitem(LOSSES, "distance", Distance)
    classifier = ordinal(loss=loss, output=output).fit(ROWS, STARS)
    certificate = classifier.certificate_
    assert certificate.measure == Distance.measure
    assert certificate.bound == 4  # two groups of equal rows, 2 each
    assert certificate.loss == np.abs(classifier.predict(ROWS) - STARS).sum()
    assert certificate.bound <= certificate.loss
    assert classifier.verify(ROWS, STARS)
    if output == "ordinal":
        assert certificate.loss >= least_of_monotone(ROWS, STARS)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 5)), min_size=3, max_size=10))
def test_the_free_bound_is_what_the_cheapest_answers_cost(rows):
    X, y, weights = ([row[i] for row in rows] for i in range(3))
    dataset = Dataset.from_rows(np.array(X, dtype=float)[:, None], y, weights)
    architecture = StepClassifier((), output="ordinal").problem([[0], [1], [2]], [0, 1, 2]).architecture
    cheapest = sum(
        min(sum(w * abs(code - c) for x, c, w in rows if x == place) for code in range(3)) for place in set(X)
    )
    assert conflict_bound(Problem(dataset, architecture, Distance())).value == cheapest


@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3, 1e-9])
def test_a_loss_that_meets_the_free_bound_is_optimal_whatever_rows_weigh(weight):
    certificate = ordinal(loss=Distance()).fit(ROWS[:3], STARS[:3], [weight] * 3).certificate_
    assert (certificate.status, certificate.loss) == ("OPTIMAL", 2 * weight)


@dataclass(frozen=True)
class Undecided(AnswerLoss):
    """The last of three answers is no class but a shrug."""

    name, measure, step = "undecided", "errors and shrugs", 0.25

    def answer_costs(self, answers, y):
        return np.where(answers == 2, 0.25, answers != y)


def test_an_answer_that_no_row_has_may_be_the_cheapest():
    rows, labels = [[0.0], [0.0], [1.0]], [0, 1, 0]
    classifier = StepClassifier((1,), output="ordinal", loss=Undecided(), method=BRIEF, random_state=0)
    classifier.partial_fit(rows, labels, classes=[0, 1, 2])
    assert classifier.certificate_.bound == 0.5  # two shrugs, not one error
    assert classifier.certificate_.loss >= 0.5


@pytest.mark.parametrize("name", BEYOND_SEARCH)
def test_what_knows_errors_alone_refuses_a_loss_of_answers_and_names_the_search(name):
    with pytest.raises(NotAcceptedError, match=r"loss='distance'.*Use method='search'"):
        ordinal(hidden=(1,), loss=Distance(), method=BEYOND_SEARCH[name]).fit(ROWS, STARS)


def test_learn_leaves_a_loss_of_answers_to_the_search():
    classifier = ordinal(hidden=(1,), loss=Distance(), method="learn").fit(ROWS, STARS)
    assert classifier.result_.plan.refused == (("descent", "descent knows errors and numbers, not loss='distance'"),)
    assert classifier.verify(ROWS, STARS)


def test_uncertain_rows_and_votes_refuse_a_loss_of_answers():
    with pytest.raises(NotAcceptedError, match=r"no worst case. Use uncertainty=None"):
        ordinal(hidden=(1,), loss=Distance(), uncertainty=Ball("linf", 0.1)).fit(ROWS, STARS)
    with pytest.raises(InvalidInputError, match="Use output='one_hot' or 'ordinal'"):
        ordinal(output="one_vs_one", loss=Distance()).fit(ROWS, STARS)
    with pytest.raises(NotAcceptedError, match="Use output='one_vs_one'"):
        ordinal(hidden=(1,), loss=Hinge()).fit(ROWS, STARS)


def test_files_take_a_loss_once_it_is_registered(tmp_path, monkeypatch):
    classifier = ordinal(loss=Distance()).fit(ROWS, STARS)
    with pytest.raises(InvalidInputError, match="LOSSES"):
        save(classifier, tmp_path / "model.json")
    with pytest.raises(InvalidInputError, match="LOSSES"):
        ordinal(loss=Distance()).fit(ROWS, STARS, checkpoint=tmp_path / "checkpoint")
    monkeypatch.setitem(LOSSES, "distance", Distance)
    save(classifier, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.loss == Distance()
    assert loaded.verify(ROWS, STARS)
    again = {"checkpoint": tmp_path / "checkpoint", "resume": True}
    losses = [ordinal(loss="distance").fit(ROWS, STARS, **again).certificate_.loss for _ in range(2)]
    assert losses[1] <= losses[0]
    monkeypatch.delitem(LOSSES, "distance")
    with pytest.raises(ModelFileError, match=r"Distance is not known.*LOSSES"):
        load(tmp_path / "model.json")


def test_rows_that_come_later_keep_the_bound_of_the_earlier_ones():
    classifier = ordinal(loss=Distance()).partial_fit(ROWS[:4], STARS[:4])
    assert classifier.certificate_.bound == 2
    classifier.partial_fit(ROWS[4:], STARS[4:])
    assert classifier.certificate_.loss >= classifier.certificate_.bound == 4


NUMBERS = [0.0, 4.0, 1.0, 7.0, 9.0, 8.0, 2.0, 3.0]


def least_of_two_steps(rows, numbers, q):
    """One hidden step above one feature: a constant on each of its sides, best at one of the numbers."""

    def cost(part):
        prices = [sum(q * max(y - z, 0) + (1 - q) * max(z - y, 0) for y in part) for z in part]
        return min(prices, default=Fraction(0))

    numbers = [Fraction(number) for number in numbers]
    pairs = list(zip(rows, numbers, strict=True))
    ends = [-1.0, *(row[0] for row in rows)]
    sides = [([y for row, y in pairs if row[0] <= end], [y for row, y in pairs if row[0] > end]) for end in ends]
    return min(cost(left) + cost(right) for left, right in sides)


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("method", ["prove", "exact", BRIEF], ids=["prove", "exact", "search"])
def test_a_quantile_is_learned_and_proven(q, method):
    regressor = StepRegressor((1,), loss=Quantile(q=q), method=method, random_state=0).fit(ROWS, NUMBERS)
    certificate, least = regressor.certificate_, float(least_of_two_steps(ROWS, NUMBERS, Fraction(q)))
    assert certificate.bound <= least * (1 + 1e-9)
    assert certificate.loss >= least * (1 - 1e-9)
    assert regressor.verify(ROWS, NUMBERS)
    if method is not BRIEF:
        assert certificate.status == "OPTIMAL"
        assert certificate.loss == pytest.approx(least, rel=1e-5)


@settings(max_examples=50)
@given(
    st.sampled_from([0.125, 0.5, 0.875]),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-9, 9), st.integers(1, 5)), min_size=1, max_size=12),
)
def test_best_constants_are_weighted_quantiles(q, rows):
    place, numbers, weights = (np.array([row[i] for row in rows]) for i in range(3))
    _, group = np.unique(place, return_inverse=True)
    constants = Quantile(q=q).best_constants(numbers.astype(float)[:, None], weights.astype(float), group)
    for one, constant in enumerate(constants[:, 0].tolist()):
        part = [(int(y), int(w)) for y, w, g in zip(numbers, weights, group, strict=True) if g == one]

        def cost(z, part=part):
            return sum(w * (q * max(y - z, 0) + (1 - q) * max(z - y, 0)) for y, w in part)

        assert cost(constant) == min(cost(y) for y, _ in part)


def test_quantiles_of_uncertain_rows_are_those_of_the_worst_case():
    regressor = StepRegressor((1,), loss=Quantile(q=0.75), uncertainty=Ball("linf", 0.25), method=BRIEF, random_state=0)
    certificate = regressor.fit(ROWS, NUMBERS).certificate_
    assert certificate.bound <= certificate.nominal_loss <= certificate.loss


def test_learned_quantiles_choose_their_intercepts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + rng.normal(size=400)
    below = [
        float((y < StepRegressor((3,), loss=Quantile(q=q), method="learn", random_state=0).fit(X, y).predict(X)).mean())
        for q in (0.125, 0.5, 0.875)
    ]
    assert below == pytest.approx([0.125, 0.5, 0.875], abs=0.01)  # of 400 rows, by the last intercept


def test_a_name_is_known_to_its_task_alone(monkeypatch):
    monkeypatch.setitem(LOSSES, "quantile", Quantile)
    with pytest.raises(InvalidInputError, match="choose one of 'misclassified'"):
        ordinal(loss="quantile").fit(ROWS, STARS)
    architecture = Architecture.of(1, (1,), "neuron", "real", STEP, IDENTITY, 1)
    problem = StepRegressor((1,), loss="quantile").problem(ROWS, NUMBERS)
    assert (problem.loss, problem.architecture) == (Quantile(), architecture)
