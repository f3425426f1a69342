"""Ranges of bits and relaxations hold for every point of the ball, and see what multipliers can show."""

import numpy as np
import pytest

from stepnet import Ball, Layer, Network, Staircase
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import SIGN
from stepnet.uncertainty.adversary import Adversary
from stepnet.uncertainty.relaxation import Relaxation

NORMS = ("l1", "l2", "linf")


def network_of(rng, kind):
    first = Layer(rng.normal(size=(6, 3)), rng.normal(size=6))
    if kind == "deep":
        return Network(
            (first, Layer(rng.normal(size=(4, 6)), rng.normal(size=4)), Layer(rng.normal(size=(1, 4)), [0.2]))
        )
    if kind == "signs":
        signs = [Layer(rng.choice([-1.0, 1.0], shape), rng.normal(size=shape[0]), SIGN) for shape in ((6, 3), (5, 6))]
        return Network((*signs, Layer(rng.choice([-1.0, 1.0], (3, 5)), [0.0, 0.5, 0.0], ARGMAX)))
    stairs = Layer(rng.normal(size=(4, 3)), np.sort(rng.normal(size=(4, 2)), axis=1), Staircase((1.0, -1.0, 2.0)))
    return Network((stairs, Layer(rng.normal(size=(3, 4)), rng.normal(size=3), ARGMAX)))


def bits_of(adversary, point):
    """All bits of a point, from the exact levels."""
    levels = adversary.network.levels(point[None])
    hidden = adversary.circuit.hidden
    pairs = zip(hidden, levels, strict=False)
    return np.concatenate(
        [(own[0][:, None] > np.arange(layer.activation.n_thresholds)).ravel() for layer, own in pairs]
    )


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", ["deep", "signs", "stairs"])
def test_no_point_of_the_ball_is_outside(norm, kind):
    rng = np.random.default_rng(0)
    for _ in range(4):
        adversary, row = Adversary(network_of(rng, kind), Ball(norm)), rng.normal(size=3)
        target, radius = adversary.target(row), float(rng.choice([0.1, 1.0, 3.0]))
        low, high = target.in_reach(radius)
        z = rng.normal(size=(300, 3))
        points = row + z / Ball(norm).size(z)[:, None] * radius * rng.random((300, 1))
        bits = np.array([bits_of(adversary, point) for point in points])
        assert (bits >= low).all()
        assert (bits <= high).all()
        own = adversary.circuit.part(len(adversary.circuit.hidden) - 1)
        for rival in adversary.circuit.rivals(target.answer):
            relaxation = Relaxation(adversary.circuit, adversary.planes, Ball(norm), row, radius, rival, low, high)
            reached = (bits[:, own] @ rival.coefficients - rival.least).max()
            bound = relaxation.solve(low, high).bound
            assert bound >= reached - 1e-9
            assert np.isfinite(bound)


def test_a_rival_has_what_it_needs_exactly_where_it_answers():
    rng = np.random.default_rng(1)
    for kind in ("deep", "signs", "stairs"):
        adversary = Adversary(network_of(rng, kind), Ball("linf"))
        own = adversary.circuit.part(len(adversary.circuit.hidden) - 1)
        for point in rng.normal(size=(40, 3)) * 2:
            answer, other = (int(adversary.network.predict(one[None])[0]) for one in (point, rng.normal(size=3)))
            has = [
                bits_of(adversary, point)[own] @ one.coefficients >= one.least
                for one in adversary.circuit.rivals(other)
            ]
            assert any(has) == (answer != other)


def test_crossing_together_is_harder_than_crossing_each():
    # Each of three sides is one step away, in directions that no one point serves.
    angles = 2 * np.pi * np.arange(3) / 3
    weights = np.column_stack([np.cos(angles), np.sin(angles)])
    network = Network((Layer(weights, np.ones(3)), Layer([[1.0, 1.0, 1.0]], [2.0])))
    adversary, row = Adversary(network, Ball("l2")), np.zeros(2)
    target = adversary.target(row)
    low, high = target.in_reach(1.1)
    assert adversary.circuit.could_miss(low[None], high[None], 0)[0]
    (rival,) = adversary.circuit.rivals(0)
    relaxation = Relaxation(adversary.circuit, adversary.planes, Ball("l2"), row, 1.1, rival, low, high)
    assert relaxation.solve(low, high).bound < 0
    assert adversary.attack(row).radius == pytest.approx(2.0)
