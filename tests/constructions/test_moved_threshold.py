"""The threshold of an output that meets limits on errors with the least loss."""

import numpy as np
import pytest

from stepnet import FalsePositiveRate, Parity, Precision, Recall, StepClassifier
from stepnet.constructions.moved_threshold import with_limits_met
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem

LIMITS = {
    "recall": [Recall(at_least=0.9)],
    "precision": [Precision(at_least=0.8)],
    "both ends": [Recall(at_least=0.6), FalsePositiveRate(at_most=0.4)],
    "parity": [Parity(by=[0, 1] * 10, within=0.2), Recall(at_least=0.7)],
    "impossible": [Recall(at_least=1), FalsePositiveRate(at_most=0)],
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_best_of_all_thresholds(name, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (20, 1)).astype(float)
    y = (X[:, 0] + rng.normal(size=20) * 3 > 4).astype(int)
    y[:2], weights = (0, 1), rng.integers(1, 4, 20)
    problem: Problem = StepClassifier(hidden=(), constraints=LIMITS[name]).problem(X, y, weights)
    learned = Network((Layer([[1.0]], [3.5]),))
    best = min(problem.price(Network((Layer([[1.0]], [end]),))) for end in np.arange(-0.5, 9))
    moved = with_limits_met(problem, learned)
    assert (np.inf if moved is None else problem.price(moved)) == best


def test_a_network_that_meets_them_at_the_least_loss_stays_as_it_is():
    problem = StepClassifier(hidden=(), constraints=[Recall(at_least=0.5)]).problem([[0.0], [1.0]], [0, 1])
    network = Network((Layer([[1.0]], [0.3]),))
    assert with_limits_met(problem, network) is network


def test_a_threshold_that_is_given_is_not_moved():
    classifier = StepClassifier(hidden=(), threshold=0.0, constraints=[Recall(at_least=0.5)])
    assert with_limits_met(classifier.problem([[0.0], [1.0]], [0, 1]), Network((Layer([[1.0]], [0.0]),))) is None
