"""How finely losses are told apart."""

import math

import numpy as np
import pytest

from conftest import make_problem, solve
from stepnet.methods.exact import Exact
from stepnet.methods.prove import Prove


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


@pytest.mark.parametrize("hidden", [(), (1,), (2,)])
def test_one_heavy_row_does_not_make_losses_equal(hidden):
    """Two equal rows of 0.74 and 0.5 that contradict each other, beside one of 314,159 in all."""
    weights = [0.74, 0.5, 1e5 * math.pi]
    problem = make_problem([[0.0], [0.0], [1.0]], [1, 0, 0], hidden, sample_weight=weights)
    assert not problem.accuracy.are_equal(0.74, 0.5)
    certificate, _ = solve(problem, Prove())
    assert (certificate.status, certificate.loss, certificate.bound) == ("OPTIMAL", 0.5, 0.5)


@pytest.mark.parametrize("formulation", ["gates", "tight", "cells", "sat"])
def test_weights_without_a_common_grid_are_proven_in_every_way(formulation):
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(14, 2)), np.arange(14) % 2, (1,), sample_weight=rng.uniform(0.1, 1, 14))
    certificate, _ = solve(problem, Exact(formulation=formulation), time_limit=30)
    best, _ = solve(problem, Exact(formulation="one_neuron"), time_limit=30)
    assert certificate.status == best.status == "OPTIMAL"
    assert certificate.loss == pytest.approx(best.loss, rel=1e-5)
