"""The search for integer weights: it sees all moves, and respects what is not allowed."""

import numpy as np
import pytest

from stepnet.search.neuron.integers import IntegerNeuron
from stepnet.search.neuron.prices import Prices

VALUES = np.arange(-2.0, 3.0)


def neuron_of(seed, most=3, allowed=None, admits=lambda weights: True, n_features=5):
    rng = np.random.default_rng(seed)
    columns, gains = rng.integers(0, 3, (n_features, 30)).astype(float), rng.choice([-1.0, 1.0], 30)
    allowed = np.ones((n_features, len(VALUES)), dtype=bool) if allowed is None else allowed
    return IntegerNeuron(Prices(columns, gains), VALUES, allowed, most, rng, admits)


def moved(weights, dropped, feature, value):
    result = weights.copy()
    if dropped >= 0:
        result[dropped] = 0.0
    result[feature] = value
    return result


@pytest.mark.parametrize("weights", [[0, 0, 0, 0, 0], [1, 0, 0, 0, -2], [1, 2, 0, -1, 0]])
def test_the_moves_are_all_changes_of_one_weight_and_all_exchanges_of_features(weights):
    neuron, weights = neuron_of(0), np.array(weights, dtype=float)
    moves = neuron.moves(weights)
    reached = {tuple(moved(weights, *move)) for move in zip(moves.dropped, moves.feature, moves.value, strict=True)}
    wanted = set()
    for feature in range(5):
        others = {-1} | ({int(i) for i in np.flatnonzero(weights)} if not weights[feature] else set())
        for dropped in others:
            for value in VALUES:
                after = moved(weights, dropped, feature, value)
                if np.count_nonzero(after) <= 3 and (after != weights).any():
                    wanted.add(tuple(after))
    assert reached == wanted
    for move in zip(*moves, strict=True):
        assert move[-1] == neuron.loss(moved(weights, *move[:-1]))


@pytest.mark.parametrize("seed", range(3))
def test_no_more_weights_than_allowed_and_no_forbidden_value(seed):
    allowed = np.ones((5, len(VALUES)), dtype=bool)
    allowed[0, VALUES < 0] = False  # may only raise
    allowed[1, VALUES > 0] = False
    neuron = neuron_of(seed, most=2, allowed=allowed, admits=lambda weights: weights[2] >= weights[3])
    found = []
    neuron.search(np.zeros(5), 100, lambda: False, lambda weights: found.append(weights))
    assert len(found) > 1
    for weights in found:
        assert np.count_nonzero(weights) <= 2
        assert weights[0] >= 0 >= weights[1]
        assert weights[2] >= weights[3]


def test_weights_that_must_not_be_zero_stay_so():
    allowed = np.broadcast_to(np.abs(VALUES) == 1, (5, len(VALUES)))
    found = []
    neuron_of(1, most=5, allowed=allowed).search(np.ones(5), 60, lambda: False, lambda weights: found.append(weights))
    assert all((np.abs(weights) == 1).all() for weights in found)


def test_without_room_for_a_weight_the_search_ends():
    found = []
    neuron_of(0, most=0).search(np.zeros(5), 100, lambda: False, lambda weights: found.append(weights))
    assert len(found) == 1


def test_it_ends_when_told_that_it_is_enough():
    found = []

    def is_enough(weights):
        found.append(weights)
        return True

    neuron_of(0).search(np.zeros(5), 100, lambda: False, is_enough)
    assert len(found) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_best_neighbour_has_the_least_loss_of_all_moves_that_are_admitted(seed):
    neuron = neuron_of(seed, admits=lambda weights: weights[0] != 2)
    weights = np.array([1.0, 0, -1, 0, 0])
    moves = neuron.moves(weights)
    losses = moves.loss[~((moves.feature == 0) & (moves.value == 2))]
    best = neuron.best_neighbour(weights)
    assert best is not None
    assert best[0] != 2
    assert neuron.loss(best) == losses.min()
