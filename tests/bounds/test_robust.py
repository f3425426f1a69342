"""Bounds and neurons for uncertain rows."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from conftest import make_problem, random_network
from stepnet import Ball, Polyhedron, StepClassifier
from stepnet.bounds.conflicts import conflict_bound
from stepnet.bounds.overlaps import lightest_cover, meeting_pairs
from stepnet.constructions.robust_neuron import robust_rows
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem

ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}


def uncertain(X, y, uncertainty, weights=None, hidden=(2,)):
    return replace(make_problem(X, y, hidden, sample_weight=weights), uncertainty=uncertainty)


@pytest.mark.parametrize("seed", range(25))
def test_the_cover_is_the_lightest(seed):
    rng = np.random.default_rng(seed)
    norm, radius, n_classes = rng.choice(list(ORDERS)), rng.choice([0.0, 0.5, 0.75, 1.0]), 2 + seed % 2
    X, y = (
        rng.integers(0, 4, (8, 2)).astype(float),
        np.append(np.arange(n_classes), rng.integers(0, n_classes, 8 - n_classes)),
    )
    problem = uncertain(X, y, Ball(norm, radius), rng.integers(1, 4, 8))
    data, cover = problem.dataset, lightest_cover(problem)
    edges = [
        (i, j)
        for i, j in combinations(range(data.n_rows), 2)
        if data.y[i] != data.y[j] and np.linalg.norm(data.X[i] - data.X[j], ORDERS[norm]) <= 2 * radius + 1e-9
    ]
    covers = [
        chosen
        for size in range(data.n_rows + 1)
        for chosen in combinations(range(data.n_rows), size)
        if all(i in chosen or j in chosen for i, j in edges)
    ]
    best = min(data.weights[list(chosen)].sum() for chosen in covers)
    if n_classes == 2:
        assert cover.value == best == data.weights[cover.rows].sum()
        assert all(cover.rows[i] or cover.rows[j] for i, j in edges)
    assert best / 2 <= cover.value <= best
    assert conflict_bound(problem).value >= cover.value


def test_no_network_is_below_the_cover():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 2)), rng.integers(0, 2, 15)
    problem = uncertain(X, y, Ball("l2", 0.4))
    bound = conflict_bound(problem).value
    assert 0 < bound < 8
    assert min(problem.evaluate(random_network(rng, 2, (2,))) for _ in range(100)) >= bound


def test_touching_sets_meet_and_ranges_keep_them_apart():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    assert meeting_pairs(uncertain(X, y, Ball("l2", 0.5))).shape == (2, 1)
    assert meeting_pairs(uncertain(X, y, Ball("l2", 0.5 - 1e-12))).shape == (2, 0)
    # A row beyond the range is not pushed further, but neither may the other leave it.
    assert meeting_pairs(uncertain(X, y, Ball("l2", 0.5, high=0.4))).shape == (2, 0)
    ramp = Polyhedron([[1.0], [-1.0]], [1.0, 0.0])  # only upwards
    assert meeting_pairs(uncertain(X, y, ramp)).shape == (2, 1)
    assert meeting_pairs(uncertain(2.5 * X, y, ramp)).shape == (2, 0)


@pytest.mark.parametrize("norm", ORDERS)
@pytest.mark.parametrize("scale", [None, (1.0, 3.0)])
def test_the_widest_neuron_keeps_what_it_promises(norm, scale):
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(10, 2)) + 4.0, rng.normal(size=(10, 2)) - 4.0])
    y = np.repeat([1, 0], 10)
    data = Dataset.from_rows(X, y, None, rng.choice([0.1, 0.3], 20))
    problem = replace(Problem(data, make_problem(X, y).architecture), uncertainty=Ball(norm, scale=scale))
    rows = robust_rows(problem)
    margin, neuron = rows.widest(np.arange(20), rows.signs)
    size = problem.uncertainty.dual_sizes(neuron.weights)[0]
    inside = rows.signs * (data.X @ neuron.weights[0] - neuron.thresholds[0]) / size - data.radii
    assert margin > 0.5
    assert inside.min() == pytest.approx(margin, rel=1e-3)
    by_hinge = rows.hinge(np.arange(20), np.ones(20))
    inside = rows.signs * (data.X @ by_hinge.weights[0] - by_hinge.thresholds[0])
    assert (inside >= data.radii * problem.uncertainty.dual_sizes(by_hinge.weights)[0]).all()


def test_the_heaviest_neuron_handles_what_it_says():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(12, 2)), rng.integers(0, 2, 12)
    problem = uncertain(X, y, Ball("linf", 0.1))
    rows, prices = robust_rows(problem), rng.random(12)
    weight, bound, neuron = rows.heaviest(np.arange(12), prices, 30.0)
    inside = rows.signs * (problem.dataset.X @ neuron.weights[0] - neuron.thresholds[0])
    handled = inside > 0.1 * np.abs(neuron.weights).sum()
    assert prices @ handled >= weight - 1e-6
    assert weight <= bound + 1e-6
    for _ in range(300):
        w, t = rng.normal(size=2), rng.normal()
        inside = rows.signs * (problem.dataset.X @ w - t) > 0.1 * np.abs(w).sum() + 1e-4
        assert prices @ inside <= weight + 1e-6


def test_equal_rows_of_one_class_with_different_radii_are_no_conflict():
    X, y = np.array([[0.0], [0.0], [3.0], [3.0]]), np.array([0, 0, 1, 1])
    classifier = StepClassifier((1,), method="prove", uncertainty=Ball("linf"), random_state=0).fit(
        X, y, radius=[0.1, 0.2, 0.1, 0.2]
    )
    assert (classifier.certificate_.loss, classifier.certificate_.bound) == (0, 0)
    mixed = StepClassifier((1,), method="prove", uncertainty=Ball("linf"), random_state=0)
    mixed.fit(X[:3], [0, 1, 0], [3.0, 1.0, 1.0], radius=[0.1, 0.2, 0.3])
    assert mixed.certificate_.loss == 1


@pytest.mark.parametrize("norm", ORDERS)
def test_pairs_on_a_grid_are_those_of_rationals(norm):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 3)).astype(float), rng.integers(0, 2, 40)
    on_grid = meeting_pairs(uncertain(X, y, Ball(norm, 0.5)))
    one_by_one = meeting_pairs(uncertain(X, y, Ball(norm, 0.5, scale=(1.0, 1.0, 1.0))))
    assert on_grid.size
    np.testing.assert_array_equal(on_grid, one_by_one)


def test_polyhedra_on_large_data_and_tiny_weights():
    rng = np.random.default_rng(0)
    A = np.vstack([np.eye(3), -np.eye(3), rng.integers(-2, 3, (2, 3))]).astype(float)
    polyhedron = Polyhedron(A, rng.choice([0.0, 0.25, 1.0], 8))
    tiny = polyhedron.dual_sizes(1e-9 * np.eye(3))
    np.testing.assert_allclose(tiny, 1e-9 * polyhedron.dual_sizes(np.eye(3)), rtol=1e-3)
    X = rng.normal(size=(20, 3)) * 100
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    classifier = StepClassifier((3,), method="prove", uncertainty=polyhedron, time_limit=1, random_state=0).fit(X, y)
    assert classifier.verify(X, y)
