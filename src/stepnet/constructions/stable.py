"""Neurons and the rows for which they are stable: on, or off, wherever the row is moved."""

from __future__ import annotations

import numpy as np

from stepnet.constructions.robust_neuron import robust_rows
from stepnet.model.arithmetic import Bools, Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.uncertainty.hyperplanes import FREE, Hyperplanes, Sides
from stepnet.uncertainty.sets import Uncertainty

_MOST_AXES = 2_000  # axis-aligned neurons to begin with


class StableNeurons:
    """A growing collection for one problem.

    ``sides`` (rows × neurons) are 1 where a neuron is on wherever the row is moved, 0 where it is off, and FREE
    where it may switch.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.rows = problem, robust_rows(problem)
        self.X, self.y = problem.dataset.X.astype(np.float64), problem.dataset.y
        n = self.X.shape[1]
        self.weights, self.thresholds = np.zeros((0, n)), np.zeros(0)
        self.sides: Sides = np.zeros((len(self.X), 0), dtype=np.int8)
        self._add_axes()

    @property
    def handled(self) -> Bools:
        """Where a neuron is stable on the side of the row's class."""
        return np.asarray(self.sides == self.y[:, None])

    def add(self, layer: Layer) -> Sides:
        """Returns the sides of the new neurons."""
        assert isinstance(self.problem.uncertainty, Uncertainty)
        planes = Hyperplanes(Network((layer,)), self.problem.uncertainty)
        sides = planes.stable_sides(self.X, self.problem.radii)
        self.weights = np.vstack([self.weights, layer.weights])
        self.thresholds = np.append(self.thresholds, layer.thresholds)
        self.sides = np.hstack([self.sides, sides])
        return sides

    def _add_axes(self) -> None:
        """Single features, with thresholds between the places where their stable rows change."""
        assert isinstance(self.problem.uncertainty, Uncertainty)
        n = self.X.shape[1]
        per_feature = max(2, _MOST_AXES // (2 * n))
        weights, thresholds = [], []
        for w in np.vstack([np.eye(n), -np.eye(n)]):
            values = self.X @ w
            up, down = self.problem.uncertainty.reach(np.vstack([w, -w]), self.X, self.problem.radii).T
            # Where a row of class 1 ends below and one of class 0 above: between, neither end changes hands.
            ends = np.unique(np.where(self.y == 1, values - down, values + up))
            middles = (ends[1:] + ends[:-1]) / 2
            if len(middles) > per_feature:
                middles = middles[np.linspace(0, len(middles) - 1, per_feature).astype(int)]
            weights.append(np.repeat(w[None], len(middles), axis=0))
            thresholds.append(middles)
        self.add(Layer(np.vstack(weights), np.concatenate(thresholds)))
        _, first = np.unique(self.sides, axis=1, return_index=True)
        first = first[(self.sides[:, first] != FREE).any(axis=0)]
        self.weights, self.thresholds, self.sides = self.weights[first], self.thresholds[first], self.sides[:, first]


def padded_layer(width: int, weights: Floats, thresholds: Floats) -> Layer:
    """A layer of that width: these neurons, and others that are never on."""
    all_weights, all_thresholds = np.zeros((width, weights.shape[1])), np.ones(width)
    all_weights[: len(weights)], all_thresholds[: len(weights)] = weights, thresholds
    return Layer(all_weights, all_thresholds)
