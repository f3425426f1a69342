"""Loss: what is minimised. AnswerLoss depends on answers, RealLoss on the values of the last layer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Network
from stepnet.problem.accuracy import SAFETY, Accuracy
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset, Targets
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_finite_number
from stepnet.uncertainty.sets import Uncertainty
from stepnet.uncertainty.worst_case import Worst, worst_numbers

_SHARE = 1e-5  # of a loss: solvers, and proofs that count in units of the loss, resolve no smaller differences
_ROUNDING = 1e-12  # relative, for a sum of non-negative terms
_SCATTER = 1e-9  # relative distance to a bound on weights, beyond a solver's tolerance

LastLayer = tuple[Floats, Floats]  # weights (outputs × inputs) and intercepts


class WeightFacts(NamedTuple):
    """What is known of the weights of rows."""

    n_rows: int
    total: float
    lightest: float
    heaviest: float
    granularity: float


class Loss(ABC):
    """What is minimised."""

    name: ClassVar[str]
    measure: ClassVar[str]  # its name in a certificate
    task: ClassVar[Literal["classes", "numbers"]]
    reads_values: ClassVar[bool]  # whether it depends on the values of the last layer, not only on answers
    counts_errors: ClassVar[bool] = False  # weighted by row, as compiled searches, provers and programs require
    bound: float | None = None  # on the weights of the last layer
    ridge: float = 0.0  # factor of the squared weights of the last layer

    def evaluate(self, dataset: Dataset, network: Network) -> float:
        """The loss of a network on the data, the same on every machine."""
        return math.fsum(self.terms(dataset, network)) + self.penalty(network.layers[-1].weights)

    @abstractmethod
    def terms(self, dataset: Dataset, network: Network) -> Floats:
        """Numbers whose sum is the loss without the penalty: costs of rows times their weights, or those above 0."""

    @abstractmethod
    def accuracy(self, dataset: Dataset) -> Accuracy:
        """Which losses count as different."""

    @abstractmethod
    def accuracy_of(self, weights: WeightFacts, cost_of_mean: float) -> Accuracy:
        """The same, if only this is known of the rows; ``cost_of_mean`` is their loss if all get the mean target."""

    @abstractmethod
    def row_costs(self, dataset: Dataset, network: Network) -> Floats:
        """The cost of each row, without its weight."""

    @abstractmethod
    def conflict_cost(self, dataset: Dataset, n_answers: int) -> float:
        """The least cost of equal rows with different targets, over all networks with this many answers."""

    def worst_case(self, network: Network, uncertainty: Uncertainty, dataset: Dataset, radii: Floats) -> Worst:
        """The cost of each row under its worst perturbation, and the perturbed rows."""
        raise InvalidInputError(f"loss={self.name!r} has no worst case. Use uncertainty=None, or another loss.")

    @property
    def weighs_answers(self) -> bool:
        """Whether wrong answers differ in cost, which searches support, but programs, proofs and descents do not."""
        return not (self.counts_errors or self.reads_values)

    @property
    def of_answers(self) -> AnswerLoss | None:
        """Itself if it depends only on answers, otherwise None."""
        return None

    @property
    def of_values(self) -> RealLoss | None:
        """Itself if it depends on the values of the last layer, otherwise None."""
        return None

    def constants(self, dataset: Dataset) -> list[int]:
        """The constant answers that are worth trying."""
        return [int(code) for code in np.unique(dataset.y)]

    def penalty(self, weights: Floats) -> float:
        """The cost of the weights of the last layer."""
        return 0.0

    def refuses(self, network: Network) -> str | None:
        """Why the last layer is not admitted, or None if it is."""
        if self.bound is not None and np.abs(network.layers[-1].weights).max() > self.bound:
            return f"its last layer has weights larger than the bound {self.bound:g}"
        return None

    def refuses_architecture(self, architecture: Architecture) -> str:
        """Why this loss does not work with the architecture; empty if it does."""
        return ""


class AnswerLoss(Loss):
    """A loss that depends only on answers."""

    task = "classes"
    reads_values = False
    step: ClassVar[float] = 1.0  # every cost is a multiple of it, with exact sums; 0.0 if there is no such number

    @property
    def of_answers(self) -> AnswerLoss:
        return self

    @abstractmethod
    def answer_costs(self, answers: Ints, y: Targets) -> Floats:
        """The cost of answers (of any shape that fits the classes ``y``), without row weights."""

    def row_costs(self, dataset: Dataset, network: Network) -> Floats:
        return np.asarray(self.answer_costs(network.predict(dataset.X), dataset.y), dtype=np.float64)

    def terms(self, dataset: Dataset, network: Network) -> Floats:
        return np.asarray(dataset.weights * self.row_costs(dataset, network))

    def accuracy(self, dataset: Dataset) -> Accuracy:
        ends = float(dataset.weights.min()), float(dataset.weights.max())
        return self.accuracy_of(WeightFacts(dataset.n_rows, dataset.total_weight, *ends, dataset.granularity), 0.0)

    def accuracy_of(self, weights: WeightFacts, cost_of_mean: float) -> Accuracy:
        step, total = weights.granularity * self.step, weights.total
        if step:
            return Accuracy(step, total, step, 0.0)
        # Programs count in units of the heaviest row, and a solver may err by its tolerance for each row: light rows
        # vanish beside a row that is heavy enough.
        scale, lightest = max(total, 0.2 * weights.n_rows * weights.heaviest), weights.lightest * self.step
        tolerance = min(4 * SAFETY * total, lightest / 2)  # less than any row weighs
        return Accuracy(0.0, scale, weights.heaviest, tolerance, _SHARE)

    def conflict_cost(self, dataset: Dataset, n_answers: int) -> float:
        """Per group of equal rows the answer that costs least, added up as :meth:`evaluate` does."""
        least, best = np.full(dataset.group.max() + 1, np.inf), np.zeros(dataset.group.max() + 1, dtype=np.int64)
        for code in range(n_answers):
            costs = self.answer_costs(np.full(dataset.n_rows, code), dataset.y)
            prices = np.bincount(dataset.group, dataset.weights * costs)
            best[prices < least] = code
            least = np.minimum(least, prices)
        value = math.fsum(dataset.weights * self.answer_costs(best[dataset.group], dataset.y))
        return value if dataset.granularity * self.step else value * (1 - _ROUNDING)


@dataclass(frozen=True)
class RealLoss(Loss):
    """A loss that depends on the values of the last layer.

    Parameters
    ----------
    bound : float, optional
        The largest absolute weight of the last layer. Without one, exact programs choose one and state it in the
        scope of their certificate.
    """

    bound: float | None = None

    task: ClassVar[Literal["classes", "numbers"]] = "numbers"
    reads_values = True
    pays_squares: ClassVar[bool] = False  # whether differences between values and targets are squared
    has_units: ClassVar[bool] = True  # whether targets may be shifted and scaled

    def __post_init__(self) -> None:
        if self.bound is not None and not (is_finite_number(self.bound) and self.bound > 0):
            raise InvalidInputError(f"bound={self.bound!r} must be a positive number, or None for no bound.")

    @abstractmethod
    def costs(self, values: Floats, y: Targets) -> Floats:
        """The cost of every row and output, without row weights."""

    def slopes(self, targets: Floats) -> tuple[Floats, Floats]:
        """The slopes of costs (of their roots, if differences are squared) above and below the target; by default 1."""
        return np.ones_like(targets), np.ones_like(targets)

    @abstractmethod
    def best_constants(self, y: Targets, weights: Floats, group: Ints) -> Floats:
        """For each group of rows the cheapest values (groups × outputs)."""

    @abstractmethod
    def last_layer(self, signals: Floats, y: Targets, weights: Floats, *, intercept: bool, budget: Budget) -> LastLayer:
        """The last layer with the least loss on these signals (rows × inputs)."""

    def targets(self, y: Targets) -> Floats:
        """The numbers that values are compared with (rows × outputs)."""
        return y

    @property
    def of_values(self) -> RealLoss:
        return self

    @property
    def largest_weight(self) -> float:
        """The largest weight of the last layer, slightly inside its bound."""
        return np.inf if self.bound is None else self.bound * (1 - _SCATTER)

    @property
    def is_least_squares(self) -> bool:
        """Whether the best last layer has a closed form."""
        return self.pays_squares and self.bound is None

    def constants(self, dataset: Dataset) -> list[int]:
        return [0]

    def refuses_architecture(self, architecture: Architecture) -> str:
        if not architecture.hidden:
            return f"loss={self.name!r} needs a hidden layer. Use hidden=(1,) or more."
        if architecture.domains[-1].is_integer:
            return f"loss={self.name!r} needs real weights in the last layer. Use weights=(..., 'real')."
        return ""

    def worst_case(self, network: Network, uncertainty: Uncertainty, dataset: Dataset, radii: Floats) -> Worst:
        return worst_numbers(
            network, uncertainty, dataset.X, radii, lambda values, rows: self.costs(values, dataset.y[rows])
        )

    def row_costs(self, dataset: Dataset, network: Network) -> Floats:
        return np.asarray(self.costs(network.values(dataset.X), dataset.y).sum(axis=1))

    def terms(self, dataset: Dataset, network: Network) -> Floats:
        costs = self.costs(network.values(dataset.X), dataset.y)
        return np.asarray((dataset.weights[:, None] * costs).ravel())

    def accuracy(self, dataset: Dataset) -> Accuracy:
        """Relative to the loss of the best constants."""
        return self._accuracy(
            self.cost_of_constants(dataset, np.zeros(dataset.n_rows, dtype=np.int64)) or dataset.total_weight
        )

    def accuracy_of(self, weights: WeightFacts, cost_of_mean: float) -> Accuracy:
        return self._accuracy(cost_of_mean or weights.total)

    def _accuracy(self, scale: float) -> Accuracy:
        return Accuracy(0.0, scale, scale, 4 * SAFETY * scale)

    def cost_of_constants(self, dataset: Dataset, group: Ints) -> float:
        """The loss if each group of rows gets its cheapest values."""
        constants = self.best_constants(dataset.y, dataset.weights, group)
        return math.fsum((dataset.weights[:, None] * self.costs(constants[group], dataset.y)).ravel())

    def conflict_cost(self, dataset: Dataset, n_answers: int) -> float:
        """The cost of the best constants of groups of equal rows, minus a bound on its rounding error."""
        value = self.cost_of_constants(dataset, dataset.group.astype(np.int64))
        error = (dataset.n_rows + 8) * 2.0**-52 * (1.0 + float(np.abs(dataset.y).max()))  # of sums over the rows
        return max(0.0, value * (1 - _ROUNDING) - error ** (2 if self.pays_squares else 1) * dataset.total_weight)
