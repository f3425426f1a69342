"""Attacks by whole steps, against all perturbations there are."""

import itertools

import numpy as np
import pytest

from stepnet import Ball, Layer, Network, StepClassifier, attack
from stepnet.errors import InvalidInputError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import SIGN
from stepnet.uncertainty.counting import Counting
from stepnet.uncertainty.discrete import DiscreteAdversary

NORMS = ("l0", "l1", "l2", "linf")


def units(norm, moves):
    sizes = np.abs(moves)
    if norm == "l0":
        return (moves != 0).sum(axis=1)
    return {"l1": sizes.sum(axis=1), "l2": (sizes**2).sum(axis=1), "linf": sizes.max(axis=1)}[norm]


def whole_network(rng, n, widths, n_classes):
    """Small whole numbers, or signs, in every layer; thresholds anywhere."""
    layers, n_inputs, kind = [], n, rng.integers(3)
    for width in widths:
        weights = rng.choice([-1.0, 1.0], (width, n_inputs)) if kind else rng.integers(-3, 4, (width, n_inputs))
        if kind == 2 and not layers:
            weights = np.eye(width, n_inputs) * rng.choice([-1.0, 1.0], n_inputs)  # each reads one feature
        thresholds = rng.integers(-2, 3, width) + rng.choice([0.0, 0.3])
        layers.append(Layer(weights, thresholds, *([SIGN] if kind else [])))
        n_inputs = width
    if n_classes == 2:
        layers.append(Layer(rng.choice([-1.0, 1.0], (1, n_inputs)), rng.integers(-1, 2, 1)))
    else:
        layers.append(Layer(rng.choice([-1.0, 1.0], (n_classes, n_inputs)), rng.integers(-1, 2, n_classes), ARGMAX))
    return Network(tuple(layers))


def smallest(network, row, norm, most):
    """The fewest units among all moves by whole numbers up to ``most`` in each feature, and whether there are some."""
    moves = np.array(list(itertools.product(range(-most, most + 1), repeat=len(row))))
    wrong = network.predict(row + moves) != network.predict(row[None])
    return units(norm, moves[wrong]).min() if wrong.any() else np.inf


def no_enumeration(monkeypatch):
    monkeypatch.setattr("stepnet.uncertainty.cells._MOST_MOVES", 0)
    monkeypatch.setattr("stepnet.uncertainty.cells._MOST_PATTERNS", 0)


def cases(n_cases, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n_cases):
        n, depth = int(rng.integers(2, 4)), int(rng.integers(1, 5))
        network = whole_network(rng, n, rng.integers(1, 5, depth), int(rng.integers(2, 4)))
        yield network, rng.integers(-2, 3, n).astype(float)


@pytest.mark.parametrize("norm", NORMS)
def test_attacks_are_as_small_as_all_perturbations_have_them(norm):
    for network, row in cases(40, 1):
        best = smallest(network, row, norm, 3)
        found = attack(network, row[None], norm=norm, integer=True, low=row - 3, high=row + 3)
        assert found.are_complete.all()
        wanted = np.sqrt(best) if norm == "l2" else best
        assert found.radii[0] == wanted
        assert found.sizes[0] == wanted
        if np.isfinite(best):
            assert network.predict(found.points) != network.predict(row[None])
            assert (found.points == np.round(found.points)).all()


@pytest.mark.parametrize("norm", NORMS)
def test_programs_of_whole_numbers_find_the_same(norm, monkeypatch):
    pytest.importorskip("ortools")
    no_enumeration(monkeypatch)
    monkeypatch.setattr("stepnet.uncertainty.discrete._SAMPLES", 1)
    n_claimed = 0
    for network, row in cases(12, 2):
        best = smallest(network, row, norm, 3)
        found = attack(network, row[None], norm=norm, integer=True, low=row - 3, high=row + 3)
        assert found.are_complete.all()
        assert found.radii[0] == found.sizes[0] == (np.sqrt(best) if norm == "l2" else best)
        n_claimed += found.claimed_by[0] == Counting.title
    assert n_claimed


def test_weights_that_are_not_whole_are_rounded_on_the_safe_side(monkeypatch):
    pytest.importorskip("ortools")
    no_enumeration(monkeypatch)
    rng = np.random.default_rng(3)
    for _ in range(8):
        network = Network((Layer(rng.normal(size=(4, 3)), rng.normal(size=4)), Layer(rng.normal(size=(1, 4)), [0.1])))
        row = rng.integers(-2, 3, 3).astype(float)
        best = smallest(network, row, "l1", 3)
        found = attack(network, row[None], norm="l1", integer=True, low=row - 3, high=row + 3)
        assert found.radii[0] <= best <= found.sizes[0]
        assert found.are_complete[0]


def test_whole_perturbations_are_no_smaller_than_real_ones():
    rng = np.random.default_rng(4)
    for norm in ("l1", "l2", "linf"):
        for network, row in cases(6, rng):
            real = attack(network, row[None], norm=norm, low=row - 3, high=row + 3)
            whole = attack(network, row[None], norm=norm, integer=True, low=row - 3, high=row + 3)
            assert whole.sizes[0] >= real.radii[0]


def test_steps_and_ranges_are_kept():
    network = Network((Layer([[1.0, 0.0]], [1.3]), Layer([[1.0]], [0.5])))
    assert attack(network, [[0.0, 0.0]], step=0.25).radii[0] == 1.5
    assert attack(network, [[0.0, 0.0]], step=(0.5, 1.0), norm="l1").points.tolist() == [[1.5, 0.0]]
    assert np.isinf(attack(network, [[0.0, 0.0]], integer=True, high=1.0).radii[0])
    bits = Network((Layer([[1.0, 1.0, 1.0]], [2.0]), Layer([[1.0]], [0.5])))
    found = attack(bits, [[0, 0, 0], [1, 1, 1]], norm="l0", integer=True, low=0, high=1)
    assert found.radii.tolist() == [2.0, 2.0]
    assert set(found.points.ravel().tolist()) <= {0.0, 1.0}
    scaled = attack(network, [[0.0, 0.0]], integer=True, scale=(4.0, 1.0))
    assert scaled.radii[0] == 0.5


def test_a_radius_can_be_decided_alone():
    network = Network((Layer([[1.0, 1.0]], [3.0]), Layer([[1.0]], [0.5])))
    options = {"norm": "l1", "integer": True}
    near, far = (attack(network, [[0.0, 0.0]], radius=radius, **options) for radius in (2.5, 3.0))
    assert (near.certified(2.5), near.broken(2.5)) == (1.0, 0.0)
    assert (far.certified(3.0), far.broken(3.0)) == (0.0, 1.0)


def test_without_cpsat_there_is_an_interval(monkeypatch):
    monkeypatch.setattr(Counting, "available", lambda: None)
    no_enumeration(monkeypatch)
    for network, row in cases(20, 5):
        best = smallest(network, row, "l1", 3)
        found = attack(network, row[None], norm="l1", integer=True, low=row - 3, high=row + 3)
        assert found.radii[0] <= best <= found.sizes[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": "l0"}, "integer=True"),
        ({"norm": "l0", "integer": True}, "low= and high="),
        ({"step": -1.0}, "positive"),
        ({"integer": True, "step": 0.5}, "whole numbers"),
        ({"integer": 2}, "True or False"),
    ],
)
def test_bad_steps_are_named(options, message):
    network = Network((Layer([[1.0]], [1.0]), Layer([[1.0]], [0.5])))
    with pytest.raises(InvalidInputError, match=message):
        attack(network, [[0.0]], **options)


def test_training_takes_whole_balls_only():
    with pytest.raises(InvalidInputError, match="training takes the whole ball"):
        StepClassifier((1,), uncertainty=Ball("linf", 1.0, integer=True)).fit([[0.0], [5.0]], [0, 1])


def test_numbers_cannot_be_attacked():
    network = Network((Layer([[1.0]], [1.0]),))
    assert DiscreteAdversary(network, Ball("linf", integer=True)).attack(np.zeros(1)).radius == 1.0


@pytest.mark.parametrize("norm", NORMS)
def test_categories_move_together(norm):
    rng = np.random.default_rng(6)
    places = np.array([[*kind, a, b] for kind in np.eye(3) for a in range(3) for b in range(3)])
    for _ in range(15):
        network = whole_network(rng, 5, rng.integers(2, 5, 1), 2)
        row = places[rng.integers(len(places))]
        wrong = places[network.predict(places) != network.predict(row[None])]
        moves = (wrong - row).astype(int)
        moves[:, :3] = np.maximum(moves[:, :3], 0)  # the new category counts
        best = units(norm, moves).min() if len(moves) else np.inf
        found = attack(network, row[None], norm=norm, integer=True, low=0, high=2, groups=[[0, 1, 2]])
        assert found.are_complete.all()
        assert found.radii[0] == found.sizes[0] == (np.sqrt(best) if norm == "l2" else best)
        if np.isfinite(best):
            assert (found.points[0] == places).all(axis=1).any()


def test_groups_must_be_categories():
    network = Network((Layer([[1.0, 1.0]], [1.0]), Layer([[1.0]], [0.5])))
    with pytest.raises(InvalidInputError, match="one 1 and zeros"):
        attack(network, [[0.0, 0.0]], integer=True, groups=[[0, 1]])
    with pytest.raises(InvalidInputError, match="overlap"):
        attack(network, [[0.0, 1.0]], integer=True, groups=[[0, 1], [1]])
    with pytest.raises(InvalidInputError, match="integer=True"):
        attack(network, [[0.0, 1.0]], groups=[[0, 1]])
