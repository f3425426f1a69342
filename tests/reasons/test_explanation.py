"""Explanations say what the network computes, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stepnet import StepClassifier, explain
from stepnet.errors import InvalidInputError
from stepnet.reasons.explanation import Explanation


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 10, (40, 3)), columns=["age", "dose", "weight"])
    return X, np.where(X.age + 2 * X.dose > 15, "ill", "well")


@pytest.mark.parametrize("hidden", [1, 4, (3, 2)])
def test_a_neuron_decides_exactly_if_the_answer_changes_with_its_bit(table, hidden):
    X, y = table
    clf = StepClassifier(hidden, random_state=0).fit(X, y)
    network = clf.network_
    for number, one in enumerate(explain(clf, X)):
        row = X.iloc[[number]].to_numpy(float)
        assert one.answer == clf.predict(X.iloc[[number]])[0]
        first = one.neurons[: network.widths[0]]
        assert [neuron.value for neuron in first] == network.levels(row)[0][0].tolist()
        assert [neuron.decides for neuron in first] == [
            bool(network.hangs_on(row, j)[0]) for j in range(network.widths[0])
        ]


def test_what_neurons_add_is_the_total_and_decides_the_answer(table):
    X, y = table
    clf = StepClassifier(4, random_state=0).fit(X, y)
    for one in clf.explain(X):
        assert sum(neuron.adds for neuron in one.neurons) == pytest.approx(one.total)
        assert (one.total >= one.needed) == (one.answer == clf.classes_[1])
        assert one.against != one.answer


def test_a_row_prints_its_neurons_with_the_names_of_features(table):
    X, y = table
    text = str(StepClassifier(2, random_state=0).fit(X, y).explain(X.iloc[0]))
    assert text.splitlines()[0].startswith(("ill, not well: the total is ", "well, not ill: the total is "))
    assert "h1" in text
    assert "dose" in text
    assert "The answer depends on " in text


def test_several_rows_print_as_a_table(table):
    X, y = table
    found = StepClassifier(2, random_state=0).fit(X, y).explain(X.iloc[:3])
    assert len(str(found).splitlines()) == 4
    assert str(found).splitlines()[0].split() == ["row", "answer", "total", "needed", "on", "depends", "on"]
    assert [line["row"] for line in found.table()] == [0, 1, 2]
    assert isinstance(found[0], Explanation)
    assert len(found[1:]) == 2


def test_a_pipeline_is_explained_in_the_units_of_its_rows(table):
    X, y = table
    pipe = make_pipeline(StandardScaler(), StepClassifier(1, random_state=0)).fit(X, y)
    found = explain(pipe, X)
    assert [one.answer for one in found] == pipe.predict(X).tolist()
    (neuron,) = explain(pipe, X.iloc[0]).neurons
    sign, end = (1, neuron.rule.split("≥ ")[1]) if "≥" in neuron.rule else (-1, neuron.rule.split("≤ ")[1])
    assert (sign * neuron.here >= sign * float(end)) == bool(neuron.value)


def test_several_classes_are_explained_against_the_second_best(table):
    X, _ = table
    y = (X.age > 3).astype(int) + (X.dose > 6)
    for output in ("one_hot", "one_vs_one", "ordinal"):
        clf = StepClassifier(3, random_state=0, output=output, method="search", time_limit=1).fit(X, y)
        for one, answer in zip(clf.explain(X), clf.predict(X), strict=True):
            assert one.answer == answer
            assert one.against != answer


def test_a_network_without_hidden_neurons_names_its_features(table):
    X, y = table
    one = StepClassifier((), method="prove").fit(X, y).explain(X.iloc[0])
    assert [neuron.name for neuron in one.neurons] == ["age", "dose", "weight"]
    assert "no hidden neuron" in str(one)


def test_what_is_not_a_classifier_is_refused():
    with pytest.raises(InvalidInputError, match="not a fitted stepnet classifier"):
        explain(StepClassifier(), [[1]])
