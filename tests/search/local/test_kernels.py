"""The kernels, compiled or in numpy: no move raises what it lowers, and after many the state is that of the network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from climbers import PLAIN, Compiled, InNumpy, far_rows, made
from stepnet.search.local.kernels import _best_step, _orthogonalise, _sort

SEEDS = range(3)
numbers = st.floats(-100, 100, width=32)


@pytest.fixture(name="kind", params=[Compiled, InNumpy])
def _kind(request):
    return request.param


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_no_move_raises_the_penalised_loss(name, kind):
    n_gains = 0
    for seed in SEEDS:
        climber = kind(made(name, seed), seed)
        climber.moves(1)
        for _ in range(200):
            before, near = climber.penalised, ~far_rows(climber.scaled, climber.rows)
            climber.moves(1)
            near |= ~far_rows(climber.scaled, climber.rows)
            assert climber.penalised <= before + climber.state.penalties[near].sum()
            n_gains += climber.penalised < before
    assert n_gains


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PLAIN)
def test_after_many_moves_bits_values_and_loss_are_those_of_the_network(name, seed, kind):
    climber = kind(made(name, seed), seed)
    for patience in (10**9, 5):
        climber.moves(800, patience=patience)  # fewer than after which all is computed anew
        far, levels = far_rows(climber.scaled, climber.rows), climber.scaled.levels(climber.rows)
        for signals, exact in zip(climber.signals, levels, strict=False):
            np.testing.assert_array_equal(signals[far], exact[far])
        np.testing.assert_array_equal(climber.state.B[-1][far], levels[-1][far, 0])
        assert climber.loss == climber.problem.dataset.weights[climber.is_wrong].sum()
        first = 0
        for k, layer in enumerate(climber.scaled.layers[1:]):
            values = climber.signals[k] @ layer.weights.T - layer.thresholds
            np.testing.assert_allclose(climber.state.A[first : first + layer.width].T, values, atol=1e-7)
            first += layer.width


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PLAIN)
def test_the_best_network_is_of_the_problem_and_costs_what_is_said(name, seed, kind):
    climber = kind(made(name, seed), seed)
    climber.moves(1500, patience=50)
    best, problem = climber.best_network, climber.problem
    assert problem.refuses(best) is None
    assert climber.best <= climber.loss
    near = ~far_rows(problem.scale(best), climber.rows)
    assert abs(problem.evaluate(best) - climber.best) <= problem.dataset.weights[near].sum()


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_no_weight_stays_zero_and_thresholds_that_are_given_stay(name, kind):
    climber = kind(made(name), 0)
    thresholds = climber.state.t.copy()
    climber.moves(500, patience=20)
    widths = climber.state.widths
    for k, weights in enumerate(climber.state.W):
        assert not weights[widths[k + 1] :].any()
        assert not weights[:, widths[k] :].any()
        assert not climber.state.t[k, widths[k + 1] :].any()
    if not climber.learns:
        np.testing.assert_array_equal(climber.state.t, thresholds)


def test_without_patience_wrong_rows_get_heavier_and_the_others_recover(kind):
    climber = kind(made("one hidden layer"), 0)
    weights = climber.problem.dataset.weights
    climber.moves(300, patience=5)
    assert (climber.state.penalties > weights).any()
    assert (climber.state.penalties >= weights).all()
    climber = kind(made("one hidden layer"), 0)
    climber.moves(300)
    np.testing.assert_array_equal(climber.state.penalties, weights)


def test_a_target_that_is_met_ends_it(kind):
    climber = kind(made("one hidden layer"), 0)
    start = climber.scaled
    climber.moves(500, target=1e9)
    assert climber.scaled == start
    assert climber.best == climber.loss


@pytest.mark.parametrize("name", PLAIN)
def test_the_same_seed_makes_the_same_moves(name, kind):
    one, two = kind(made(name), 5), kind(made(name), 5)
    one.moves(400, patience=30)
    two.moves(400, patience=30)
    assert one.scaled == two.scaled
    assert one.best_network == two.best_network


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(-20, 20), numbers), max_size=90))
def test_breakpoints_are_sorted_with_their_deltas_and_equal_ones_keep_their_order(pairs):
    steps, deltas = np.array(pairs, dtype=float).reshape(-1, 2).T.copy()
    order = np.argsort(steps, kind="stable")
    wanted = steps[order], deltas[order]
    _sort.py_func(steps, deltas, len(steps), np.empty(len(steps)), np.empty(len(steps)))
    np.testing.assert_array_equal(steps, wanted[0])
    np.testing.assert_array_equal(deltas, wanted[1])


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(-3, 3)), min_size=1, max_size=40), st.integers(0, 99))
def test_the_best_step_lies_in_an_interval_with_the_least_loss(pairs, seed):
    np.random.seed(seed)
    steps, deltas = np.array(sorted(pairs), dtype=float).T
    step, loss = _best_step.py_func(steps, deltas, len(steps), 50.0)
    assert not (steps == step).any()
    assert loss == 50.0 + deltas[steps < step].sum()
    ends = np.unique(steps)
    between = np.concatenate([[ends[0] - 1], (ends[1:] + ends[:-1]) / 2, [ends[-1] + 1]])
    assert loss == min(50.0 + deltas[steps < place].sum() for place in between)


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_held_rows_make_an_orthonormal_basis_and_dependent_ones_none(seed, size):
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (size + 1, size)).astype(float)
    basis = vectors.copy()
    for h in range(len(basis)):
        _orthogonalise.py_func(basis, h, size)
        rest = vectors[h] - basis[:h].T @ (basis[:h] @ vectors[h])
        assert basis[h].any() == (np.linalg.norm(rest) > 1e-4)
    lengths = np.linalg.norm(basis, axis=1)
    np.testing.assert_allclose(basis @ basis.T, np.diag(lengths**2), atol=1e-6)
    assert set(np.round(lengths, 6)) <= {0.0, 1.0}
    assert lengths.round().sum() == np.linalg.matrix_rank(vectors)
