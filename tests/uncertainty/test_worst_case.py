"""Worst cases are exact: as enumeration of activation regions has them, attained, and in the set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import smallest_move
from stepnet import Ball, Layer, Network, Polyhedron, Staircase
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP
from stepnet.uncertainty.quick_attack import QuickAttack
from stepnet.uncertainty.worst_case import worst_classes, worst_numbers
from uncertainty.test_attack import NORMS, random_steps


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.lists(st.integers(1, 6), min_size=1, max_size=2),
    st.sampled_from(NORMS),
)
def test_a_row_breaks_at_the_radius_of_its_smallest_move(seed, n, widths, norm):
    rng = np.random.default_rng(seed)
    network, row = random_steps(rng, n, widths), rng.normal(size=n)
    best = smallest_move(network, row, norm)
    radii = [0.5, 3.0] if np.isinf(best) else [best * 0.999 - 1e-7, best * 1.001 + 1e-6, best * 1.5 + 1e-6]
    for radius in np.maximum(radii, 0.0):
        found = worst_classes(network, Ball(norm), row[None], np.array([radius]), network.predict(row[None]))
        assert found.is_complete
        assert found.costs[0] == float(radius > best)
        assert Ball(norm).contains(row, found.points[0], radius)
        assert (network.predict(found.points) != network.predict(row[None])) == found.costs[0]


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 6), max_size=2),
    st.sampled_from([Ball(norm) for norm in NORMS] + [Ball("linf", low=-1.0, high=1.5), Ball("l2", scale=(0.5, 2.0))]),
    st.sampled_from([STEP, ARGMAX]),
)
def test_quick_attacks_change_no_verdict(seed, hidden, ball, output):
    rng = np.random.default_rng(seed)
    network, X, radii = random_steps(rng, 2, hidden), rng.normal(size=(30, 2)), rng.uniform(0, 1, 30)
    if output == ARGMAX and hidden:
        last = Layer(rng.normal(size=(3, hidden[-1])), rng.normal(size=3), ARGMAX)
        network = Network((*network.layers[:-1], last))
    y = network.predict(X)
    quick = worst_classes(network, ball, X, radii, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QuickAttack, "points", lambda self, X, *_: X)
        slow = worst_classes(network, ball, X, radii, y)
    np.testing.assert_array_equal(quick.uppers, slow.uppers)
    np.testing.assert_array_equal(quick.costs, slow.costs)
    np.testing.assert_array_equal(network.predict(quick.points) != y, quick.costs)
    assert all(ball.contains(*one) for one in zip(X, quick.points, radii, strict=True))


def test_a_polyhedron_and_a_transform_are_what_they_say():
    rng = np.random.default_rng(1)
    box = Polyhedron(np.vstack([np.eye(2), -np.eye(2)]), [0.3, 0.6, 0.3, 0.6])
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    for _ in range(20):
        network, X = random_steps(rng, 2, [4]), rng.normal(size=(10, 2))
        y, ones = network.predict(X), np.ones(10)
        ball = worst_classes(network, Ball("linf", scale=(0.3, 0.6)), X, ones, y)
        assert (worst_classes(network, box, X, ones, y).costs == ball.costs).all()
        # Turned rows, turned weights and turned moves are the same thing.
        first = network.layers[0]
        turned = Network((Layer(first.weights @ turn.T, first.thresholds), *network.layers[1:]))
        moves = Ball("l1", transform=turn @ np.diag([0.3, 0.6]))
        straight = worst_classes(network, Ball("l1", scale=(0.3, 0.6)), X, ones, y)
        assert (worst_classes(turned, moves, X @ turn.T, ones, y).costs == straight.costs).all()


def test_ranges_keep_rows_where_they_may_be():
    network = Network((Layer([[1.0, 0.0]], [2.0]), Layer([[1.0]], [0.5])))
    row, radius = np.array([[1.0, 0.0]]), np.array([1.5])
    for norm in NORMS:
        assert worst_classes(network, Ball(norm), row, radius, np.zeros(1, int)).costs[0] == 1
        held = worst_classes(network, Ball(norm, high=1.9), row, radius, np.zeros(1, int))
        assert (held.costs[0], held.uppers[0]) == (0, 0)
        tilted = Ball(norm, high=1.9, transform=((1.0, 0.2), (0.0, 1.0)))
        assert worst_classes(network, tilted, row, radius, np.zeros(1, int)).uppers[0] == 0


def test_at_the_edge_of_a_closed_ball_a_neuron_is_on():
    network = Network((Layer([[1.0]], [1.0]), Layer([[1.0]], [0.5])))
    from_below = worst_classes(network, Ball("linf"), np.array([[0.0]]), np.ones(1), np.zeros(1, int))
    assert (from_below.costs[0], from_below.points[0, 0]) == (1, 1.0)
    for norm in NORMS:
        from_above = worst_classes(network, Ball(norm), np.array([[2.0]]), np.ones(1), np.ones(1, int))
        assert from_above.uppers[0] == 0
        on_it = worst_classes(network, Ball(norm), np.array([[1.0]]), np.zeros(1), np.ones(1, int))
        assert on_it.uppers[0] == 0
        just_below = np.array([[np.nextafter(2.0, 0)]])
        assert worst_classes(network, Ball(norm), just_below, np.ones(1), np.ones(1, int)).costs[0] == 1


def test_staircases_and_several_classes():
    rng = np.random.default_rng(3)
    for _ in range(15):
        hidden = Layer(rng.normal(size=(3, 1)), np.sort(rng.normal(size=(3, 2)), axis=1), Staircase((0, 2, 1)))
        network = Network((hidden, Layer(rng.normal(size=(3, 3)), rng.normal(size=3), ARGMAX)))
        grid = np.linspace(-4, 4, 80_001)
        answers = network.predict(grid[:, None])
        for x in rng.normal(size=4):
            near = np.abs(grid - x) <= 0.5
            answer = network.predict([[x]])
            found = worst_classes(network, Ball("l2"), np.array([[x]]), np.array([0.5]), answer)
            assert found.costs[0] >= (answers[near] != answer).any()
            assert found.uppers[0] == found.costs[0]


def test_numbers_cost_the_most_that_any_cell_in_reach_costs():
    rng = np.random.default_rng(4)
    for _ in range(20):
        network = Network(
            (Layer(rng.normal(size=(4, 1)), rng.normal(size=4)), Layer(rng.normal(size=(1, 4)), [0.3], IDENTITY))
        )
        X, y, radii = rng.normal(size=(5, 1)), rng.normal(size=(5, 1)), rng.random(5)
        found = worst_numbers(network, Ball("linf"), X, radii, lambda values, rows, y=y: np.abs(values - y[rows]))
        assert found.is_complete
        np.testing.assert_allclose(np.abs(network.predict(found.points) - y)[:, 0], found.costs)
        for i in range(5):
            grid = np.linspace(X[i, 0] - radii[i], X[i, 0] + radii[i], 20_001)[:, None]
            assert np.abs(network.predict(grid) - y[i]).max() <= found.costs[i] + 1e-12
        assert (found.costs >= np.abs(network.predict(X) - y)[:, 0] - 1e-12).all()


@pytest.mark.parametrize("norm", NORMS)
def test_no_random_or_directed_move_breaks_a_safe_row(norm):
    rng = np.random.default_rng(5)
    network, X = random_steps(rng, 3, [6]), rng.normal(size=(30, 3))
    y, ball = network.predict(X), Ball(norm)
    found = worst_classes(network, ball, X, np.full(30, 0.3), y)
    assert 0 < found.costs.sum() < 30
    safe = np.flatnonzero(found.uppers == 0)[:5]
    for i in safe:
        z = rng.normal(size=(10_000, 3))
        z[:1000] = network.layers[0].weights[rng.integers(6, size=1000)] * rng.choice([-1, 1], (1000, 1))
        moves = z / ball.size(z)[:, None] * 0.3 * (1 - 1e-12)
        assert (network.predict(X[i] + moves) == y[i]).all()


def test_ties_above_the_first_layer_are_exact_where_nothing_can_switch():
    both = Network((Layer([[1.0, 0], [0, 1.0]], [0.0, 0.0]), Layer([[1.0, 1.0]], [2.0])))
    found = worst_classes(both, Ball("linf"), np.array([[5.0, 5.0]]), np.zeros(1), np.array([1]))
    assert (found.costs[0], found.uppers[0]) == (0, 0)
    equal = Network((Layer([[1.0]], [9.0]), Layer([[1.0], [2.0]], [0.0, 0.0], ARGMAX)))
    found = worst_classes(equal, Ball("linf"), np.array([[0.0]]), np.ones(1), np.array([0]))
    assert found.uppers[0] == 0
