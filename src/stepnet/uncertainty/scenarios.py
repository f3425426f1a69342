"""Scenarios: finitely many perturbations per row, as collected by column-and-constraint generation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepnet.model.arithmetic import Floats, Ints


@dataclass(frozen=True, eq=False)
class Scenarios:
    """The rows of a data set as perturbed copies of fewer owners.

    The cost of an owner is that of its worst copy. If scenarios are ``joint``, as in the paper, a scenario perturbs all
    owners at once, and the loss is the largest total over the scenarios.

    Attributes
    ----------
    owners : ndarray of int
        The owner of each row of the data set.
    weights : ndarray
        The weights of the owners.
    joint : ndarray of int or None
        The scenario of each row of the data set, if they are joint.
    """

    owners: Ints
    weights: Floats
    joint: Ints | None = None

    @property
    def n_owners(self) -> int:
        return len(self.weights)

    def worst_of(self, costs: Floats) -> Floats:
        """For each owner the largest cost of its copies."""
        worst = np.zeros(self.n_owners)
        np.maximum.at(worst, self.owners, costs)
        return worst

    def shared(self, costs: Floats) -> Floats:
        """For each row the cost of its owner; with joint scenarios, its own cost."""
        return costs if self.joint is not None else self.worst_of(costs)[self.owners]

    def total(self, costs: Floats) -> float:
        """The loss, from the costs of all rows without weights."""
        if self.joint is None:
            return math.fsum(self.weights * self.worst_of(costs))
        priced = self.weights[self.owners] * costs
        return max(math.fsum(priced[self.joint == number]) for number in np.unique(self.joint))
