"""A problem restricted to some of its features: a smaller one without limits on their number, and the way back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stepnet.model.network import Network
from stepnet.problem.constraint import Constraints, Row
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem


def restricted(problem: Problem, features: tuple[int, ...]) -> Problem:
    """One neuron on these features alone; the other weights are 0."""
    dataset, places = problem.dataset, {feature: place for place, feature in enumerate(features)}
    rows = []
    for row in problem.constraints.rows:
        terms = tuple(((k, j, places[i]), c) for (k, j, i), c in row.terms if i in places)
        rows.append(Row(row.name, terms, row.lower, row.upper))
    return replace(
        problem,
        dataset=Dataset.from_rows(dataset.X[:, list(features)], dataset.y, dataset.weights),
        architecture=replace(problem.architecture, n_features=len(features)),
        constraints=Constraints(tuple(row for row in rows if row.terms)),
        units=None,
    )


def extended(network: Network, features: tuple[int, ...], n_features: int) -> Network:
    """The network of a restricted problem for all features."""
    first = network.layers[0]
    weights = np.zeros((first.width, n_features))
    weights[:, list(features)] = first.weights
    return Network((first.with_(weights, first.thresholds), *network.layers[1:]))
