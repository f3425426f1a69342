"""An output that is one file and one line of a registry works wherever outputs are asked, and is refused elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import rational_outputs
from stepnet import Ball, Search, StepClassifier, attack, load, save
from stepnet.errors import InvalidInputError, ModelFileError, NotAcceptedError
from stepnet.export import to_c, to_json, to_onnx, to_rules
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.registry import ACTIVATIONS
from stepnet.model.network import Layer, Network
from stepnet.report import Report, to_markdown
from toys import BEYOND_SEARCH, First

BRIEF = Search(moves=300, starts=3)
FIRST = First()
X, Y = np.arange(8.0)[:, None], np.array([1, 1, 0, 0, 2, 2, 0, 1])
SEEDS = st.integers(0, 10**6)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(ACTIVATIONS, "first", FIRST)


def decision_list(**options):
    return StepClassifier(**{"hidden": (3,), "output": "first", "method": BRIEF, "random_state": 0} | options)


def random_layer(seed):
    """Small numbers that meet thresholds often, or any."""
    rng = np.random.default_rng(seed)
    width, n = (int(number) for number in rng.integers(1, 5, 2))
    if rng.random() < 0.5:
        weights, thresholds, rows = (rng.integers(-2, 3, shape) / 4 for shape in ((width, n), width, (9, n)))
    else:
        weights, thresholds, rows = (rng.normal(size=shape) for shape in ((width, n), width, (9, n)))
        rows[0] = np.linalg.lstsq(weights, thresholds, rcond=None)[0]  # as near to all of them as can be
    return rng, weights, thresholds, rows


def rational_first(weights, thresholds, rows):
    outputs = rational_outputs([(weights.tolist(), thresholds, None)], rows)
    return [next((j for j, value in enumerate(values) if value >= 0), len(values)) for values in outputs]


@settings(max_examples=100)
@given(SEEDS)
def test_answers_are_those_of_rational_arithmetic(seed):
    _, weights, thresholds, rows = random_layer(seed)
    network = Network((Layer(weights, thresholds, FIRST),))
    answers = network.predict(rows)
    assert answers.tolist() == rational_first(weights, thresholds, rows)
    assert (network.decision(rows).argmax(axis=1) == answers).all()


@settings(max_examples=100)
@given(SEEDS, st.sampled_from([FIRST, ARGMAX]))
def test_answers_change_where_switches_says(seed, output):
    rng, weights, thresholds, rows = random_layer(seed)
    j, sums, own = int(rng.integers(len(weights))), rows @ weights.T, thresholds[:, None]
    if output is ARGMAX and len(weights) == 1:
        return  # nothing to compare with
    at, answers = output.switches(sums.copy(), own, j)
    ends = np.column_stack([at[:, 0] - 1.0, at, at[:, -1] + 1.0])
    for place in range(answers.shape[1]):
        moved = sums.copy()
        moved[:, j] = (ends[:, place] + ends[:, place + 1]) / 2
        assert (output.answers(moved, own) == answers[:, place]).all()


@settings(max_examples=100)
@given(SEEDS)
def test_what_could_not_miss_does_not(seed):
    rng, weights, thresholds, rows = random_layer(seed)
    spread = np.abs(rng.normal(size=rows.shape)) * rng.integers(0, 2, (len(rows), 1)) * 0.3
    least, most = rows - spread, rows + spread
    classes = np.array(rational_first(weights, thresholds, rows))
    misses = FIRST.could_miss(weights, thresholds, least, most, classes)
    for _ in range(20):
        point = least + np.round(rng.random(rows.shape), rng.integers(0, 3)) * (most - least)
        changed = np.array(rational_first(weights, thresholds, point)) != classes
        assert (misses | ~changed).all()


def test_what_is_clear_is_no_miss():
    weights, thresholds = np.array([[1.0], [-1.0]]), np.array([1.5, -0.5])
    rows, classes = np.array([[0.0], [1.0], [2.0]]), np.array([1, 2, 0])
    for reach, expected in ((0.25, [False, False, False]), (0.75, [True, True, True])):
        misses = FIRST.could_miss(weights, thresholds, rows - reach, rows + reach, classes)
        assert misses.tolist() == expected


@pytest.mark.parametrize("n_classes", [3, 4, 9])
def test_a_layer_has_as_many_answers_as_classes(n_classes):
    for output in (FIRST, ARGMAX):
        assert output.n_answers(output.width_for(n_classes)) == n_classes


@pytest.mark.usefixtures("registered")
def test_the_search_learns_a_list_and_everything_reads_it(tmp_path):
    classifier = decision_list().fit(X, Y)
    assert classifier.network_.widths == (3, 2)
    certificate = classifier.certificate_
    assert certificate.bound <= certificate.loss == (classifier.predict(X) != Y).sum()
    save(classifier, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.network_ == classifier.network_
    assert loaded.verify(X, Y)
    assert FIRST.reading in classifier.network_.summary()
    text = to_markdown(Report.of(classifier, (X, Y, None)))
    assert FIRST.reading in text
    assert "| output 1 |" in text
    assert "| output 2 |" in text


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("weights", ["ternary", "binary"])
def test_integer_weights_have_it_too(weights):
    classifier = decision_list(weights=weights).fit(X, Y)
    assert classifier.certificate_.loss == (classifier.predict(X) != Y).sum()


@pytest.mark.usefixtures("registered")
def test_training_begins_with_networks_that_answer_one_class():
    few = decision_list(hidden=(1,), method=Search(moves=1, starts=1)).fit([[0.0], [1.0], [1.0]], [0, 1, 2])
    assert few.certificate_.loss <= 2
    one = decision_list().partial_fit(X[:2], Y[:2], classes=[0, 1, 2])
    assert one.certificate_.loss == 0
    assert one.partial_fit(X[2:], Y[2:]).certificate_.n_rows == len(X)


def test_attacks_find_the_nearest_other_answer():
    steps = Layer([[1.0], [1.0]], [1.5, 3.5])
    network = Network((steps, Layer([[1.0, -1.0], [-1.0, 0.0]], [0.5, -0.5], FIRST)))
    found = attack(network, X)
    assert network.predict(X).tolist() == [1, 1, 0, 0, 2, 2, 2, 2]
    assert found.radii == pytest.approx(np.minimum(np.abs(X[:, 0] - 1.5), np.abs(X[:, 0] - 3.5)), abs=1e-6)
    assert (network.predict(found.points) != network.predict(X)).all()


@pytest.mark.usefixtures("registered")
def test_uncertain_rows_are_searched_by_what_could_be_missed():
    robust = decision_list(uncertainty=Ball("linf", 0.25)).fit(X, Y)
    radii = attack(robust, X, Y).radii
    assert robust.certificate_.loss == (radii <= 0.25 * (1 + 1e-9)).sum()
    assert robust.verify(X, Y)
    with pytest.raises(NotAcceptedError, match=r"hidden=\(1,\)"):
        decision_list(hidden=(), uncertainty=Ball("linf", 0.25)).fit(X, Y)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", BEYOND_SEARCH)
def test_what_does_not_know_it_refuses_it_and_names_the_search(name):
    with pytest.raises(NotAcceptedError, match=r"output=.*Use method=.*'search'"):
        decision_list(hidden=(1,), method=BEYOND_SEARCH[name]).fit(X, Y)


@pytest.mark.usefixtures("registered")
def test_exports_proofs_and_shared_thresholds_refuse_it(tmp_path):
    classifier = decision_list().fit(X, Y)
    for export in (to_c, to_json, to_onnx, to_rules):
        with pytest.raises(InvalidInputError, match="'first' cannot be exported"):
            export(classifier)
    with pytest.raises(NotAcceptedError, match="this proof cannot be written"):
        classifier.save_proof(tmp_path / "proof", X, Y)
    for threshold in ("layer", 0.0):
        with pytest.raises(InvalidInputError, match="Use threshold='neuron'"):
            decision_list(threshold=threshold).fit(X, Y)


def test_files_and_estimators_take_it_once_it_is_registered(tmp_path, monkeypatch):
    with pytest.raises(InvalidInputError, match="'ordinal'"):
        decision_list().fit(X, Y)
    monkeypatch.setitem(ACTIVATIONS, "first", FIRST)
    classifier = decision_list().fit(X, Y)
    save(classifier, tmp_path / "model.json")
    monkeypatch.delitem(ACTIVATIONS, "first")
    with pytest.raises(InvalidInputError, match="ACTIVATIONS"):
        save(classifier, tmp_path / "model.json")
    with pytest.raises(ModelFileError, match="ACTIVATIONS"):
        load(tmp_path / "model.json")


@pytest.mark.usefixtures("registered")
def test_two_classes_need_no_list():
    classifier = decision_list(hidden=(2,), method="prove").fit(X, Y > 0)
    assert classifier.network_.widths == (2, 1)
