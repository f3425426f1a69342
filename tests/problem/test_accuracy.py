"""How finely losses are told apart."""

import numpy as np

from conftest import make_problem


def test_bounds_round_up_to_attainable_losses():
    unit = make_problem([[0], [1]], [0, 1]).accuracy
    assert [unit.round_up(b) for b in (-1, 0, 1e-7, 0.3, 1.0000001, 2)] == [0, 0, 0, 1, 1, 2]
    assert unit.next_below(3.0) == 2.0
    halves = make_problem([[0], [1]], [0, 1], sample_weight=[1.5, 2.5]).accuracy
    assert halves.step == 0.5
    assert halves.round_up(0.7) == 1.0


def test_without_a_grid_a_safety_comes_off():
    real = make_problem([[0], [1]], [0, 1], sample_weight=[0.1, np.pi]).accuracy
    assert real.step == 0.0
    assert 0.49 < real.round_up(0.5) < 0.5
