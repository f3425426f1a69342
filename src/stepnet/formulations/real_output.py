"""The last layer of a program whose loss reads its values.

Variables
    v_oj     weight of output o on neuron j of the last hidden layer     in [-B, B]
    t_o      its threshold, that is minus its intercept
    r^i_o    the error z^i_o - y^i_o, for squared errors                 with cost weight_i r²
    p^i_o    the cost of row i in output o, for the other losses         with cost weight_i p
Rows, with z^i_o = Σ_j v_oj h^i_j - t_o, where products v · u are written as in any other layer
    squared   r = z - y
    others    p >= above (z - y),  p >= below (y - z)                    with the slopes of the loss
Targets y are shifted and divided so that they lie in [-1, 1]. B is the bound of the loss; without one it
is 4 in these units, twice the range of the targets, and the scope of the bound says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer
from stepnet.problem.losses.base import RealLoss
from stepnet.problem.problem import Problem

_DEFAULT_BOUND = 4.0


@dataclass(frozen=True)
class RealOutput:
    """The targets in the units of the program, the limits of the last layer, and the conversion of units."""

    loss: RealLoss
    targets: Floats  # rows × outputs
    centres: Floats  # of each output, in the units of the data
    size: float  # by which targets are divided
    limit: float  # of weights
    largest_threshold: float
    largest_error: float
    has_intercept: bool

    @classmethod
    def of(cls, problem: Problem) -> RealOutput | None:
        """None if the loss reads no values."""
        architecture, loss = problem.architecture, problem.loss.of_values
        if loss is None:
            return None
        targets, has_intercept = loss.targets(problem.dataset.y), architecture.intercept
        centres, size = np.zeros(targets.shape[1]), 1.0
        if loss.has_units:
            low, high = targets.min(axis=0), targets.max(axis=0)
            centres = (low + high) / 2 if has_intercept else centres
            size = float(np.maximum(high - centres, centres - low).max()) or 1.0
            targets = (targets - centres) / size
        limit = max(_DEFAULT_BOUND, 2 * _largest_side(problem) / size) if loss.bound is None else loss.bound / size
        largest_sum = limit * architecture.hidden[-1] * max(abs(value) for value in architecture.activation.values)
        threshold = largest_sum + 1.0 if has_intercept else 0.0
        return cls(loss, targets, centres, size, limit, threshold, largest_sum + threshold + 1.0, has_intercept)

    def holds(self, layer: Layer) -> bool:
        """Whether a last layer, in the units of the program, is within its limits."""
        sizes = np.abs(layer.weights).max(), np.abs(layer.thresholds).max()
        return bool(sizes[0] <= self.limit and sizes[1] <= self.largest_threshold)

    def misses(self, values: Floats) -> Floats:
        """r or p of every row and output, from the values of the outputs in the units of the data."""
        values = (values - self.centres) / self.size
        return np.asarray(values - self.targets) if self.loss.pays_squares else self.loss.costs(values, self.targets)

    def scaled(self, layer: Layer) -> Layer:
        return layer.with_(layer.weights / self.size, (layer.thresholds + self.centres) / self.size)

    def restored(self, layer: Layer) -> Layer:
        # Dividing and multiplying back may round a weight past the bound it lies on.
        largest = np.inf if self.loss.bound is None else self.loss.bound
        thresholds = layer.thresholds * self.size - self.centres
        return layer.with_(np.clip(layer.weights * self.size, -largest, largest), thresholds * self.has_intercept)


def _largest_side(problem: Problem) -> float:
    """How large a weight of the last layer the user's constraints may require."""
    last = len(problem.architecture.hidden)
    sides = [
        abs(side / c)
        for row in problem.constraints.rows
        for side in (row.lower, row.upper)
        for (k, _, _), c in row.terms
        if k == last and np.isfinite(side)
    ]
    return max(sides, default=0.0)
