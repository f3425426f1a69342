"""Misclassified: the weight of the rows whose answer is not their class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset, Targets
from stepnet.problem.losses.base import AnswerLoss
from stepnet.uncertainty.sets import Uncertainty
from stepnet.uncertainty.worst_case import Worst, worst_classes


@dataclass(frozen=True)
class Misclassified(AnswerLoss):
    """The weight of the rows whose answer is not their class."""

    name = "misclassified"
    measure = "misclassified"
    counts_errors = True

    def answer_costs(self, answers: Ints, y: Targets) -> Floats:
        return np.asarray(answers != y, dtype=np.float64)

    def terms(self, dataset: Dataset, network: Network) -> Floats:
        return np.asarray(dataset.weights[dataset.y != network.predict(dataset.X)])

    def conflict_cost(self, dataset: Dataset, n_answers: int) -> float:
        """In each group of equal rows, all classes but the heaviest."""
        return math.fsum(dataset.weights[~dataset.is_heaviest])

    def worst_case(self, network: Network, uncertainty: Uncertainty, dataset: Dataset, radii: Floats) -> Worst:
        return worst_classes(network, uncertainty, dataset.X, radii, dataset.y.astype(np.int64))


MISCLASSIFIED = Misclassified()
