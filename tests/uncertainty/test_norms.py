"""Norms: each agrees with a second writing of itself in rational numbers, and with its dual."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from stepnet import Ball, Layer, Network, StepClassifier, attack
from stepnet.errors import InvalidInputError
from stepnet.estimators.parameters import plain, restored
from stepnet.uncertainty.halfspaces import Halfspaces
from stepnet.uncertainty.norms.base import Norm
from stepnet.uncertainty.norms.registry import NORMS
from stepnet.uncertainty.worst_case import worst_classes
from uncertainty.test_attack import random_steps

# A power of the norm, and which power: from absolute values in rationals.
REFEREES = {"l1": (sum, 1), "l2": (lambda sizes: sum(size**2 for size in sizes), 2), "linf": (max, 1)}
EACH = pytest.mark.parametrize("name", NORMS)

number = st.floats(-1e3, 1e3).map(lambda value: round(value, 6))  # squares of differences do not underflow
positive = st.floats(1e-3, 1e3)


def vectors(*elements):
    """As many vectors of one length, of 1 to 5 features."""
    return st.integers(1, 5).flatmap(lambda n: st.tuples(*(st.lists(one, min_size=n, max_size=n) for one in elements)))


def rationals(values):
    return np.array([Fraction(value) for value in values])


def test_every_norm_has_a_referee():
    assert set(REFEREES) == set(NORMS)
    assert all(norm.name == name for name, norm in NORMS.items())


@EACH
@settings(max_examples=60, deadline=None)
@given(pair=vectors(number, number))
def test_no_product_passes_that_of_the_norms(name, pair):
    norm, (w, x) = NORMS[name], map(rationals, pair)
    referee, degree = REFEREES[name]
    assert (norm.powers(x), norm.degree) == (referee([abs(value) for value in x]), degree)
    assert abs(w @ x) ** degree <= norm.dual_powers(w) * norm.powers(x)


@EACH
@settings(max_examples=60, deadline=None)
@given(one=vectors(number))
def test_the_dual_is_attained_in_the_direction_of_its_slopes(name, one):
    norm, w = NORMS[name], np.array(one[0])
    assume(np.abs(w).max() > 1e-6)
    slopes = np.array([norm.dual_slopes(w[None], towards)[0] for towards in np.eye(len(w))])
    size = float(norm.dual_sizes(w))
    assert norm.sizes(slopes) <= 1 + 1e-12
    assert w @ slopes == pytest.approx(size, rel=1e-12)
    assert norm.dual_sizes(np.vstack([w, 2 * w])) == pytest.approx([size, 2 * size], rel=1e-12)


@EACH
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-100, 1.0, 1e100])
def test_small_and_large_weights_reach_as_far_as_their_size_says(name, size):
    norm, w = NORMS[name], np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1e-9, 1.0]])
    np.testing.assert_allclose(norm.dual_sizes(size * w), size * norm.dual_sizes(w), rtol=1e-12)
    np.testing.assert_allclose([norm.sizes(size * one) for one in w], size * norm.sizes(w), rtol=1e-12)
    network = Network((Layer([[size, size]], [size]), Layer([[1.0]], [0.5])))
    moved = np.array([[0.5, 0.5]]) * (1 + 1e-9)
    assert network.predict(moved) != network.predict([[0.0, 0.0]])
    assert attack(network, [[0.0, 0.0]], norm=name).radii[0] <= Ball(name).size(moved)[0]


@EACH
@settings(max_examples=100, deadline=None)
@given(three=vectors(number, number, positive), step=st.integers(-2, 2))
def test_containment_is_that_of_rationals_at_the_boundary(name, three, step):
    row, point, scale = map(np.array, three)
    referee, degree = REFEREES[name]
    ball = Ball(name, scale=scale)
    radius = float(ball.size((point - row)[None])[0])
    for _ in range(abs(step)):
        radius = max(0.0, float(np.nextafter(radius, np.sign(step) * np.inf)))
    sizes = [abs(b - a) / s for a, b, s in zip(*map(rationals, (row, point, scale)), strict=True)]
    assert ball.contains(row, point, radius) == (referee(sizes) <= Fraction(radius) ** degree)


@EACH
@settings(max_examples=60, deadline=None)
@given(pair=vectors(number, number), radius=st.floats(0, 10), step=st.integers(-1, 1))
def test_a_neuron_stays_where_rationals_say_so(name, pair, radius, step):
    row, weights = map(np.array, pair)
    norm, (x, w) = NORMS[name], map(rationals, pair)
    threshold = float(row @ weights - radius * norm.dual_sizes(weights))
    threshold = float(np.nextafter(threshold, step * np.inf)) if step else threshold
    lead, reach = x @ w - Fraction(threshold), Fraction(radius) ** norm.degree * norm.dual_powers(w)
    stays_on = lead >= 0 and lead**norm.degree >= reach
    assert Ball(name).stays(row, weights, threshold, radius, True) == stays_on
    # The mirrored neuron is off at its threshold only if nothing reaches it.
    stays_off = lead >= 0 and lead**norm.degree > reach
    assert Ball(name).stays(row, -weights, -threshold, radius, False) == stays_off


def halfspaces(rng, n, k):
    """Such that a point of size 1 or so is in all of them, and 0 is not."""
    G, inside = rng.normal(size=(k, n)), rng.normal(size=n)
    G *= np.sign(G @ inside)[:, None]
    return Halfspaces(G, G @ inside * rng.uniform(0.2, 0.9, k), np.zeros(k)), inside


@EACH
@pytest.mark.parametrize("shape", [{}, {"low": -1.5, "high": 2.0}, {"scale": True}, {"transform": True}])
def test_the_nearest_point_is_in_the_halfspaces_and_nothing_is_nearer(name, shape):
    rng = np.random.default_rng(0)
    for _ in range(25):
        n, k = rng.integers(1, 5, 2)
        given = {"scale": rng.uniform(0.5, 2, n), "transform": np.eye(n) + 0.2 * rng.normal(size=(n, n))}
        ball = Ball(name, **{key: given.get(key, value) for key, value in shape.items()})
        halves, inside = halfspaces(rng, n, k)
        low, high = ball.limits(n)
        move = ball.smallest(np.zeros(n), halves)
        if move.delta is None:  # then it is shown that there is none, and the range is why
            assert move.bound > 1e6
            assert ((inside < low) | (inside > high)).any()
            continue
        size = ball.size(move.delta[None])[0]
        assert move.bound <= size * (1 + 1e-9)
        assert size <= move.bound * (1 + 1e-6) + 1e-7
        assert (halves.G @ move.delta >= halves.h - 1e-6).all()
        assert ((move.delta >= low - 1e-9) & (move.delta <= high + 1e-9)).all()
        points = inside * rng.uniform(0, 2, (2000, 1)) + rng.normal(size=(2000, n)) * rng.choice([0.1, 1.0], (2000, 1))
        allowed = (points @ halves.G.T >= halves.h).all(axis=1) & ((points >= low) & (points <= high)).all(axis=1)
        assert allowed.any() or shape
        assert (ball.size(points[allowed]) >= move.bound).all()


@EACH
@pytest.mark.parametrize("ends", [{}, {"low": -0.4, "high": 0.6}])
def test_the_deepest_point_is_within_the_radius_or_there_is_none(name, ends):
    rng = np.random.default_rng(1)
    ball, found = Ball(name, **ends), {True: 0, False: 0}
    for _ in range(40):
        n, k = rng.integers(1, 5, 2)
        halves, _ = halfspaces(rng, n, k)
        low, high = ball.limits(n)
        first = ball.smallest(np.zeros(n), halves)
        for radius in (5.0,) if first.delta is None else (0.9 * first.bound, 1.2 * first.bound, 5.0):
            move = ball.deepest(np.zeros(n), radius, halves)
            is_there = move.bound <= 0
            assert is_there == (radius > first.bound)
            found[is_there] += 1
            if is_there:
                assert ball.size(move.delta[None])[0] <= radius * (1 + 1e-9)
                assert (halves.G @ move.delta >= halves.h - 1e-9).all()
                assert ((move.delta >= low - 1e-9) & (move.delta <= high + 1e-9)).all()
                if not ends:
                    assert (halves.G @ move.delta > halves.h).all()
    assert min(found.values()) > 0


class Bare(Norm):
    """Another norm, without what a norm need not have."""

    def __init__(self, norm):
        self.norm, self.name, self.degree = norm, f"bare {norm.name}", norm.degree

    def powers(self, z):
        return self.norm.powers(z)

    def dual_powers(self, v):
        return self.norm.dual_powers(v)

    def dual_slopes(self, v, towards):
        return self.norm.dual_slopes(v, towards)

    def nearest(self, G, h, low, high):
        return self.norm.nearest(G, h, low, high)


@pytest.fixture
def bare(monkeypatch):
    def register(name):
        norm = Bare(NORMS[name])
        monkeypatch.setitem(NORMS, norm.name, norm)
        return norm.name

    return register


@pytest.mark.slow
@EACH
def test_a_norm_may_be_without_programs_of_its_own(name, bare):
    rng, other = np.random.default_rng(2), bare(name)
    for _ in range(5):
        network, X = random_steps(rng, 3, [4]), rng.normal(size=(8, 3))
        y, radii = network.predict(X), rng.choice([0.2, 0.6], 8)
        worst = [worst_classes(network, Ball(one), X, radii, y) for one in (name, other)]
        assert (worst[0].costs == worst[1].costs).all()
        assert worst[1].is_complete
        np.testing.assert_allclose(attack(network, X, norm=name).radii, attack(network, X, norm=other).radii, rtol=1e-6)


def test_training_says_what_a_norm_does_not_have(bare):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    X = X[np.abs(X[:, 0]) > 0.5]
    y = (X[:, 0] > 0).astype(int)
    X[::4] *= 20  # linear discriminants are not enough
    fitted = StepClassifier(
        (1,), method="prove", uncertainty=Ball(bare("linf"), 0.2), time_limit=60, random_state=0
    ).fit(X, y)
    assert (fitted.certificate_.loss, fitted.certificate_.uncertainty) == (0, "bare linf ball of radius 0.2")
    assert "bare linf ball of radius 0.2, whose norm has no dual_form" in fitted.result_.ways[0]
    assert attack(fitted, X, y, norm="linf").radii.min() >= 0.2 * (1 - 1e-9)
    known = StepClassifier((1,), method="prove", uncertainty=Ball("linf", 0.2), time_limit=60, random_state=0).fit(X, y)
    assert not any("dual_form" in way for way in known.result_.ways)


@pytest.mark.parametrize("name", ["l3", "", "L1", None, 2, ["l1"], NORMS["l1"]])
def test_only_names_that_are_registered_are_taken(name):
    with pytest.raises(InvalidInputError, match="is not known; choose 'l1', 'l2' or 'linf'"):
        Ball(name, 0.1)


def test_users_see_names():
    ball = Ball("l2", 0.5, low=0.0)
    assert (ball.norm, ball) == ("l2", Ball(norm="l2", radius=0.5, low=0.0))
    assert repr(ball).startswith("Ball(norm='l2', radius=0.5, scale=None, low=0.0, high=None, transform=None, integer=")
    assert clone(StepClassifier(uncertainty=ball)).uncertainty == ball
    fields = {"norm": "l2", "radius": 0.5, "scale": None, "low": 0.0, "high": None, "transform": None}
    fields |= {"integer": False, "step": None, "groups": None}
    assert plain(ball) == {"object": "Ball", "fields": fields}
    assert restored(plain(ball)) == ball


def test_a_copy_of_a_ball_needs_no_registry(bare):
    name = bare("l1")
    copied = pickle.dumps(Ball(name))
    del NORMS[name]
    assert pickle.loads(copied).size(np.array([[3.0, -4.0]])).tolist() == [7.0]
