"""Boosted trees: the same with and without a kernel, from the rows that are used, good for boxes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepnet.problem.dataset import Dataset
from stepnet.search.boosting.bins import Bins
from stepnet.search.boosting.boosting import BoostingOptions, boosted_network

SMALL = BoostingOptions(rounds=5, leaves=4, least=2.0)


def rectangles(n_classes, n_rows=300, seed=0):
    """Classes of boxes, which take several splits each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3) if n_classes == 3 else (X[:, 0] > 0) & (X[:, 1] > -0.5)
    return Dataset.from_rows(X, y)


def network_of(dataset, n_outputs, options=SMALL, is_used=None, is_compiled=True):
    kept = dataset.repetitions if is_used is None else np.where(is_used, dataset.repetitions, 0.0)
    return boosted_network(
        dataset, Bins.of(dataset.X), kept, n_outputs, options=options, is_compiled=lambda: is_compiled
    )


def share_right(network, dataset):
    sums = network.predict(dataset.X)
    answers = sums[:, 0] >= 0 if sums.shape[1] == 1 else sums.argmax(axis=1)
    return float((answers == dataset.y).mean())


@pytest.mark.parametrize(("n_classes", "n_outputs"), [(2, 1), (3, 3)])
def test_numpy_grows_the_trees_of_the_kernel(n_classes, n_outputs):
    dataset = rectangles(n_classes)
    compiled, plain = (network_of(dataset, n_outputs, is_compiled=one) for one in (True, False))
    np.testing.assert_allclose(compiled.predict(dataset.X), plain.predict(dataset.X), rtol=0, atol=1e-9)


def test_numpy_grows_the_trees_of_the_kernel_for_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    dataset = Dataset.from_numbers(X, np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2]]))
    compiled, plain = (network_of(dataset, 2, is_compiled=one) for one in (True, False))
    np.testing.assert_allclose(compiled.predict(dataset.X), plain.predict(dataset.X), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("n_classes", "n_outputs"), [(2, 1), (3, 3)])
def test_boxes_are_learned(n_classes, n_outputs):
    network = network_of(rectangles(n_classes), n_outputs, BoostingOptions())
    assert share_right(network, rectangles(n_classes, seed=1)) > 0.95


def test_rows_that_are_not_used_do_not_matter():
    dataset = rectangles(2)
    is_used = np.arange(dataset.n_rows) % 3 > 0
    y = np.where(is_used, dataset.y, 1 - dataset.y).astype(np.int16)
    other = Dataset(dataset.X, y, np.where(is_used, dataset.weights, 7.0))
    rows = dataset.X[is_used]
    expected = network_of(dataset, 1, is_used=is_used).predict(rows)
    assert (network_of(other, 1, is_used=is_used).predict(rows) == expected).all()


def test_a_row_of_weight_two_counts_twice():
    dataset = rectangles(2, 60)
    weighted = Dataset.from_rows(dataset.X, dataset.y, 1.0 + (np.arange(60) % 2))
    twice = [i for i in range(60) for _ in range(1 + i % 2)]
    repeated = Dataset.from_rows(dataset.X[twice], dataset.y[twice])
    assert (network_of(weighted, 1).predict(dataset.X) == network_of(repeated, 1).predict(dataset.X)).all()


def test_leaves_have_enough_rows():
    dataset = rectangles(2, 60)
    sums = network_of(dataset, 1, BoostingOptions(rounds=1, leaves=8, least=15.0)).predict(dataset.X)
    assert np.unique(sums, return_counts=True)[1].min() >= 15


def test_one_class_gives_its_log_odds():
    dataset = Dataset.from_rows([[0.0], [1.0], [2.0]], [1, 1, 1])
    assert (network_of(dataset, 1).predict(dataset.X) > 3).all()


def test_at_least_one_round_is_made_however_short_the_time():
    dataset = rectangles(2)
    short = boosted_network(dataset, Bins.of(dataset.X), np.ones(dataset.n_rows, dtype=bool), 1, seconds=0.0)
    assert short.widths[0] >= 1
    assert short.n_weights < network_of(dataset, 1, BoostingOptions()).n_weights


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=40), st.integers(2, 6))
def test_codes_say_which_cuts_a_value_reaches(values, most):
    X = np.array(values)[:, None]
    bins = Bins.of(X, most)
    (cuts,) = bins.cuts
    assert len(cuts) < most
    assert (np.diff(cuts) > 0).all()
    assert (bins.codes[:, 0] == (cuts <= X).sum(axis=1)).all()
    if 1 < len(np.unique(X)) <= most:  # then every value has a bin of its own
        assert len(np.unique(bins.codes)) == len(np.unique(X))


def test_cuts_of_many_values_leave_as_many_rows_between_them():
    values = np.random.default_rng(0).normal(size=10_000)
    counts = np.bincount(Bins.of(values[:, None], 10).codes[:, 0])
    assert len(counts) == 10
    assert counts.min() > 900


def test_neighbouring_floats_are_told_apart():
    values = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert Bins.of(values).codes.tolist() == [[0], [1]]
