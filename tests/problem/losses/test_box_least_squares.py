"""Least squares with bounded weights: optimal, within the limit, and soon done."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from brute_force import least_squares_error
from stepnet.problem.losses import box_least_squares as module
from stepnet.problem.losses.box_least_squares import box_least_squares


def bits(rng, m, n):
    return (rng.random((m, n)) < 0.5).astype(float)


def twice(A):
    return np.hstack([A, A])


# What a hidden layer may give: its signals, as rows × neurons.
LAYERS = {
    "random": lambda rng, m, n: rng.normal(size=(m, n)),
    "bits": bits,
    "centred bits": lambda rng, m, n: (A := bits(rng, m, n)) - A.mean(axis=0),
    "steps on a line": lambda rng, m, n: (np.arange(m)[:, None] >= rng.integers(0, m, n)).astype(float),
    "equal neurons": lambda rng, m, n: twice(bits(rng, m, n // 2)),
    "opposite neurons": lambda rng, m, n: np.hstack([(A := bits(rng, m, n // 2)), 1 - A, np.ones((m, 1))]),
    "neurons that are off": lambda rng, m, n: bits(rng, m, n) * (np.arange(n) % 2),
    "nothing at all": lambda rng, m, n: np.zeros((m, n)),
    "low rank": lambda rng, m, n: rng.normal(size=(m, 2)) @ rng.normal(size=(2, n)),
    "nearly dependent": lambda rng, m, n: np.vander(np.linspace(0, 1, m), n),
    "columns of very different sizes": lambda rng, m, n: rng.normal(size=(m, n)) * 10.0 ** -rng.integers(0, 8, n),
    "a ridge": lambda rng, m, n: np.vstack([bits(rng, m - n, n), 0.3 * np.eye(n)]),
    "more neurons than rows": lambda rng, m, n: rng.normal(size=(n // 2, n)),
}


def violation(A, b, x, limit):
    """By how much a gradient misses what an optimum asks for, in units of the numbers that it is made of."""
    pull, norms = A.T @ (b - A @ x), np.linalg.norm(A, axis=0)
    outwards = np.where(np.abs(x) < limit, np.abs(pull), np.maximum(0.0, -pull * np.sign(x)))
    return (outwards / np.maximum(norms * (np.linalg.norm(b) + np.abs(x) @ norms), 1e-300)).max()


@pytest.mark.parametrize("limit", [1e-3, 0.3, 1.0, 30.0, np.inf])
@pytest.mark.parametrize("name", LAYERS)
def test_no_weight_gains_by_a_move(name, limit):
    rng = np.random.default_rng(0)
    for m, n in [(40, 2), (40, 6), (120, 20)]:
        A = LAYERS[name](rng, m, n)
        B = np.column_stack([A @ rng.normal(size=A.shape[1]) * 3, rng.normal(size=len(A)), np.zeros(len(A))])
        X = box_least_squares(A, B, limit)
        assert X.shape == (A.shape[1], 3)
        assert np.abs(X).max() <= limit
        assert max(violation(A, b, x, limit) for b, x in zip(B.T, X.T, strict=True)) < 1e-11


def test_the_largest_layer_that_is_usual():
    rng = np.random.default_rng(1)
    A = bits(rng, 2000, 50)
    b = A @ rng.normal(size=50) * 3 + rng.normal(size=2000)
    x = box_least_squares(A, b[:, None], 1.0)[:, 0]
    assert 0 < (np.abs(x) == 1.0).sum() < 50
    assert violation(A, b, x, 1.0) < 1e-12


numbers = st.floats(-4, 4, width=16)


@settings(max_examples=150)
@given(st.data(), st.integers(1, 6), st.integers(1, 4), st.sampled_from([0.25, 1.0, 3.0]))
def test_as_good_as_the_best_of_all_ways_to_hold_weights(data, m, n, limit):
    A = data.draw(arrays.arrays(float, (m, n), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0]) | numbers))
    b = data.draw(arrays.arrays(float, m, elements=numbers))
    x = box_least_squares(A, b[:, None], limit)[:, 0]
    assert np.abs(x).max() <= limit
    error, scale = ((A @ x - b) ** 2).sum(), (b @ b) + (limit * np.abs(A).sum()) ** 2
    assert error == pytest.approx(least_squares_error(A, b, [limit] * n), rel=1e-9, abs=1e-12 * scale)


def test_all_weights_end_at_the_limit_where_they_are_pulled_there():
    A = np.vstack([np.eye(3), np.zeros((2, 3))])
    np.testing.assert_array_equal(
        box_least_squares(A, np.array([[9.0], [-9], [9], [1], [1]]), 0.5).T, [[0.5, -0.5, 0.5]]
    )


def test_told_to_stop_it_answers_with_the_best_point_so_far():
    rng = np.random.default_rng(2)
    A = twice(rng.normal(size=(60, 15))) + 0.1 * rng.normal(size=(60, 30))
    b = A @ rng.normal(size=30) * 5
    errors = []
    for steps in range(40):
        asked = iter(range(steps))
        x = box_least_squares(A, b[:, None], 0.5, lambda: next(asked, None) is None)[:, 0]  # noqa: B023
        assert np.abs(x).max() <= 0.5
        errors.append(np.linalg.norm(A @ x - b))
    clipped = np.linalg.lstsq(A, b, rcond=None)[0].clip(-0.5, 0.5)
    assert errors[0] == pytest.approx(np.linalg.norm(A @ clipped - b))
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(errors))
    assert errors[-1] < errors[5] < errors[0]


@pytest.mark.parametrize("name", LAYERS)
def test_the_steps_are_few_and_counted(name, monkeypatch):
    A = LAYERS[name](np.random.default_rng(3), 120, 20)
    b = np.random.default_rng(4).normal(size=(len(A), 1)) * 5
    asked = []
    box_least_squares(A, b, 0.2, lambda: bool(asked.append(None)))
    assert len(asked) <= 5 * A.shape[1]
    # Even where rounding would free the same weight for ever.
    monkeypatch.setattr(module, "_most_gaining", lambda A, b, x, norms, held: 0)
    asked.clear()
    x = box_least_squares(A, b, 0.2, lambda: bool(asked.append(None)))
    assert len(asked) <= 20 * (A.shape[1] + 1)
    assert np.abs(x).max() <= 0.2
