"""Uncertainty sets reach as far as they say."""

import numpy as np
import pytest

from stepnet import Ball, Polyhedron
from stepnet.errors import InvalidInputError
from stepnet.uncertainty.sets import checked_radii

RNG = np.random.default_rng(0)
W, X = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 3))


def moves_in(ball, row, radius, n=20_000):
    """Random moves on and in the ball that keep the row in its range."""
    z = RNG.normal(size=(n, 3)) * ball.scales(3)
    z[:6] = np.vstack([np.eye(3), -np.eye(3)])
    z /= ball.size(z)[:, None]
    moves = z * radius * RNG.random((n, 1)) ** 0.2
    moves[:6] = z[:6] * radius
    low, high = ball.limits(3)
    inside = ((row + moves >= low) & (row + moves <= high)).all(axis=1)
    return moves[inside]


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("scale", [None, (1.0, 0.5, 3.0)])
@pytest.mark.parametrize("ends", [{}, {"low": -1.0, "high": 1.5}])
def test_no_move_passes_the_reach_and_some_come_close(norm, scale, ends):
    ball, radii = Ball(norm, scale=scale, **ends), np.full(5, 0.7)
    rows = np.clip(X, -1, 1.5)
    reach = ball.reach(W, rows, radii)
    for i, row in enumerate(rows):
        most = (moves_in(ball, row, 0.7) @ W.T).max(axis=0)
        assert (most <= reach[i] + 1e-9).all()
        if not ends:
            assert (most >= 0.8 * reach[i]).all()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize(
    "shape", [{}, {"scale": (1.0, 0.5, 3.0)}, {"transform": ((1.0, 0.5, 0), (0, 1, 0), (0, 0, 2))}]
)
def test_the_farthest_move_goes_as_far_as_the_dual_norm_says(norm, shape):
    ball = Ball(norm, 1.0, **shape)
    moves = ball.farthest(W)
    np.testing.assert_allclose((W * moves).sum(axis=1), ball.dual_sizes(W), rtol=1e-12)
    assert (ball.size(moves) <= 1 + 1e-12).all()


def test_a_polyhedron_reaches_its_corners():
    box = Polyhedron(np.vstack([np.eye(3), -np.eye(3)]), [1, 2, 3, 1, 2, 3])
    np.testing.assert_allclose(box.reach(W, X, np.ones(5))[0], np.abs(W) @ [1, 2, 3])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball("l3"), "'l1', 'l2' or 'linf'"),
        (lambda: Ball("l2", -1.0), "not negative"),
        (lambda: Ball("l2", float("nan")), "radius"),
        (lambda: Ball("l2", 1.0, scale=(1.0, 0.0)), "positive"),
        (lambda: Ball("l2", 1.0, scale="wide"), "one number per feature"),
        (lambda: Ball("l2", 1.0, scale=(1.0, 2.0)).scales(3), "3 features"),
        (lambda: Ball("l2", 1.0, low=1.0, high=0.0).limits(2), "must not lie above"),
        (lambda: Polyhedron([[1.0]], [1.0]), "unbounded"),
        (lambda: Polyhedron([[1.0], [-1.0]], [1.0, -0.5]), "contain 0"),
        (lambda: Polyhedron([[1.0], [-1.0]], [1.0]), "finite A"),
        (lambda: checked_radii(Ball(), [1.0, 2.0], 3), "3 rows"),
        (lambda: checked_radii(Ball(), -1.0, 3), "not negative"),
        (lambda: checked_radii(Ball(), [1.0, np.nan, 2.0], 3), "finite"),
    ],
)
def test_bad_sets_are_named(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def test_radii_are_the_set_s_or_one_a_row():
    assert checked_radii(Ball("l1", 0.5), None, 2).tolist() == [0.5, 0.5]
    assert checked_radii(Ball("l1", 0.5), [1.0, 2.0], 2).tolist() == [1.0, 2.0]


def test_membership_is_exact():
    for norm in ("l1", "l2", "linf"):
        ball = Ball(norm, 0.1)
        assert ball.contains(np.array([0.0]), np.array([0.1]), 0.1)
        assert not ball.contains(np.array([0.0]), np.array([np.nextafter(0.1, 1)]), 0.1)
    assert Ball("l2", low=0.0).contains(np.array([-1.0]), np.array([-0.9]), 1.0)
    assert not Ball("l2", low=0.0).contains(np.array([-1.0]), np.array([-1.1]), 1.0)
    triangle = Polyhedron([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [0.3, 0.0, 0.0])
    assert triangle.contains(np.zeros(2), np.array([0.125, 0.125]), 1.0)
    assert not triangle.contains(np.zeros(2), np.array([0.25, 0.125]), 1.0)
    np.testing.assert_allclose(triangle.size(np.array([[0.3, 0.3], [0.1, 0.0]])), [2.0, 1 / 3])
    np.testing.assert_allclose(triangle.dual_sizes(np.array([[2.0, 1.0], [-1.0, -1.0]])), [0.6, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball("l2", 1.0, scale=(1.0,), transform=((1.0,),)), "not both"),
        (lambda: Ball("l2", 1.0, transform=((1.0, 0.0), (1.0, 0.0))), "invertible"),
        (lambda: Ball("l2", 1.0, transform=((1.0, 0.0),)), "square"),
        (lambda: Ball("l2", 1.0, transform=((1.0,),)).require(2), "2 features"),
        (lambda: Polyhedron([[1.0], [-1.0]], [1.0, 1.0]).require(2), "column"),
        (lambda: checked_radii(Polyhedron([[1.0], [-1.0]], [1.0, 1.0]), 1.0, 2), "Polyhedron has none"),
        (lambda: checked_radii(Ball(), "far", 2), "numbers"),
    ],
)
def test_more_bad_sets_are_named(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ball(scale=["a", 1]),
        lambda: Ball(scale=[[1, 2], [3, 4]]),
        lambda: Ball(low=[0, "x"]),
        lambda: Ball(transform="ab"),
        lambda: Ball(transform=[[1, 2], [2]]),
        lambda: Ball(transform=[[1.0, 1.0], [1.0, 1 + 1e-7]]),
        lambda: Polyhedron("a", "b"),
        lambda: Polyhedron([[1, 1], [1]], [1, 1]),
        lambda: Polyhedron([[1], [-1]], [[1], [1]]),
    ],
)
def test_nothing_but_numbers(make):
    with pytest.raises(InvalidInputError):
        make()
