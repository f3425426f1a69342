"""Linear discriminants: networks of the problem, for every architecture that can hold them, better than constants."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from stepnet import Integers, StepAutoencoder, StepClassifier, StepRegressor
from stepnet.constructions.discriminants import class_scores, discriminant_network, discriminant_pairs
from stepnet.model.votes import pairwise_votes
from stepnet.problem.dataset import Dataset

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    ("estimator", "data", "share"),
    [
        (StepClassifier(()), CANCER, 0.1),
        (StepClassifier((5,)), CANCER, 0.1),
        (StepClassifier((5, 3)), CANCER, 0.1),
        (StepClassifier((5,), threshold="layer"), CANCER, 0.1),
        (StepClassifier((5,), activation="sign"), CANCER, 0.1),
        (StepClassifier((5,), weights="ternary"), CANCER, 0.2),
        (StepClassifier((5,), weights=Integers(7)), CANCER, 0.1),
        (StepClassifier((), output="one_hot"), IRIS, 0.1),
        (StepClassifier((9,), output="one_hot"), IRIS, 0.2),
        (StepClassifier((9, 4), output="one_hot"), IRIS, 0.2),
        (StepClassifier((2,), output="one_hot"), IRIS, 0.4),
        (StepClassifier((4,), output="ordinal"), IRIS, 0.1),
        (StepClassifier((1,), output="ordinal"), IRIS, 0.4),
        (StepRegressor((10,)), DIABETES, 0.55),
        (StepRegressor((10,), loss="absolute"), DIABETES, 0.75),
        (StepRegressor((10, 5), activation="sign"), DIABETES, 0.55),
    ],
)
def test_it_loses_less_than_a_share_of_all_rows_or_of_the_best_constant(estimator, data, share):
    problem = estimator.problem(*data)
    network = discriminant_network(problem)
    assert problem.refuses(network) is None
    assert problem.evaluate(network) <= share * problem.accuracy.scale


def test_an_autoencoder_keeps_most_of_the_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6))
    problem = StepAutoencoder(12).problem(X)
    assert problem.evaluate(discriminant_network(problem)) < 0.3 * ((X - X.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("estimator", [StepClassifier((2,), threshold=0.5), StepClassifier((2,), threshold=0.0)])
def test_fixed_thresholds_leave_no_way(estimator):
    assert discriminant_network(estimator.problem(*CANCER)) is None


@pytest.mark.parametrize("weights", ["real", "ternary"])
def test_pairs_vote_well(weights):
    X, y = IRIS
    two = StepClassifier((3,), weights=weights).problem(X[:100], y[:100])
    problem = two.__class__(Dataset.from_rows(X, y), two.architecture)
    vote = pairwise_votes(discriminant_pairs(problem, 3), 3)
    assert (vote.predict(X) == y).mean() > 0.8


def test_a_class_without_rows_never_wins():
    X, y = IRIS
    directions, offsets = class_scores(Dataset.from_rows(X, 2 * (y > 0)), 3)
    assert 1 not in (X @ directions.T + offsets).argmax(axis=1)


def test_extreme_units_do_no_harm():
    X, y = CANCER
    for scale in (1e-150, 1e150):
        problem = StepClassifier((2,)).problem(X * scale, y)
        assert problem.evaluate(discriminant_network(problem)) < 100
