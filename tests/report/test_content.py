"""Every number of a report is what a hand or scikit-learn computes."""

import dataclasses
import math

import numpy as np
import pandas
import pytest
from sklearn import metrics

from report_models import HOSTILE, LINE, SQUARE, THREE, XOR, every_kind, fitted, xor
from stepnet import Ball, Integers, Layer, Network, Recall, StepClassifier, StepRegressor, load, save
from stepnet.errors import InvalidInputError
from stepnet.problem.weights import BINARY, SIGN, Real
from stepnet.report import Report, to_text
from stepnet.report import robustness as robustness_module
from stepnet.report.size import bits_of
from stepnet.tables.columns import Column, Columns

KINDS = every_kind()


@pytest.fixture(scope="module")
def report():
    """XOR's network on rows of OR: the last row is wrong."""
    model = xor((0, 1, 1, 1))
    model.trace_ = ((0.5, 2.0, 0.0), (1.0, 1.0, 1.0))
    return Report.of(model, (SQUARE, [0, 1, 1, 1], None), (SQUARE, [0, 1, 1, 0]), radius=0.25, norm="linf")


def test_neurons_are_rules_over_named_features(report):
    hidden, output = report.layers
    assert [neuron.rule for neuron in hidden.neurons] == ["on where a + b ≥ 0.5", "on where a + b ≥ 1.5"]
    assert [neuron.rule for neuron in output.neurons] == ["1 where h1 and not h2, else 0"]


@pytest.mark.parametrize(
    ("factors", "sentence"),
    [
        ((1.0, 2.0), "Rules show the weights as they are."),
        ((0.3, 2.0), "Some rules are divided by their largest weight, which does not change them; the others show"),
    ],
)
def test_what_is_said_of_the_rules_is_true_of_them(factors, sentence):
    """Those of integer weights are not divided."""
    hidden, output = XOR.layers
    scaled = Layer(hidden.weights * np.reshape(factors, (2, 1)), hidden.thresholds * factors)
    model = fitted(StepClassifier((2,)), Network((scaled, output)), SQUARE, [0, 1, 1, 0])
    report = Report.of(model, (SQUARE, [0, 1, 1, 0], None))
    assert sentence in " ".join(to_text(report).split())
    first, second = report.layers[0].neurons
    assert (first.is_divided, second.is_divided) == (factors[0] != 1, False)
    assert second.rule == "on where 2·x0 + 2·x1 ≥ 3"


def test_rules_that_are_all_divided_say_so():
    model = fitted(StepClassifier(()), Network((Layer([[0.5, 0.25]], [0.4]),)), SQUARE, [0, 0, 1, 1])
    text = " ".join(to_text(Report.of(model, (SQUARE, [0, 0, 1, 1], None))).split())
    assert "Each rule is divided by its largest weight, which does not change it. Numbers are rounded to four" in text


def test_neurons_count_the_rows_they_are_on_for_and_those_whose_answer_they_decide(report):
    hidden, output = report.layers
    assert [neuron.rows for neuron in hidden.neurons] == [(1, 3), (3, 1)]
    assert [neuron.decided for neuron in hidden.neurons] == [3, 3]
    assert output.neurons[0].rows == (2, 2)


def test_features_tell_how_they_are_used_and_their_range(report):
    first = report.features[0]
    assert (first.name, first.raises, first.lowers, first.smallest, first.largest) == ("a", 2, 0, 0.0, 1.0)


def test_size_counts_weights_bits_and_parameters(report):
    size = report.size
    assert (size.neurons, size.hidden, size.nonzero, size.parameters) == (3, 2, 6, 9)
    assert [layer.bits for layer in size.layers] == [4 * 64 + 2 * 64, 2 * 64 + 64]
    assert size.vc == pytest.approx(9 * math.log2(9))
    assert (size.n_rows, size.are_distinct) == (4, False)


def test_answers_are_counted(report):
    train, test = report.train, report.test
    assert train.confusion == ((1, 0), (1, 2))
    assert (train.rows, train.wrong, train.accuracy) == (4, 1, 0.75)
    assert train.balanced_accuracy == pytest.approx((1 + 2 / 3) / 2)
    assert train.mcc == pytest.approx(2 / math.sqrt(12))
    zero, one = train.classes
    assert (zero.precision, zero.recall, zero.f1) == (0.5, 1.0, pytest.approx(2 / 3))
    assert (one.precision, one.recall, one.f1) == (1.0, pytest.approx(2 / 3), pytest.approx(0.8))
    assert test.wrong == 0


def test_margins_are_distances_to_hyperplanes_that_answers_depend_on(report):
    assert report.certificate.margin == pytest.approx(0.5 / math.sqrt(2))
    assert report.margins.edges[-1] == pytest.approx(0.5 / math.sqrt(2))
    assert (sum(report.margins.counts), report.margins.counts[-1], report.margins.n_free) == (4, 4, 0)


def test_certified_rows_are_right_within_the_radius(report):
    # Every corner is 0.25 from a + b = 0.5 or 1.5 in the largest norm; its radius is that distance, not more.
    found = report.robustness
    assert (found.part, found.n_rows, found.n_attacked, found.n_unfinished) == ("test", 4, 4, 0)
    assert (found.right, found.certified) == (1.0, 0.0)
    closer = Report.of(xor(), None, (SQUARE, [0, 1, 1, 1]), radius=0.2)
    assert (closer.robustness.right, closer.robustness.certified) == (0.75, 0.75)
    assert [share for radius, share in closer.robustness.curve if radius <= 0.2] == [0.75]
    assert [closer.robustness.share(radius) for radius in (0.0, 0.2, 0.25, 9.0)] == [0.75, 0.75, 0.0, 0.0]


def test_rows_beyond_the_cap_are_not_attacked_and_the_report_says_so(monkeypatch):
    monkeypatch.setattr(robustness_module, "MOST_ROWS", 2)
    found = Report.of(xor(), None, (SQUARE, [0, 1, 1, 0]), radius=0.1).robustness
    assert (found.n_attacked, found.n_rows, found.n_unfinished) == (2, 4, 0)
    monkeypatch.setattr(robustness_module, "MOST_ROWS", 200)
    monkeypatch.setattr(robustness_module, "MOST_SECONDS", 1e-9)
    rows = np.repeat(SQUARE, 3, axis=0)
    found = Report.of(xor(), None, (rows, np.repeat([0, 1, 1, 0], 3)), radius=0.1).robustness
    assert (found.n_attacked, found.n_rows, found.n_unfinished) == (12, 12, 12)
    assert (found.certified, found.broken) == (0.0, 0.0)


def test_the_trace_is_that_of_the_estimator(report):
    assert report.trace == ((0.5, 2.0, 0.0), (1.0, 1.0, 1.0))
    assert Report.of(xor()).trace == ()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_estimator_before_and_after_a_file(kind, tmp_path):
    estimator, (X, y) = KINDS[kind]
    save(estimator, tmp_path / "model.json")
    for model in (estimator, load(tmp_path / "model.json")):
        found = Report.of(model, (X, y, None), (X, y))
        assert found.verification
        assert found.train == found.test
        assert found.size.nonzero == estimator.certificate_.n_weights
        assert Report.of(model).train is None
    if y is not None and len(found.classes):
        assert found.train.accuracy == metrics.accuracy_score(y, estimator.classes_[estimator.network_.predict(X)])


def test_classes_agree_with_scikit_learn():
    rng = np.random.default_rng(3)
    X, y = rng.uniform(0, 6, (60, 1)), rng.choice(np.unique(THREE), 60)
    estimator, _ = KINDS["one_hot"]
    found = Report.of(estimator, None, (X, y)).test
    answers = estimator.predict(X)
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(y, answers)
    assert np.array_equal(found.confusion, metrics.confusion_matrix(y, answers))
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, answers))
    assert [one.precision for one in found.classes] == pytest.approx(precision)
    assert [one.recall for one in found.classes] == pytest.approx(recall)
    assert [one.f1 for one in found.classes] == pytest.approx(f1)
    assert [one.rows for one in found.classes] == rows.tolist()
    assert found.mcc is None


def test_shares_of_nothing_are_not_numbers():
    found = Report.of(xor(), None, (SQUARE[:1], [0])).test
    assert found.classes[1].precision is None
    assert found.classes[1].recall is None
    assert found.classes[1].f1 is None
    assert found.mcc is None
    assert found.balanced_accuracy == 1.0


def test_numbers_agree_with_scikit_learn():
    estimator, (X, y) = KINDS["regressor"]
    found, answers = Report.of(estimator, (X, y, None)).train, estimator.predict(X)
    assert answers.tolist() == [1.0, 1.0, 1.0, 5.5, 5.5, 5.5]
    assert found.overall.r2 == pytest.approx(metrics.r2_score(y, answers))
    assert found.overall.mae == pytest.approx(2.5 / 6)
    assert found.overall.rmse == pytest.approx(math.sqrt(2.75 / 6))
    assert found.parts == ()
    constant = Report.of(estimator, None, (X, np.ones(6))).test
    assert constant.overall.r2 is None


def test_an_autoencoder_tells_the_variance_kept_and_the_codes_in_use():
    estimator, (X, _) = KINDS["autoencoder"]
    found = Report.of(estimator, (X, None, None)).train
    assert found.overall.r2 == pytest.approx(estimator.score(X))
    assert found.codes == 2


def test_a_vote_counts_the_weights_of_its_members_alone():
    size = Report.of(KINDS["ensemble"][0]).size
    # Three members: one weight and threshold below, one above; the vote over them was not learned.
    assert [layer.weights for layer in size.layers] == [3, 3, 3]
    assert [layer.is_learned for layer in size.layers] == [True, True, False]
    assert size.parameters == 12
    assert (size.layers[-1].domain, size.layers[-1].bits_each) == ("binary", 1)
    pairs = Report.of(KINDS["one_vs_one"][0]).size
    assert (pairs.parameters, pairs.layers[-1].domain) == (12, "ternary")


@pytest.mark.parametrize(
    ("domain", "bits"), [(Real(), 64), (BINARY, 1), (SIGN, 1), (Integers(1), 2), (Integers(3), 3), (Integers(4), 4)]
)
def test_weights_take_the_bits_of_their_domain(domain, bits):
    assert bits_of(domain) == bits


def test_small_weights_make_small_networks():
    size = Report.of(xor(weights="ternary")).size
    assert [layer.bits for layer in size.layers] == [4 * 2 + 2 * 64, 2 * 2 + 64]


def test_a_false_certificate_is_found_out():
    model = xor()
    model.certificate_ = dataclasses.replace(model.certificate_, loss=1.0, gap=1.0, status="FEASIBLE")
    assert not Report.of(model, (SQUARE, [0, 1, 1, 0], None)).verification


def test_weights_of_rows_are_checked_and_rows_without_weight_do_not_count():
    weights = np.array([1.0, 2.0, 3.0, 0.0])
    model = fitted(StepClassifier((2,)), xor().network_, SQUARE, np.array([0, 1, 1, 1]), weights)
    found = Report.of(model, (SQUARE, [0, 1, 1, 1], weights))
    assert found.verification
    assert found.is_weighted
    assert (found.train.rows, found.train.wrong) == (3, 0)


def test_features_have_the_sentences_of_their_columns():
    model = xor()
    model.columns_ = Columns((Column("color", "one_hot", ("red",)), Column("b", fill=3.0)))
    report = Report.of(model)
    meanings = ["1 where color is 'red', else 0", "b; where b is missing, 3"]
    assert [feature.meaning for feature in report.features] == meanings
    assert report.columns == ("color", "b")


def test_rows_may_lack_features_that_no_answer_depends_on():
    network = Network((Layer([[1.0, 0.0]], [0.5]),))
    y = np.array([0, 0, 1, 1])
    model = fitted(StepClassifier(()), network, SQUARE, y, names=("a", "b"))
    test = np.array([[0.0, 9.0], [2.0, 9.0]])
    report = Report.of(model, (SQUARE, y, None), (test, [0, 1]), absent=((), (1,)))
    assert report.n_seen == 1  # the first, by the feature that both have
    assert [check.holds for check in report.verification.checks] == [True, True, True]
    assert [(feature.is_used, feature.smallest) for feature in report.features] == [(True, 0.0), (False, 0.0)]
    rows = np.where([True, False], SQUARE, 0.0)
    report = Report.of(model, (rows, y, None), absent=((1,), ()))
    assert [check.holds for check in report.verification.checks] == [None, True, True, True]
    assert [feature.smallest for feature in report.features] == [0.0, None]
    assert "new.csv needs the column a." in to_text(report)


def test_tables_with_names_are_taken_without_a_warning(recwarn):
    y = [0, 1, 1, 0]
    frame = pandas.DataFrame(SQUARE, columns=["a", "b"])
    assert Report.of(xor(), (frame, y, None)).train == Report.of(xor(), (SQUARE, y, None)).train
    assert not recwarn.list


def test_names_cannot_steer_a_terminal_or_turn_the_text():
    found = Report.of(xor(names=(HOSTILE, "b")), title=HOSTILE)
    assert found.title.isprintable()
    assert found.features[0].name.isprintable()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": SQUARE}, "must be the tuple"),
        ({"test": (SQUARE, [0, 1, 1, 0], None)}, "must be the tuple"),
        ({"train": (SQUARE, [0, 0, 1, 0], None)}, "not trained on as --test FILE"),
        ({"test": (SQUARE, [0, 1, 1, 7])}, "not one of the model's classes"),
        ({"radius": 0.1}, "needs rows"),
        ({"radius": -1.0, "test": (SQUARE, [0, 1, 1, 0])}, "not negative"),
        ({"radius": math.nan, "test": (SQUARE, [0, 1, 1, 0])}, "finite"),
        ({"radius": 0.1, "norm": "l7", "test": (SQUARE, [0, 1, 1, 0])}, "l7"),
    ],
)
def test_what_cannot_be_reported_is_said(change, message):
    with pytest.raises(InvalidInputError, match=message):
        Report.of(xor(), **change)


def test_numbers_have_no_radius_and_strangers_no_report():
    estimator, (X, y) = KINDS["regressor"]
    with pytest.raises(InvalidInputError, match="predicts numbers"):
        Report.of(estimator, (X, y, None), radius=0.1)
    with pytest.raises(InvalidInputError, match="fitted stepnet estimator"):
        Report.of("model.json")
    with pytest.raises(InvalidInputError, match="shape"):
        Report.of(estimator, None, (X, np.column_stack([y, y])))
    assert isinstance(estimator, StepRegressor)


def test_a_report_is_plain_data():
    found = Report.of(KINDS["one_vs_one"][0], (LINE, THREE, None), radius=0.1)

    def plain(value):
        if dataclasses.is_dataclass(value):
            return all(plain(getattr(value, field.name)) for field in dataclasses.fields(value))
        if isinstance(value, tuple):
            return all(map(plain, value))
        return type(value) in (int, float, str, bool, type(None))

    assert plain(found)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.title = "another"


def test_worst_cases_are_checked_with_the_radii_of_their_rows():
    y, radii = [0, 1, 1, 0], [0.1, 0.2, 0.1, 0.1]
    model = StepClassifier((2,), uncertainty=Ball("linf"), method="search", random_state=0, time_limit=5)
    model.fit(SQUARE, y, radius=radii)
    assert Report.of(model, (SQUARE, y, None, radii)).verification
    with pytest.raises(InvalidInputError, match="not the data"):
        Report.of(model, (SQUARE, y, None))


def test_test_rows_that_are_training_rows_are_counted_apart():
    """Equal in their features: -0.0 is 0.0, and y does not matter."""
    train, model = (SQUARE, [0, 1, 1, 0], None), xor()
    test = np.vstack([SQUARE[:2] * -1.0 * -1.0, [[-0.0, 0.0], [5.0, 5.0], [9.0, 9.0]]])
    found = Report.of(model, train, (test, [0, 1, 0, 0, 1]))
    assert (found.n_seen, found.unseen.rows, found.unseen.wrong) == (3, 2, 1)
    text = to_text(found, width=200)
    assert "3 of these 5 rows equal training rows, so they say little about new ones." in text
    assert "On the other 2, the accuracy is 50.0 % (1 wrong)." in text
    same = Report.of(model, train, (SQUARE, [0, 1, 1, 0]))
    assert (same.n_seen, same.unseen) == (4, None)
    assert "All of these rows equal training rows, so they say nothing about new ones." in to_text(same, width=200)
    none = Report.of(model, train, (np.array([[5.0, 5.0]]), [0]))
    assert (none.n_seen, none.unseen) == (0, None)
    assert Report.of(model, None, (SQUARE, [0, 1, 1, 0])).n_seen == 0


def test_limits_on_errors_are_listed_with_their_exact_values():
    labels = [0, 1, 1, 0]
    model = fitted(StepClassifier(hidden=(2,), constraints=[Recall(at_least=0.5)]), XOR, SQUARE, labels)
    text = " ".join(to_text(Report.of(model, (SQUARE, labels, None))).split())
    assert "Demanded of the training rows" in text
    assert "recall of 1 at least 50 % 1 = 100 %" in text
