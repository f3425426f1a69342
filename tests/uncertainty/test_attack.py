"""Attacks are exact: as small as brute force has them, verified, and nothing smaller works."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import smallest_move
from stepnet import Ball, Layer, Network, Staircase, StepClassifier, attack, certified_radius
from stepnet.errors import InvalidInputError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.uncertainty.adversary import Adversary

NORMS = ("l1", "l2", "linf")


def random_steps(rng, n, widths):
    layers, n_inputs = [], n
    for width in (*widths, 1):
        layers.append(Layer(rng.normal(size=(width, n_inputs)), rng.normal(size=width) * 0.7))
        n_inputs = width
    return Network(tuple(layers))


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.lists(st.integers(1, 6), min_size=1, max_size=2),
    st.sampled_from(NORMS),
)
def test_the_radius_is_that_of_all_activation_regions(seed, n, widths, norm):
    rng = np.random.default_rng(seed)
    network, row = random_steps(rng, n, widths), rng.normal(size=n)
    found, best = Adversary(network, Ball(norm)).attack(row), smallest_move(network, row, norm)
    if np.isinf(best):
        assert np.isinf(found.radius)
        assert found.point is None
        return
    assert found.radius == pytest.approx(best, rel=1e-6, abs=1e-7)
    assert found.radius <= found.size <= best * (1 + 1e-5) + 1e-6
    assert network.predict(found.point[None]) != network.predict(row[None])
    assert Ball(norm).size((found.point - row)[None])[0] == pytest.approx(found.size)


@pytest.mark.parametrize("norm", NORMS)
def test_no_move_inside_the_radius_changes_an_answer(norm):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    classifier = StepClassifier((6,), method="learn", random_state=0).fit(X, y)
    network, found, ball = classifier.network_, attack(classifier, X, norm=norm), Ball(norm)
    assert found.are_complete.all()
    answers = network.predict(X)
    broken = np.isfinite(found.sizes)
    assert broken.any()
    assert (network.predict(found.points[broken]) != answers[broken]).all()
    assert (found.sizes[broken] <= found.radii[broken] * (1 + 1e-5) + 1e-6).all()
    for i in range(0, 60, 6):
        radius = found.radii[i] if np.isfinite(found.radii[i]) else 10.0
        z = rng.normal(size=(10_000, 3))
        random = z / ball.size(z)[:, None] * radius * rng.random((10_000, 1)) ** 0.3
        towards = network.layers[0].weights[rng.integers(6, size=1000)] * rng.choice([-1, 1], (1000, 1))
        directed = towards / ball.size(towards)[:, None] * radius
        for moves in (random, directed * (1 - 1e-9)):
            assert (network.predict(X[i] + moves * (1 - 1e-9)) == answers[i]).all()


def test_rows_that_are_wrong_have_no_radius_and_equal_rows_the_same():
    network = Network((Layer([[1.0]], [0.0]), Layer([[1.0]], [0.5])))
    found = attack(network, [[1.0], [1.0], [-2.0], [1.0]], [1, 0, 0, 1])
    np.testing.assert_allclose(found.radii, [1.0, 0.0, 2.0, 1.0], atol=1e-6)
    assert found.certified(0.5) == 0.75
    assert found.certified(0.0) == 0.75
    np.testing.assert_allclose(certified_radius(network, [[3.0]]), [3.0], atol=1e-6)


def test_a_range_and_scales_limit_the_moves():
    network = Network((Layer([[1.0, 0.0]], [2.0]), Layer([[1.0]], [0.5])))
    for norm in NORMS:
        free, held = attack(network, [[0.0, 0.0]], norm=norm), attack(network, [[0.0, 0.0]], norm=norm, high=1.0)
        assert free.radii[0] == pytest.approx(2.0)
        assert np.isinf(held.radii[0])
        assert np.isnan(held.points).all()
        assert attack(network, [[0.0, 0.0]], norm=norm, scale=(4.0, 1.0)).radii[0] == pytest.approx(0.5)


@pytest.mark.slow
def test_several_classes_staircases_and_votes():
    stairs = Network((Layer([[1.0]], [[0.0, 2.0]], Staircase((0, 1, 2))),))
    np.testing.assert_allclose(attack(stairs, [[0.5], [3.0], [-1.0]]).radii, [0.5, 1.0, 1.0], atol=1e-6)
    largest = Network(
        (
            Layer([[1.0], [1.0]], [[0.0, 1.0], [5.0, 6.0]], Staircase((0, 1, -1))),
            Layer([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [0.0, 0.0, 0.5], ARGMAX),
        )
    )
    grid = np.linspace(-3, 9, 4801)[:, None]
    answers = largest.predict(grid)
    for row in (0.3, 2.0, 5.4):
        other = np.abs(grid[answers != largest.predict([[row]])[0], 0] - row).min()
        assert attack(largest, [[row]]).radii[0] == pytest.approx(other, abs=0.003)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    votes = StepClassifier((4,), method="learn", random_state=0).fit(X, y)
    found = attack(votes, X[:8], n_jobs=2)
    moved = np.isfinite(found.sizes)
    assert (votes.predict(found.points[moved]) != votes.predict(X[:8][moved])).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_rows_are_no_attacks(n_jobs):
    found = attack(Network((Layer([[1.0, 1.0]], [1.0]),)), np.zeros((0, 2)), n_jobs=n_jobs)
    assert (found.radii.shape, found.points.shape) == ((0,), (0, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda network: attack(network, [[1.0, 2.0]]), "1 features"),
        (lambda network: attack(network, [[np.nan]]), "finite"),
        (lambda network: attack("model", [[1.0]]), "fitted estimator"),
        (lambda network: attack(network, [[1.0]], [0, 1]), "one class"),
        (lambda network: attack(network, [[1.0]], norm="l7"), "'linf'"),
        (lambda network: attack(Network((Layer([[1.0]], [0.0], IDENTITY),)), [[1.0]]), "step layer"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call(Network((Layer([[1.0]], [0.0]), Layer([[1.0]], [0.5]))))


def test_far_moves_are_moves():
    far = Network((Layer([[1.0]], [1000.0]), Layer([[1.0]], [0.5])))
    assert attack(far, [[0.0]], scale=[1e-6]).radii[0] == pytest.approx(1e9)
    tilted = Network((Layer([[1.0, 1.0]], [1.0]), Layer([[1.0]], [0.5])))
    assert attack(tilted, [[0.0, 0.0]], norm="l2", scale=[1e-9, 1e-9]).radii[0] == pytest.approx(0.5**0.5 * 1e9)
    farther = Network((Layer([[1.0]], [1e12]), Layer([[1.0]], [0.5])))
    assert attack(farther, [[0.0]]).radii[0] == pytest.approx(1e12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda network: attack(network, [["a"]]), "numbers"),
        (lambda network: attack(network, [[1.0]], ["a"]), "codes"),
        (lambda network: attack(network, [[1.0]], [0.5]), "codes"),
        (lambda network: attack(network, [[1.0]], n_jobs=0), "n_jobs"),
    ],
)
def test_more_bad_calls_are_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call(Network((Layer([[1.0]], [0.0]), Layer([[1.0]], [0.5]))))
