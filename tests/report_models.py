"""Estimators with hand-set networks, for tests of reports."""

from __future__ import annotations

import numpy as np

from stepnet import StepAutoencoder, StepClassifier, StepEnsembleClassifier, StepRegressor
from stepnet.bounds.bound import Bound
from stepnet.bounds.conflicts import conflict_bound
from stepnet.certificate.certificate import certify
from stepnet.certificate.result import Result
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import Staircase
from stepnet.model.network import Layer, Network
from stepnet.model.votes import majority, pairwise_votes

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
LINE = np.arange(6.0)[:, None]

# h1 is a OR b, h2 is a AND b; the output is h1 and not h2.
XOR = Network((Layer([[1.0, 1.0], [1.0, 1.0]], [0.5, 1.5]), Layer([[1.0, -1.0]], [0.5])))
HOSTILE = "<script>alert('x')</script>|`*_[a](javascript:b)\x1b[31m\n\u202e&amp;"


def fitted(estimator, network, X, y=None, sample_weight=None, *, names=None, bound=None):
    """The estimator as if a fit of 1.5 seconds had found the network."""
    problem = estimator._problem(X, y, sample_weight)
    estimator.network_ = network
    problem = estimator._certified_problem(problem)
    free = Bound() if problem.loss.reads_values else conflict_bound(problem)
    result = Result(network, problem.evaluate(network), bound or free, "finished", 1.5)
    estimator.certificate_ = certify(problem, result)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def xor(y=(0, 1, 1, 0), *, names=("a", "b"), **options):
    return fitted(StepClassifier((2,), **options), XOR, SQUARE, np.asarray(y), names=names)


def splits(*thresholds):
    """One feature, one neuron per threshold."""
    return Layer(np.ones((len(thresholds), 1)), np.array(thresholds))


def above(threshold):
    return Network((splits(threshold), Layer([[1.0]], [0.5])))


THREE = np.array(["low", "low", "middle", "middle", "top", "top"])


def every_kind():
    """Each kind of estimator with its training rows."""
    two = np.array([0, 0, 0, 1, 1, 1])
    numbers = np.array([1.0, 1.0, 1.0, 5.0, 5.0, 7.0])
    stairs = Network((splits(1.5, 3.5), Layer([[1.0, 1.0]], [[0.5, 1.5]], Staircase((0, 1, 2)))))
    scores = Network((splits(1.5, 3.5), Layer([[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]], [-0.5, 0.0, 0.0], ARGMAX)))
    line = Network((splits(2.5), Layer([[4.5]], [-1.0], IDENTITY)))
    coder = Network((splits(2.5), Layer([[3.0]], [-1.0], IDENTITY)))
    plane = Network((splits(2.5), Layer([[4.5], [-1.0]], [-1.0, 0.0], IDENTITY)))
    levels = Network((Layer([[1.0]], [[1.5, 3.5]], Staircase((0, 1, 2))), Layer([[1.0]], [1.5])))
    pairs = pairwise_votes([above(1.5), above(2.5), above(3.5)], 3)
    both = np.column_stack([numbers, -numbers])
    return {
        "binary": (xor(), (SQUARE, np.array([0, 1, 1, 0]))),
        "single neuron": (fitted(StepClassifier(()), Network((splits(2.5),)), LINE, two), (LINE, two)),
        "staircase": (fitted(StepClassifier((1,), activation=Staircase((0, 1, 2))), levels, LINE, two), (LINE, two)),
        "one_vs_one": (fitted(StepClassifier((1,), output="one_vs_one"), pairs, LINE, THREE), (LINE, THREE)),
        "one_hot": (fitted(StepClassifier((2,), output="one_hot"), scores, LINE, THREE), (LINE, THREE)),
        "ordinal": (fitted(StepClassifier((2,), output="ordinal"), stairs, LINE, THREE), (LINE, THREE)),
        "ensemble": (
            fitted(StepEnsembleClassifier(3, hidden=(1,)), majority([above(1.5), above(2.5), above(4.5)]), LINE, two),
            (LINE, two),
        ),
        "regressor": (fitted(StepRegressor((1,)), line, LINE, numbers), (LINE, numbers)),
        "two numbers": (fitted(StepRegressor((1,)), plane, LINE, both), (LINE, both)),
        "autoencoder": (fitted(StepAutoencoder(1), coder, LINE), (LINE, None)),
    }
