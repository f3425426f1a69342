"""Committees: what each member learns from, and what it is asked about."""

import numpy as np
import pytest

from stepnet import StepEnsembleClassifier
from stepnet.estimators.committee import _held_out
from stepnet.problem.dataset import Dataset


def test_every_row_is_held_out_by_one_part():
    dataset = Dataset.from_rows(np.arange(23.0)[:, None], np.arange(23) % 2)
    held_out = _held_out(dataset, 5, seed=0)
    assert (held_out.sum(axis=0) == dataset.weights).all()
    assert ((held_out > 0).sum(axis=0) == 1).all()
    for code in (0, 1):
        sizes = held_out[:, dataset.y == code].sum(axis=1)
        assert sizes.max() - sizes.min() <= 1


def test_equal_rows_are_divided_among_the_parts():
    dataset = Dataset.from_rows(np.repeat([[0.0], [1.0]], [40, 60], axis=0), np.r_[np.zeros(30), np.ones(70)])
    held_out = _held_out(dataset, 5, seed=0)
    assert dataset.n_rows == 3
    np.testing.assert_allclose(held_out.sum(axis=0), dataset.weights, rtol=1e-12)
    np.testing.assert_allclose(held_out, np.tile(dataset.weights / 5, (5, 1)), rtol=1e-12)


def test_weights_without_a_common_measure_are_not_divided():
    dataset = Dataset.from_rows([[0.0], [1.0], [2.0]], [0, 1, 0], [0.3, np.pi, 1.7])
    held_out = _held_out(dataset, 5, seed=0)
    assert ((held_out > 0).sum(axis=0) == 1).all()
    assert (held_out.sum(axis=0) == dataset.weights).all()


def test_many_equal_rows_count_as_many_and_heavy_rows_do_not():
    X, y = np.repeat([[0.0], [1.0]], 500, axis=0), np.repeat([0, 1], 500)
    assert Dataset.from_rows(X, y).repetitions.tolist() == [500, 500]
    heavy = Dataset.from_rows([[0.0], [1.0], [2.0]], [0, 1, 1], [1.0, 499.0, 500.0])
    assert heavy.repetitions.sum() == pytest.approx(3)  # three rows were given


@pytest.mark.parametrize("kinds", ["trees", "oblique", ("trees", "oblique")])
def test_a_committee_learns_a_table_of_few_different_rows(kinds):
    """Four different rows, each of both classes: the heavier class is the best answer."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 2)).astype(float)
    shares = np.array([[0.9, 0.3], [0.2, 0.8]])[X[:, 0].astype(int), X[:, 1].astype(int)]
    y = (rng.random(400) < shares).astype(int)
    committee = StepEnsembleClassifier(kinds=kinds, random_state=0).fit(X, y)
    cells = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    assert committee.predict(cells).tolist() == [1, 0, 0, 1]
    seen = [y[(cell == X).all(axis=1)].mean() for cell in cells]
    np.testing.assert_allclose(committee.predict_proba(cells)[:, 1], seen, atol=0.1)
