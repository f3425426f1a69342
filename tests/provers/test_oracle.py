"""The oracle: a neuron or a subsystem, both exact, whatever the scale of the data."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from stepnet.model.arithmetic import activations
from stepnet.provers.oracle import Neuron, Oracle, is_true, null_vector
from stepnet.provers.subsystem import Subsystem


def is_separable(X, on):
    """By a solver: s (w·x - t) >= 1."""
    signs = np.where(on, 1.0, -1.0)
    rows = -signs[:, None] * np.column_stack([X, -np.ones(len(X))])
    free = [(None, None)] * (X.shape[1] + 1)
    return linprog(np.zeros(X.shape[1] + 1), A_ub=rows, b_ub=-np.ones(len(X)), bounds=free).status == 0


def check(answer, X, on):
    if isinstance(answer, Subsystem):
        assert is_true(answer, X, on)
        assert len(answer.rows) <= X.shape[1] + 2
    else:
        signs = activations(X, answer.weights[None], np.array([answer.threshold]))[1][:, 0]
        assert np.array_equal(signs >= 0, on)


@pytest.mark.parametrize("seed", range(60))
def test_answers_agree_with_a_linear_program_and_are_exact(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 8)), int(rng.integers(1, 25))
    X = rng.normal(size=(m, n)) if seed % 2 else rng.integers(-2, 3, (m, n)).astype(float)
    if seed % 5 == 0:
        X = X * rng.choice([1e-3, 1.0, 1e6], n) + rng.choice([0.0, 1000.0])
    on = rng.random(m) < 0.5
    oracle, everything = Oracle(X, on, seed), np.arange(m)
    answer = oracle.ask(everything)
    assert isinstance(answer, Neuron) == is_separable(X, on)
    check(answer, X, on)
    exact = oracle._exact(everything)
    assert type(exact) is type(answer)
    check(exact, X, on)


@settings(max_examples=150)
@given(st.data())
def test_repeated_and_collinear_rows_are_decided(data):
    n, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 8))
    X = data.draw(hnp.arrays(np.float64, (m, n), elements=st.integers(-2, 2).map(float)))
    on = data.draw(hnp.arrays(bool, m))
    oracle = Oracle(X, on)
    answer = oracle.ask(np.arange(m))
    assert answer is not None
    check(answer, X, on)
    assert type(oracle._exact(np.arange(m))) is type(answer)


def test_a_packing_is_of_disjoint_subsystems_and_leaves_rows_for_a_neuron():
    rng = np.random.default_rng(0)
    X, on = rng.normal(size=(60, 3)), rng.random(60) < 0.5
    found, neuron = Oracle(X, on).packing(np.arange(60))
    taken = [row for subsystem in found for row in subsystem.rows]
    left = np.setdiff1d(np.arange(60), taken)
    assert len(found) > 5
    assert len(taken) == len(set(taken)) == 60 - len(left)
    assert all(is_true(subsystem, X, on) for subsystem in found)
    check(neuron, X[left], on[left])


def test_rows_that_differ_in_the_last_bit_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    check(Oracle(X, np.array([False, True])).ask(np.arange(2)), X, np.array([False, True]))


def test_equal_rows_of_both_classes_are_a_subsystem():
    X = np.array([[0.1, 0.7], [3.0, 1.0], [0.1, 0.7]])
    on = np.array([True, True, False])
    assert Oracle(X, on).ask(np.arange(3)) == Subsystem((0, 2), (1, 1))


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [1e-300]]),
        np.array([[0.0], [1e6], [2e6], [3e6], [4e6], [1e-36]], dtype=np.float32),
        np.array([[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]]) * 5e-324,
        np.array([[0.0], [1e300], [-1e300], [1e-300], [5.0], [1e308]]),
    ],
)
def test_extreme_numbers_are_no_danger(X):
    on = np.array([False, True, True, False, False, True])
    found, neuron = Oracle(X, on).packing(np.arange(6))
    left = np.setdiff1d(np.arange(6), [row for subsystem in found for row in subsystem.rows])
    assert all(is_true(subsystem, X.astype(float), on) for subsystem in found)
    if neuron is not None:
        check(neuron, X[left].astype(float), on[left])


def test_no_rows_at_all_have_a_neuron():
    assert isinstance(Oracle(np.zeros((3, 2)), np.array([True, False, True])).ask(np.arange(0)), Neuron)


TRUE = Subsystem((0, 1, 2), (1, 1, 2))  # 0 and 2 are on, 1 between them is off
X_LINE, ON_LINE = np.array([[0.0], [2.0], [1.0]]), np.array([True, True, False])


def test_a_subsystem_is_checked_in_rationals():
    assert is_true(TRUE, X_LINE, ON_LINE)


@pytest.mark.parametrize(
    "lie",
    [
        replace(TRUE, multipliers=(1, 1, 1)),
        replace(TRUE, multipliers=(1, 2, 3)),
        replace(TRUE, multipliers=(-1, -1, -2)),
        replace(TRUE, multipliers=(0, 0, 0)),
        replace(TRUE, multipliers=(1, 1)),
        Subsystem((0, 1), (1, 1)),
        Subsystem((0, 0, 2), (1, 1, 2)),
        Subsystem((0, 1, 3), (1, 1, 2)),
        Subsystem((), ()),
    ],
)
def test_a_lie_is_found_out(lie):
    assert not is_true(lie, X_LINE, ON_LINE)


def test_null_vectors_are_those_of_fractions():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 6))
        columns = rng.integers(-5, 6, (n + 1, n)).tolist()
        values = null_vector(columns)
        if values is not None:
            assert any(values)
            assert all(value >= 0 for value in values)
            assert not any(sum(Fraction(v) * c[r] for v, c in zip(values, columns, strict=True)) for r in range(n))
    assert null_vector([[1], [-2]]) == [2, 1]
    assert null_vector([[1], [2]]) is None


def test_null_vectors_are_given_up_when_the_time_is_up():
    columns = np.random.default_rng(0).integers(-9, 10, (5, 4)).tolist()
    looks = iter([False, False, True])
    assert null_vector(columns, lambda: next(looks)) is None
