"""Scenarios: finitely many points a row, as column-and-constraint generation collects them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepnet.model.arithmetic import Floats, Ints


@dataclass(frozen=True, eq=False)
class Scenarios:
    """The rows of a data set as points of fewer owners.

    An owner costs what the worst of its points does. Where scenarios are ``joint``, as the paper has them, a
    scenario moves all owners at once, and what counts is the scenario that costs most in all.

    Attributes
    ----------
    owners : ndarray of int
        Of each row of the data set.
    weights : ndarray
        Of the owners.
    joint : ndarray of int or None
        The scenario of each row of the data set, where they are joint.
    """

    owners: Ints
    weights: Floats
    joint: Ints | None = None

    @property
    def n_owners(self) -> int:
        return len(self.weights)

    def worst_of(self, costs: Floats) -> Floats:
        """For each owner the largest cost of its points."""
        worst = np.zeros(self.n_owners)
        np.maximum.at(worst, self.owners, costs)
        return worst

    def shared(self, costs: Floats) -> Floats:
        """For each point what its owner pays; joint scenarios share nothing."""
        return costs if self.joint is not None else self.worst_of(costs)[self.owners]

    def total(self, costs: Floats) -> float:
        """Of the costs of all points, without weights."""
        if self.joint is None:
            return math.fsum(self.weights * self.worst_of(costs))
        priced = self.weights[self.owners] * costs
        return max(math.fsum(priced[self.joint == number]) for number in np.unique(self.joint))
