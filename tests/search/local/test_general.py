"""The search for any problem: no move raises what it lowers, and it always knows where it is."""

import numpy as np
import pytest

from climbers import CASES, WITH_CLASSES, WITH_VALUES, Climbing, far_rows, made
from stepnet.runtime.limits import Budget
from stepnet.search.local.climb import climb_once

SEEDS = range(3)


def moved(name, seed, n_moves):
    climber = Climbing(made(name, seed), seed)
    for number in range(n_moves):
        climber.move()
        if number % 20 == 19:
            climber.leave()
    return climber


@pytest.mark.parametrize("name", CASES)
def test_no_move_raises_the_penalised_loss_and_what_it_calls_a_gain_is_one(name):
    n_gains = 0
    for seed in SEEDS:
        climber = Climbing(made(name, seed), seed)
        for number in range(60):
            before = climber.penalised
            gained = climber.move()
            assert climber.penalised <= before + 2 * climber.flat
            assert not gained or climber.penalised < before
            n_gains += gained
            if number % 20 == 19:
                climber.leave()
    assert n_gains


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CASES)
def test_after_many_moves_signals_and_loss_are_those_of_its_network(name, seed):
    climber = moved(name, seed, 90)
    network, far = climber.scaled, far_rows(climber.scaled, climber.rows)
    levels = network.levels(climber.rows)
    for layer, signals, exact in zip(network.layers, climber.signals, levels, strict=False):
        np.testing.assert_array_equal(signals[far], layer.outputs(exact)[far])
    if name in WITH_VALUES:
        np.testing.assert_allclose(climber.values[far], network.values(climber.rows)[far], atol=1e-9)
    else:
        np.testing.assert_array_equal(climber.answers[far], network.predict(climber.rows)[far])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CASES)
def test_every_network_is_of_the_problem_and_costs_what_is_said(name, seed):
    problem = made(name, seed)
    climber = Climbing(problem, seed)
    for number in range(60):
        climber.move()
        if number % 20 == 19:
            climber.leave()
        if number % 5 == 0:
            network = climber.network
            assert problem.refuses(network) is None
            far = far_rows(climber.scaled, climber.rows)
            exact = problem.evaluate(network)
            if name in WITH_CLASSES:
                assert abs(climber.loss - exact) <= problem.dataset.weights[~far].sum()
            elif far.all():
                assert climber.loss == pytest.approx(exact, rel=1e-9, abs=1e-9 * problem.accuracy.scale)


@pytest.mark.parametrize("name", WITH_CLASSES)
def test_leaving_an_optimum_makes_wrong_rows_heavier_and_lets_the_others_recover(name):
    climber = moved(name, 0, 30)
    weights = climber.problem.dataset.weights
    for _ in range(5):
        before, wrong = climber.penalties.copy(), climber.answers != climber.problem.dataset.y
        climber.leave()
        np.testing.assert_array_equal(climber.penalties[wrong], (before + weights)[wrong])
        assert (climber.penalties >= weights).all()
        assert (climber.penalties <= before)[~wrong].all()


@pytest.mark.parametrize("name", CASES)
def test_the_same_seed_gives_the_same_network(name):
    problem = made(name)
    one, two = (climb_once(problem, [3, 0], Budget(60), -1.0, 40) for _ in range(2))
    assert one is not None
    assert one == two


@pytest.mark.parametrize("name", ["one hidden layer", "squared", "argmax of integers"])
def test_it_keeps_the_best_of_what_it_offers(name):
    problem, offered = made(name), []

    def offer(network):
        offered.append((problem.evaluate(network), network))
        return offered[-1][0]

    best = climb_once(problem, [0, 0], Budget(60), -1.0, 60, offer)
    assert len(offered) > 1
    assert best == min(offered, key=lambda pair: pair[0])[1]
    # Told that any loss will do, it ends with the first network.
    offered.clear()
    climb_once(problem, [0, 0], Budget(60), np.inf, 60, offer)
    assert len(offered) == 1


def test_without_time_it_makes_no_move():
    assert climb_once(made("squared"), [0, 0], Budget(0.0), 0.0, 60) is None
