"""Losses: what a network pays for its answers.

Misclassified rows are counted by their weights. The other losses read the values z = w·h - t of the last
layer: squared and absolute errors of numbers, and for two classes the hinge max(0, 1 ∓ z).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.accuracy import SAFETY, Accuracy
from stepnet.problem.dataset import Dataset, Numbers, Targets
from stepnet.runtime.numbers import is_finite_number

_SHARE = 1e-5  # of a loss: proofs that count in units of it and solvers do not tell more apart


class Loss(ABC):
    """What is to be small."""

    name: str
    measure: str  # in the words of a certificate
    bound: float | None = None  # on the weights of the last layer

    @abstractmethod
    def evaluate(self, dataset: Dataset, network: Network) -> float:
        """The loss of a network on the data; every machine computes the same number."""

    @abstractmethod
    def accuracy(self, dataset: Dataset) -> Accuracy:
        """How finely losses are told apart."""

    @abstractmethod
    def row_costs(self, dataset: Dataset, network: Network) -> Floats:
        """What each row costs, without its weight."""

    def penalty(self, weights: Floats) -> float:
        """What the weights of the last layer cost by themselves."""
        return 0.0

    def refuses(self, network: Network) -> str | None:
        """Why the last layer is not admitted, or None if it is."""
        if self.bound is not None and np.abs(network.layers[-1].weights).max() > self.bound:
            return f"its last layer has weights beyond the bound {self.bound:g}"
        return None


@dataclass(frozen=True)
class Misclassified(Loss):
    """The weight of the rows whose answer is not their class."""

    name = "misclassified"
    measure = "misclassified"

    def evaluate(self, dataset: Dataset, network: Network) -> float:
        return math.fsum(dataset.weights[dataset.y != network.predict(dataset.X)])

    def row_costs(self, dataset: Dataset, network: Network) -> Floats:
        return np.asarray(dataset.y != network.predict(dataset.X), dtype=np.float64)

    def accuracy(self, dataset: Dataset) -> Accuracy:
        step, total, heaviest = dataset.granularity, dataset.total_weight, float(dataset.weights.max())
        if step:
            return Accuracy(step, total, step, 0.0)
        # Programs count in units of the heaviest row, and a solver may err by its tolerance for each row: next to a
        # row that is heavy enough the light ones vanish.
        scale = max(total, 0.2 * dataset.n_rows * heaviest)
        tolerance = min(4 * SAFETY * total, float(dataset.weights.min()) / 2)  # less than any row weighs
        return Accuracy(0.0, scale, heaviest, tolerance, _SHARE)


@dataclass(frozen=True)
class RealLoss(Loss):
    """A loss that reads the values of the last layer.

    Parameters
    ----------
    bound : float, optional
        The largest size of a weight of the last layer. Without one, exact programs choose one and
        say so in the scope of their certificate.
    """

    bound: float | None = None

    def __post_init__(self) -> None:
        if self.bound is not None and not (is_finite_number(self.bound) and self.bound > 0):
            raise InvalidInputError(f"bound={self.bound!r} must be a positive number, or None for no bound.")

    @abstractmethod
    def costs(self, values: Floats, y: Targets) -> Floats:
        """Of every row and output, without the row's weight."""

    @abstractmethod
    def best_constants(self, y: Targets, weights: Floats, group: Numbers) -> Floats:
        """For each group of rows the values (groups × outputs) that cost least."""

    def excess(self, dataset: Dataset) -> float:
        """By how much rounding may make the best constants of groups too expensive, beyond a relative 1e-12."""
        return self._rounding(dataset) * dataset.total_weight

    def _rounding(self, dataset: Dataset) -> float:
        """An error of sums over the rows, in the units of the targets."""
        return (dataset.n_rows + 8) * 2.0**-52 * (1.0 + float(np.abs(dataset.y).max()))

    def row_costs(self, dataset: Dataset, network: Network) -> Floats:
        return np.asarray(self.costs(network.values(dataset.X), dataset.y).sum(axis=1))

    def evaluate(self, dataset: Dataset, network: Network) -> float:
        costs = self.costs(network.values(dataset.X), dataset.y)
        return math.fsum((dataset.weights[:, None] * costs).ravel()) + self.penalty(network.layers[-1].weights)

    def accuracy(self, dataset: Dataset) -> Accuracy:
        """Relative to the loss of the best constant."""
        scale = self.cost_of_constants(dataset, np.zeros(dataset.n_rows, dtype=np.int64)) or dataset.total_weight
        return Accuracy(0.0, scale, scale, 4 * SAFETY * scale)

    def cost_of_constants(self, dataset: Dataset, group: Numbers) -> float:
        """The loss if each group of rows gets the values that cost it least."""
        constants = self.best_constants(dataset.y, dataset.weights, group)
        return math.fsum((dataset.weights[:, None] * self.costs(constants[group], dataset.y)).ravel())


@dataclass(frozen=True)
class Squared(RealLoss):
    """The sum of squared errors, plus ``ridge`` times the sum of the squared weights of the last layer."""

    ridge: float = 0.0

    name = "squared"
    measure = "squared error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_finite_number(self.ridge) and self.ridge >= 0):
            raise InvalidInputError(f"ridge={self.ridge!r} must be a number that is not negative.")

    def costs(self, values: Floats, y: Targets) -> Floats:
        errors: Floats = values - y
        return errors * errors

    def excess(self, dataset: Dataset) -> float:
        return self._rounding(dataset) ** 2 * dataset.total_weight  # of means that are off a little

    def penalty(self, weights: Floats) -> float:
        return self.ridge * math.fsum((weights * weights).ravel()) if self.ridge else 0.0

    def best_constants(self, y: Targets, weights: Floats, group: Numbers) -> Floats:
        totals = np.bincount(group, weights)
        return np.column_stack([np.bincount(group, weights * column) / totals for column in y.T])


@dataclass(frozen=True)
class Absolute(RealLoss):
    """The sum of absolute errors."""

    name = "absolute"
    measure = "absolute error"

    def costs(self, values: Floats, y: Targets) -> Floats:
        return np.abs(values - y)

    def best_constants(self, y: Targets, weights: Floats, group: Numbers) -> Floats:
        return np.column_stack([_medians(column, weights, group) for column in y.T])


@dataclass(frozen=True)
class Hinge(RealLoss):
    """For two classes: by how much the value of the output misses 1 in class 1, or -1 in class 0."""

    name = "hinge"
    measure = "hinge loss"

    def costs(self, values: Floats, y: Targets) -> Floats:
        return np.maximum(0.0, 1.0 - signs(y)[:, None] * values)

    def best_constants(self, y: Targets, weights: Floats, group: Numbers) -> Floats:
        return np.where(np.bincount(group, weights * signs(y)) >= 0, 1.0, -1.0)[:, None]


def signs(y: Targets) -> Floats:
    """Of two classes: 1 for class 1 and -1 for class 0."""
    return np.where(y > 0, 1.0, -1.0)


def _medians(values: Floats, weights: Floats, group: Numbers) -> Floats:
    """The weighted median of each group: the first value with half of the group's weight at or below it."""
    order = np.lexsort((values, group))
    halves = np.bincount(group, weights) / 2
    # Shares of the group's own half, so that heavy groups do not drown light ones.
    below = np.cumsum(weights[order] / halves[group[order]]) - 2.0 * group[order]
    medians = np.empty(len(halves))
    medians[group[order]] = values[order]  # the last of each group, should rounding hide the half
    first = order[below >= 1.0][::-1]  # the first of each group is written last
    medians[group[first]] = values[first]
    return medians


MISCLASSIFIED = Misclassified()
_BY_NAME: dict[str, type[RealLoss]] = {"squared": Squared, "absolute": Absolute, "hinge": Hinge}


def loss_of(choice: object, accepted: tuple[str, ...]) -> Loss:
    """The loss that a name or an object stands for."""
    if choice == "misclassified" and "misclassified" in accepted:
        return MISCLASSIFIED
    if isinstance(choice, str) and choice in accepted:
        return _BY_NAME[choice]()
    if isinstance(choice, Loss) and choice.name in accepted:
        return choice
    raise InvalidInputError(
        f"loss={choice!r} is not known here; choose one of {', '.join(map(repr, accepted))}, or an object with options "
        f"such as Squared(ridge=0.1)."
    )
