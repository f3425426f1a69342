"""Lines tell the loss of every step along a direction."""

import numpy as np
import pytest

from stepnet.search.local.lines import LeastSquares, best_interval, best_place, by_table, events_along, threshold_events

VALUES = np.array([0.0, 1.0, 3.0])


def made(seed):
    rng = np.random.default_rng(seed)
    values, slopes = rng.normal(size=12), rng.normal(size=12)
    slopes[:2] = 0.0
    thresholds = np.broadcast_to(np.sort(rng.normal(size=2)), (12, 2))
    return rng, values, slopes, thresholds


def levels_at(values, thresholds):
    return (values[:, None] >= thresholds).sum(axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_a_table_gives_the_loss_between_any_two_steps(seed):
    rng, values, slopes, thresholds = made(seed)
    costs = rng.random((12, 3))
    steps, losses = by_table(events_along(values[:, None] - thresholds, slopes), costs)
    for number, step in enumerate(np.concatenate([[steps[0] - 1], (steps[1:] + steps[:-1]) / 2, [steps[-1] + 1]])):
        levels = levels_at(values + step * slopes, thresholds)
        assert losses[number] == pytest.approx(costs[np.arange(12), levels].sum())


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("intercept", [True, False])
def test_least_squares_follow_at_every_step(ridge, intercept):
    rng, values, slopes, thresholds = made(1)
    others, targets, weights = rng.integers(0, 2, (12, 3)).astype(float), rng.normal(size=(12, 2)), rng.random(12) + 0.5
    line = LeastSquares(others, targets, weights, VALUES, ridge=ridge, intercept=intercept)
    steps, losses = line.along(events_along(values[:, None] - thresholds, slopes))
    for number, step in enumerate(np.concatenate([[steps[0] - 1], (steps[1:] + steps[:-1]) / 2, [steps[-1] + 1]])):
        column = VALUES[levels_at(values + step * slopes, thresholds)]
        left = np.column_stack([others, column, np.ones(12)] if intercept else [others, column])
        full = np.vstack([np.sqrt(weights)[:, None] * left, np.sqrt(ridge) * np.eye(4, left.shape[1])])
        right = np.vstack([np.sqrt(weights)[:, None] * targets, np.zeros((4, 2))])
        best = np.linalg.lstsq(full, right, rcond=None)[0]
        assert losses[number] == pytest.approx(((full @ best - right) ** 2).sum())


def test_one_threshold_alone_moves_the_rows_beside_it():
    rng, values, _, thresholds = made(2)
    levels, costs = levels_at(values, thresholds), rng.random((12, 3))
    steps, losses = by_table(threshold_events(values, levels, thresholds, 0), costs)
    for number, step in enumerate((steps[1:] + steps[:-1]) / 2, start=1):
        moved = thresholds.copy()
        moved[:, 0] += step
        if (moved[:, 0] <= moved[:, 1]).all():
            assert losses[number] == pytest.approx(costs[np.arange(12), levels_at(values, moved)].sum())


def test_the_best_interval_and_the_best_place():
    steps, losses, rng = np.array([0.0, 1.0, 4.0]), np.array([5.0, 2.0, 3.0, 2.0]), np.random.default_rng(0)
    for _ in range(20):
        loss, step = best_interval(steps, losses, rng, 1e-12)
        assert loss == 2.0
        assert 0 < step < 1 or step > 4
        loss, step = best_interval(steps, losses, rng, 1e-12, low=1.5, high=3.0)
        assert (loss, 1.5 <= step <= 3.0) == (3.0, True)
    assert best_place(steps, losses, np.array([-2.0, 2.0]), rng, 1e-12) == (3.0, 2.0)
    assert best_interval(np.zeros(0), np.ones(1), rng, 1e-12) is None
