"""Neurons and the rows for which they are stable: on, or off, for every perturbation of the row."""

from __future__ import annotations

import numpy as np

from stepnet.constructions.robust_neuron import robust_rows
from stepnet.model.arithmetic import Bools, Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.uncertainty.hyperplanes import FREE, Hyperplanes, Sides

_MOST_AXES = 2_000  # axis-aligned neurons at the start


class StableNeurons:
    """A growing collection of neurons for one problem.

    ``sides`` (rows × neurons) are 1 where a neuron is on for every perturbation of the row, 0 where it is off, and
    FREE where a perturbation may switch it.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.rows = problem, robust_rows(problem)
        self.X, self.y = problem.dataset.X.astype(np.float64), problem.dataset.y
        self.weights, self.thresholds = np.zeros((0, self.X.shape[1])), np.zeros(0)
        self.sides: Sides = np.zeros((len(self.X), 0), dtype=np.int8)
        self._add_axes()

    @property
    def handled(self) -> Bools:
        """Where a neuron is stable, on the side of the row's class."""
        return np.asarray(self.sides == self.y[:, None])

    def add(self, layer: Layer) -> Sides:
        """Add neurons; returns their sides."""
        planes = Hyperplanes(Network((layer,)), self.problem.perturbations)
        sides = planes.stable_sides(self.X, self.problem.radii)
        self.weights = np.vstack([self.weights, layer.weights])
        self.thresholds = np.append(self.thresholds, layer.thresholds)
        self.sides = np.hstack([self.sides, sides])
        return sides

    def _add_axes(self) -> None:
        """Add neurons of single features, with thresholds between the points where their stable rows change."""
        n = self.X.shape[1]
        per_feature = max(2, _MOST_AXES // (2 * n))
        weights, thresholds = [], []
        for w in np.vstack([np.eye(n), -np.eye(n)]):
            values = self.X @ w
            up, down = self.problem.perturbations.reach(np.vstack([w, -w]), self.X, self.problem.radii).T
            # Handled rows change only at the lower ends of rows of class 1 and the upper ends of rows of class 0.
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
    """A layer of this width: these neurons, and others that are never on."""
    all_weights, all_thresholds = np.zeros((width, weights.shape[1])), np.ones(width)
    all_weights[: len(weights)], all_thresholds[: len(weights)] = weights, thresholds
    return Layer(all_weights, all_thresholds)
