"""Outer approximation: squares on a solver that takes none."""

import numpy as np
import pytest

from stepnet.solvers.backends.base import Task
from stepnet.solvers.backends.highs import Highs
from stepnet.solvers.backends.registry import BACKENDS
from stepnet.solvers.model import ModelBuilder

AVAILABLE = [name for name, b in BACKENDS.items() if b.is_available() and name in ("highs", "scip", "gurobi")]


def nearest(target, prices):
    """Integers next to a point on the plane x + y + z = 2, by squared distance."""
    model = ModelBuilder()
    x = model.add_columns("x", 3, -5, 5, integer=True)
    r = model.add_columns("r", 3, -20, 20, square=prices)
    model.add_rows([(x, 1.0), (r, -1.0)], lower=target, upper=target)
    model.add_rows([(x[None, :], 1.0)], lower=2.0, upper=2.0)
    return model.build(), x


@pytest.mark.parametrize("solver", AVAILABLE)
@pytest.mark.parametrize("seed", range(3))
def test_every_solver_finds_the_nearest_integers(solver, seed):
    rng = np.random.default_rng(seed)
    target, prices = rng.uniform(-3, 3, 3), rng.random(3) + 0.1
    model, x = nearest(target, prices)
    outcome = BACKENDS[solver].solve(Task(model, tolerance=1e-9))
    grid = np.array(np.meshgrid(*[np.arange(-5, 6)] * 3)).reshape(3, -1).T
    grid = grid[grid.sum(axis=1) == 2]
    best = ((grid - target) ** 2 @ prices).min()
    assert outcome.status == "optimal"
    assert outcome.objective == pytest.approx(best, abs=1e-5)
    assert outcome.bound <= best + 1e-5
    assert outcome.point[x].round() @ np.ones(3) == 2


def test_limits_end_it_with_a_bound_and_the_best_point():
    model, _ = nearest(np.array([0.3, 0.9, 0.4]), np.ones(3))
    looks = []

    def stop():
        looks.append(1)
        return len(looks) > 3

    outcome = Highs().solve(Task(model, should_stop=stop))
    assert outcome.bound <= outcome.objective
    outcome = Highs().solve(Task(model, gap=0.9))
    assert outcome.bound >= 0.1 * outcome.objective - 1e-6


def test_tangents_lie_below_the_squares():
    model, _ = nearest(np.zeros(3), np.ones(3))
    squared = np.flatnonzero(model.squares)
    linear = model.with_tangents(np.linspace(-2, 2, 5)[:, None].repeat(3, axis=1))
    point = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    lifted = np.append(point, point[squared] ** 2)
    assert linear.violation(lifted) == 0
    assert linear.objective(lifted) == model.objective(point) == 2.0
    assert not linear.has_squares
