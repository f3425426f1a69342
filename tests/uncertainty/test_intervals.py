"""Intervals: radii are proven, attacks are verified, and whatever is called complete has both of them meet."""

import signal

import numpy as np
import pytest

from stepnet import Ball, Layer, Network, attack
from stepnet.errors import InvalidInputError, SolverFailure
from stepnet.model.activations.argmax import ARGMAX
from stepnet.uncertainty.adversary import Adversary
from stepnet.uncertainty.decision import Decision
from stepnet.uncertainty.relaxation import Relaxation, Solution

NORMS = ("l1", "l2", "linf")


def random_network(rng, n, widths, n_classes=2, whole=False):
    layers, n_inputs = [], n
    for width in widths:
        weights = rng.integers(-3, 4, (width, n_inputs)) if whole else rng.normal(size=(width, n_inputs))
        layers.append(Layer(weights, rng.normal(size=width) * (1.0 if layers else 3.0)))
        n_inputs = width
    last = rng.normal(size=(1 if n_classes == 2 else n_classes, n_inputs))
    return Network((*layers, Layer(last, rng.normal(size=len(last)), *([] if n_classes == 2 else [ARGMAX]))))


def meets(found):
    return found.size <= found.radius * (1 + 1e-6) + 1e-10 or np.isinf(found.radius)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("widths", [(5,), (25,), (8, 6), (6, 5, 4)])
def test_what_is_complete_meets(norm, widths):
    rng = np.random.default_rng(len(widths) + widths[0])
    n_complete = 0
    for n in (2, 5, 12):
        network = random_network(rng, n, widths, n_classes=2 if n < 12 else 3, whole=n == 5)
        row = rng.integers(-4, 5, n).astype(float)
        found = Adversary(network, Ball(norm), most_nodes=400).attack(row)
        assert found.radius <= found.size
        assert found.is_complete == meets(found)
        if found.point is not None:
            assert network.predict(found.point[None]) != network.predict(row[None])
            assert Ball(norm).size((found.point - row)[None])[0] == found.size
        n_complete += found.is_complete
    assert n_complete


def test_nothing_is_complete_because_a_solver_gives_up(monkeypatch):
    def give_up(*_):
        raise SolverFailure("no answer")

    rng = np.random.default_rng(0)
    cases = [(random_network(rng, 3, (6,)), rng.normal(size=3)) for _ in range(10)]
    known = [Adversary(network, Ball("l1")).attack(row) for network, row in cases]
    assert all(one.is_complete for one in known)
    monkeypatch.setattr(
        Relaxation,
        "solve",
        lambda self, low, high, n_rounds=0: Solution(np.inf, None, None, *2 * [np.zeros(len(self.free))]),
    )
    monkeypatch.setattr(Ball, "smallest", give_up)
    found = [Adversary(network, Ball("l1")).attack(row) for network, row in cases]
    assert all(one.is_complete == meets(one) for one in found)
    assert not all(one.is_complete for one in found)
    for one, exact in zip(found, known, strict=True):
        assert one.radius <= exact.size * (1 + 1e-9)
        assert one.size >= exact.radius


@pytest.mark.parametrize("norm", NORMS)
def test_no_move_inside_a_radius_changes_an_answer_finished_or_not(norm):
    rng = np.random.default_rng(1)
    ball = Ball(norm)
    for widths in ((20,), (10, 6)):
        network = random_network(rng, 4, widths)
        X = rng.normal(size=(3, 4)) * 2
        answers = network.predict(X)
        for most_nodes in (0, 10, 2000):
            for row, answer in zip(X, answers, strict=True):
                found = Adversary(network, ball, most_nodes=most_nodes).attack(row)
                radius = min(found.radius, 50.0)
                z = rng.normal(size=(2000, 4)) * rng.choice([0.01, 1.0], (2000, 4))
                moves = z / ball.size(z)[:, None] * radius * (1 - 1e-9)
                assert (network.predict(row + moves) == answer).all()


@pytest.mark.parametrize("norm", NORMS)
def test_a_radius_is_decided_as_the_smallest_perturbation_says(norm):
    rng = np.random.default_rng(2)
    network, X = random_network(rng, 3, (12,)), rng.normal(size=(8, 3))
    exact = attack(network, X, norm=norm)
    assert exact.are_complete.all()
    for radius in (0.0, float(np.median(exact.radii)) * 0.99, 1e3):
        decided = attack(network, X, norm=norm, radius=radius)
        assert decided.are_complete.all()
        assert decided.certified(radius) == exact.certified(radius)
        assert decided.certified(radius) + decided.broken(radius) == 1.0


def test_limits_leave_intervals():
    rng = np.random.default_rng(3)
    network, X = random_network(rng, 6, (40,)), rng.normal(size=(5, 6))
    whole = attack(network, X, norm="l1")
    assert whole.stop_reason is None
    for limit in (1e-9, 0.2):
        part = attack(network, X, norm="l1", time_limit=limit)
        assert (part.radii <= whole.sizes * (1 + 1e-9)).all()
        assert (part.sizes >= whole.radii).all()
        assert part.stop_reason == (None if part.are_complete.all() else "time")
    nothing = attack(network, X, time_limit=1e-9)
    assert (nothing.radii == 0).all()
    assert np.isinf(nothing.sizes).all()
    assert "stopped by the time limit" in str(nothing)


def test_ctrl_c_returns_what_is_known(monkeypatch):
    rng = np.random.default_rng(4)
    network, X = random_network(rng, 5, (25,)), rng.normal(size=(6, 5))
    real = Decision.run

    def interrupted(self, most_nodes, should_stop):
        signal.raise_signal(signal.SIGINT)
        real(self, most_nodes, should_stop)

    monkeypatch.setattr(Decision, "run", interrupted)
    found = attack(network, X, norm="l1")
    assert found.stop_reason == "interrupted"
    assert not found.are_complete.all()
    assert (found.radii > 0).all()
    assert np.isfinite(found.sizes).any()


def test_jobs_do_not_change_what_is_found():
    rng = np.random.default_rng(5)
    network, X = random_network(rng, 3, (8,)), rng.normal(size=(6, 3))
    one, two = attack(network, X), attack(network, X, n_jobs=2)
    np.testing.assert_array_equal(one.radii, two.radii)
    np.testing.assert_array_equal(one.points, two.points)


def test_progress_is_shown_if_asked_for(capsys):
    network = Network((Layer([[1.0]], [0.0]), Layer([[1.0]], [0.5])))
    attack(network, [[1.0], [2.0]], verbose=1)
    assert "2 of 2 rows decided" in capsys.readouterr().err
    attack(network, [[1.0]])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [({"time_limit": 0}, "positive"), ({"time_limit": "1"}, "seconds"), ({"radius": -1.0}, "not negative")],
)
def test_bad_limits_are_named(options, message):
    with pytest.raises(InvalidInputError, match=message):
        attack(Network((Layer([[1.0]], [0.0]), Layer([[1.0]], [0.5]))), [[1.0]], **options)


def test_hundreds_of_neurons_get_intervals_at_once():
    rng = np.random.default_rng(6)
    network, row = random_network(rng, 8, (1500,)), rng.normal(size=8)
    found = Adversary(network, Ball("linf")).attack(row, most_nodes=0)
    assert 0 < found.radius <= found.size < np.inf
