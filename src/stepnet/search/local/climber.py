"""Climber: a network on its scaled rows, changed neuron by neuron so that its penalised loss never rises.

Rows that resist get heavier: their penalties grow at local optima. What a row costs is up to the climber.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from stepnet.constructions.random_network import random_scaled_network
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.lines import FLAT
from stepnet.search.local.violations import Violations

_RECOVERY = 0.95  # of the penalty of a row that is right


class Climber(ABC):
    """Weights and thresholds (neurons × L) of every layer, and what the rows cost with them.

    It begins with a network for the scaled rows, or at random. The arrays of a layer are replaced, never written into,
    so that a change is undone by putting them back.
    """

    patience: int  # moves without gain before it leaves a local optimum
    is_bound: bool  # whether its loss is only a bound of the true one, which takes long to evaluate

    def __init__(self, problem: Problem, rng: np.random.Generator, budget: Budget, start: Network | None) -> None:
        self.problem, self.rng, self.budget = problem, rng, budget
        self.rows = problem.scaling.apply(problem.dataset.X)
        network = random_scaled_network(problem, self.rows, rng) if start is None else start
        self.architecture, self.y = problem.architecture, problem.dataset.y
        self.kinds, self.domains = self.architecture.activations, self.architecture.domains
        self.real, self.answered = problem.loss.of_values, problem.loss.of_answers
        self.row_weights = self.penalties = problem.dataset.weights
        self.flat = FLAT * problem.accuracy.scale  # losses that differ by less are equal
        self.W = [layer.weights for layer in network.layers]
        self.T = [layer.thresholds.reshape(layer.width, -1) for layer in network.layers]
        self.limits = Violations(problem)
        self.given: dict[int, Floats] = {}  # the thresholds of a network, where a climber works with others

    @abstractmethod
    def move(self) -> bool:
        """Try to change one neuron; whether the penalised loss fell."""

    @abstractmethod
    def leave(self) -> None:
        """Away from a local optimum: rows that fail get heavier, or a neuron begins anew."""

    @abstractmethod
    def update(self, k: int) -> None:
        """Compute what depends on layer k anew, and the loss."""

    @abstractmethod
    def row_costs(self) -> Floats:
        """What each row costs, without its weight."""

    def network(self) -> Network:
        thresholds = [self.given.get(k, T) for k, T in enumerate(self.T)]
        layers = zip(self.W, thresholds, self.kinds, strict=True)
        return Network(tuple(Layer(W, T[:, 0] if kind.n_thresholds == 1 else T, kind) for W, T, kind in layers))

    def measure(self) -> None:
        self.costs = self.row_costs()
        self.loss = float(self.row_weights @ self.costs) + self.problem.loss.penalty(self.W[-1])

    @property
    def penalised(self) -> float:
        """What moves lower: the loss by penalties of rows, or where it reads values the loss itself.

        Violations of limits on errors cost more than any loss.
        """
        if self.real is not None:
            return self.loss
        violated = self.limits.total(self.costs > 0) if self.limits else 0.0
        return float(self.penalties @ self.costs) + violated

    @property
    def is_admitted(self) -> bool:
        """Whether limits on errors are met, up to rounding."""
        return not self.limits or not self.limits.total(self.costs > 0)

    def change(self, k: int, weights: Floats, thresholds: Floats) -> bool:
        """Give layer k these numbers unless that raises the penalised loss; whether it falls."""
        before, now = (self.W[k], self.T[k]), self.penalised
        self.W[k], self.T[k] = weights, thresholds
        self.update(k)
        reached = self.penalised
        if reached > now + self.flat:
            self.W[k], self.T[k] = before
            self.update(k)
        return reached < now - self.flat

    def make_failing_rows_heavier(self) -> None:
        """And let the others recover."""
        recovered = np.maximum(self.row_weights, _RECOVERY * self.penalties)
        self.penalties = np.where(self.costs > 0, self.penalties + self.row_weights, recovered)

    def learns(self, k: int) -> bool:
        """Whether the neurons of layer k have thresholds of their own, and they are learned."""
        if self.kinds[k].gives_numbers:
            return self.architecture.intercept
        return self.architecture.threshold == "neuron" and self.kinds[k].thresholds is None

    def rescaled(self, k: int, weights: Floats, thresholds: Floats) -> tuple[Floats, Floats]:
        """The same neuron with numbers of a moderate size, where its size is free."""
        size = max(np.abs(weights).max(), np.abs(thresholds).max())
        is_free = self.learns(k) and self.kinds[k].has_levels and not self.domains[k].is_integer
        if is_free and (size > 4 or 0 < size < 0.25):
            return weights / size, thresholds / size
        return weights, thresholds

    def random_direction(self, k: int) -> tuple[Floats, float]:
        """Of the weights and the threshold of a neuron."""
        return self.rng.normal(size=(1, self.W[k].shape[1]))[0], float(self.rng.normal()) if self.learns(k) else 0.0


def with_row(matrix: Floats, j: int, row: Floats) -> Floats:
    """A copy with another row."""
    result = matrix.copy()
    result[j] = row
    return result
