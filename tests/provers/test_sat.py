"""Sat: optima of brute force, for all networks; weights; limits; and never a false proof."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import brute_force
from conftest import make_problem, solve
from stepnet.errors import NotAcceptedError
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.problem.dataset import Dataset
from stepnet.provers.pool import Pool
from stepnet.provers.sat import Sat
from stepnet.provers.subsystem import Subsystem
from stepnet.runtime.limits import Budget

ALONE = Exact(formulation="sat", free_bounds=False, search_share=0)


def random_rows(seed):
    rng = np.random.default_rng(seed)
    n, width, m = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(4, 10))
    X = rng.normal(size=(m, n)) if seed % 2 else rng.integers(-1, 2, (m, n)).astype(float)
    return X, rng.permutation(np.arange(m) % 2), width, rng


@pytest.mark.parametrize("seed", range(24))
def test_it_proves_the_optimum_of_brute_force(seed):
    X, y, width, rng = random_rows(seed)
    weights = rng.integers(1, 4, len(y)).astype(float) if seed % 3 == 0 else None
    problem = make_problem(X, y, (width,), sample_weight=weights)
    certificate, _ = solve(problem, ALONE, time_limit=30)
    data = problem.dataset
    best = brute_force.best_loss(data.X, data.y, (width,), "neuron", data.weights)
    assert (certificate.status, certificate.loss, str(certificate.scope)) == ("OPTIMAL", best, "all networks")


@pytest.mark.parametrize("seed", range(6))
def test_real_weights_give_a_sound_bound_and_the_best_network(seed):
    X, y, width, rng = random_rows(seed)
    problem = make_problem(X, y, (width,), sample_weight=rng.random(len(y)) + 0.1)
    certificate, _ = solve(problem, ALONE, time_limit=30)
    data = problem.dataset
    best = brute_force.best_loss(data.X, data.y, (width,), "neuron", data.weights)
    assert certificate.loss == pytest.approx(best)
    assert certificate.bound <= best * (1 + 1e-9)
    assert certificate.bound >= 0.9 * best


def test_no_hidden_layer_is_one_neuron():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    certificate, result = solve(make_problem(X, y, ()), ALONE)
    assert (certificate.status, certificate.loss) == ("OPTIMAL", 1)
    assert len(result.network.layers) == 1


PAIRS = {  # weights of rows that come in pairs, one of either class
    "rounded": [0.1] * 6,
    "rounded thirds": [1 / 3] * 12,
    "multiples": [0.001, 0.002, 0.003, 0.003, 0.001, 0.003],
    "far apart": [1e12, 1.0, 2.0, 1e12],
    "two classes": [0.7, 1 / 3] * 4,
}


@pytest.mark.parametrize("way", ["cells", "sat", "one_neuron"])
@pytest.mark.parametrize("kind", PAIRS)
def test_contradicting_rows_of_odd_weights_are_proven(kind, way):
    weights = PAIRS[kind]
    X, y = np.repeat(np.arange(len(weights) // 2), 2)[:, None], np.arange(len(weights)) % 2
    problem = make_problem(X, y, (1,), sample_weight=weights)
    method = Exact(formulation=way, free_bounds=False, search_share=0)
    certificate, _ = solve(problem, method, time_limit=60)
    data = problem.dataset
    assert (certificate.status, str(certificate.scope)) == ("OPTIMAL", "all networks")
    assert certificate.loss == pytest.approx(
        brute_force.best_loss(data.X, data.y, (1,), "neuron", data.weights), rel=1e-12
    )


@pytest.mark.parametrize("width", [3, 4, 5])
def test_wider_layers_have_more_gates_and_no_larger_loss(width):
    rng = np.random.default_rng(width)
    X, y = rng.normal(size=(14, 2)), rng.permutation(np.arange(14) % 2)
    wide, _ = solve(make_problem(X, y, (width,)), ALONE, time_limit=60)
    narrow, _ = solve(make_problem(X, y, (width - 1,)), ALONE, time_limit=60)
    assert wide.status == narrow.status == "OPTIMAL"
    assert wide.loss <= narrow.loss


@pytest.mark.slow
def test_the_time_limit_leaves_a_bound_that_holds():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(60, 4)), rng.integers(0, 2, 60), (2,))
    run = Run(problem, Budget(5.0))
    begin(run, None, separate=False)
    Sat().work(run, run.offer)
    assert run.budget.elapsed < 20  # a machine that is busy may be late
    assert 0 < run.bound.value <= run.loss
    assert run.bound.scope.is_all
    assert run.bound.evidence.claimed_by.startswith("CaDiCaL")


def test_an_interrupt_leaves_a_bound_that_holds():
    """Ctrl-C while CaDiCaL is at work."""
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(60, 8)), rng.integers(0, 2, 60), (2,))
    run = Run(problem, Budget(100.0))
    begin(run, None, separate=False)

    def interrupt_once_there_is_a_bound():
        while run.bound.value <= 0 and run.budget.stop_reason is None:
            time.sleep(0.05)
        if run.budget.stop_reason is None:
            os.kill(os.getpid(), signal.SIGINT)

    interrupt = threading.Thread(target=interrupt_once_there_is_a_bound)
    with run.budget.catching_interrupts("keep"):
        interrupt.start()
        Sat().work(run, run.offer)
    assert run.budget.stop_reason == "interrupted"
    assert 0 < run.bound.value <= run.loss == problem.evaluate(run.network)


def test_what_it_does_not_take_it_refuses_with_the_way_out():
    with pytest.raises(NotAcceptedError, match=r"up to 5 neurons.*formulation='tight'"):
        solve(make_problem([[0.0], [1.0]], [0, 1], (6,)), ALONE)
    with pytest.raises(NotAcceptedError, match="threshold='neuron'"):
        solve(make_problem([[0.0], [1.0]], [0, 1], (2,), "layer"), ALONE)


def test_a_pool_moves_to_more_rows_and_keeps_what_still_holds():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1, 0, 1])
    old = Dataset.from_rows(X, y)
    multipliers = tuple(2 if old.X[i, 0] == 1 else 1 for i in range(3))
    pool = Pool([Subsystem((0, 1, 2), multipliers)])
    assert pool.is_true(old)
    new = Dataset.from_rows(np.array([[5.0], [2.0], [1.0], [0.0]]), np.array([0, 1, 0, 1]))
    moved = pool.moved(old, new)
    assert len(moved) == 1
    assert moved.is_true(new)
    assert len(pool.moved(old, Dataset.from_rows(X[:2], y[:2]))) == 0
