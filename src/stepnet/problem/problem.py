"""Problem: what is to be learned."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.accuracy import Accuracy
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import UNCONSTRAINED, Constraints, Row
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.base import Loss
from stepnet.problem.losses.misclassified import MISCLASSIFIED
from stepnet.problem.scaling import Scaling
from stepnet.problem.weights import weight_domains
from stepnet.uncertainty.scenarios import Scenarios
from stepnet.uncertainty.sets import Uncertainty
from stepnet.uncertainty.worst_case import Worst

_REMEMBERED = 4  # networks whose losses and worst cases are kept

T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """Find the network of an architecture with the smallest loss on a data set."""

    dataset: Dataset
    architecture: Architecture
    loss: Loss = MISCLASSIFIED
    constraints: Constraints = UNCONSTRAINED
    uncertainty: Uncertainty | Scenarios | None = None
    units: Scaling | None = None  # those of another problem that this one is compared with
    _losses: list[tuple[Network, float]] = field(default_factory=list, init=False, repr=False, compare=False)
    _worst_cases: list[tuple[Network, Worst]] = field(default_factory=list, init=False, repr=False, compare=False)

    def evaluate(self, network: Network) -> float:
        """The loss of a network in exact arithmetic: every reported loss comes from here.

        With uncertain rows, the worst-case loss; a row whose worst case is not settled counts with its upper bound.
        """
        loss = self.price(network)
        if math.isinf(loss) and (reason := self.refuses(network)) is not None:
            raise _not_admitted(reason)
        return loss

    def price(self, network: Network) -> float:
        """The loss of a network; infinite if the constraints do not admit it."""
        return _remembered(self._losses, network, self._price)

    def _price(self, network: Network) -> float:
        if (reason := self.architecture.refuses(network)) is not None:
            raise _not_admitted(reason)
        if self.constraints.refuses(network, self.dataset) is not None:
            return math.inf
        if (reason := self.loss.refuses(network)) is not None:
            raise _not_admitted(reason)
        if self.uncertainty is None:
            return self.loss.evaluate(self.dataset, network)
        if self.scenarios is not None:
            loss = self.scenarios.total(self.loss.row_costs(self.dataset, network))
        else:
            loss = self.total(self.worst_case(network).uppers)
        return loss + self.loss.penalty(network.layers[-1].weights)

    def worst_case(self, network: Network) -> Worst:
        """The cost of each row under the worst perturbation that its set allows, and the perturbed rows."""
        perturbations, dataset = self.perturbations, self.dataset
        return _remembered(
            self._worst_cases, network, lambda one: self.loss.worst_case(one, perturbations, dataset, self.radii)
        )

    def total(self, costs: Floats) -> float:
        """The sum of the costs of rows times their weights."""
        return math.fsum(self.dataset.weights * costs)

    @property
    def radii(self) -> Floats:
        """How far each row may be perturbed."""
        if self.dataset.radii is not None:
            return self.dataset.radii
        return np.full(self.dataset.n_rows, getattr(self.uncertainty, "radius", 0.0))

    @property
    def perturbations(self) -> Uncertainty:
        """The uncertainty set of the rows."""
        if not isinstance(self.uncertainty, Uncertainty):
            raise InvalidInputError("a worst case needs an uncertainty set, such as Ball('linf', 0.1).")
        return self.uncertainty

    @property
    def is_uncertain(self) -> bool:
        """Whether rows may be perturbed within a set of infinitely many points."""
        return isinstance(self.uncertainty, Uncertainty)

    @property
    def scenarios(self) -> Scenarios | None:
        """The scenarios, if the rows of the data set are scenarios of fewer rows; otherwise None."""
        return self.uncertainty if isinstance(self.uncertainty, Scenarios) else None

    @property
    def nominal(self) -> Problem:
        """The same problem without perturbations."""
        return self if self.uncertainty is None else self._nominal

    @cached_property
    def _nominal(self) -> Problem:
        return replace(self, uncertainty=None)

    @property
    def without_limits(self) -> Problem:
        """The same problem without limits on errors."""
        if not self.constraints.demands:
            return self
        return replace(self, constraints=self.constraints.with_demands(lambda _: False))

    @cached_property
    def free(self) -> Problem | None:
        """The problem without restrictions on weights and thresholds and without perturbations of rows.

        Limits on errors stay, but for those that one more right row may break. No network has a smaller loss here than
        there, so every bound of that problem is one of this problem. None if nothing else is restricted, or if this is
        not a problem of counting the errors of step neurons.
        """
        architecture = self.architecture
        is_plain = self.has_correct_sets and architecture.threshold == "neuron"
        has_steps = architecture.activation == STEP and architecture.output == STEP and architecture.n_outputs == 1
        if is_plain or self.refuses_proofs or self.scenarios is not None:
            return None
        if not (has_steps and self.loss.counts_errors):
            return None
        domains = weight_domains("real", len(architecture.widths))
        dataset = self.dataset
        if dataset.radii is not None:
            dataset = Dataset(dataset.X, dataset.y, dataset.weights)
        limits = Constraints(
            restrictions=tuple(one for one in self.constraints.restrictions if one.counts_errors),
            demands=self.constraints.demands,
        ).with_demands(lambda one: one.is_monotone)
        return Problem(dataset, replace(architecture, threshold="neuron", domains=domains), self.loss, limits)

    def refuses(self, network: Network) -> str | None:
        """Why the network is not one of this problem, or None if it is."""
        return (
            self.architecture.refuses(network)
            or self.loss.refuses(network)
            or self.constraints.refuses(network, self.dataset)
        )

    @property
    def refuses_proofs(self) -> str:
        """Why neither programs nor proofs accept the problem, at any size; empty if some may."""
        output, way_out = self.architecture.output, "Use method='search'."
        if self.loss.weighs_answers:
            return f"loss={self.loss.name!r} is not written as a program or a proof. {way_out}"
        if output.is_unusual:
            return f"output={output.name!r} is not written as a program or a proof. {way_out}"
        if self.constraints.need_other_answers:
            return f"constraints on answers are not written as a program or a proof. {way_out}"
        return ""

    @property
    def is_plain(self) -> bool:
        """Whether it counts errors of real step neurons, without constraints and perturbations: for fast searches."""
        return self.has_plain_steps and self.uncertainty is None

    @property
    def has_correct_sets(self) -> bool:
        """The same, but limits on errors are allowed that one more right row never breaks: for proofs."""
        is_plain = self.architecture.is_plain and self.loss.counts_errors and self.uncertainty is None
        constraints = self.constraints
        is_limited = constraints.restrict_weights or constraints.need_other_answers
        return is_plain and not is_limited and all(one.is_monotone for one in constraints.inequalities)

    @property
    def has_plain_steps(self) -> bool:
        """As :attr:`is_plain`, but perturbations are allowed."""
        return self.architecture.is_plain and self.loss.counts_errors and not self.constraints.restrict

    @cached_property
    def accuracy(self) -> Accuracy:
        """Which losses count as different."""
        if self.scenarios is not None:
            first = np.unique(self.scenarios.owners, return_index=True)[1]
            owners = Dataset(self.dataset.X[first], self.dataset.y[first], self.scenarios.weights)
            return self.loss.accuracy(owners)
        return self.loss.accuracy(self.dataset)

    @cached_property
    def scaling(self) -> Scaling:
        """The units of the programs: those of the rows, or other ones where that is safe.

        Real weights absorb any scaling of a feature; a shift needs a learned threshold in every neuron. Discrete
        weights absorb neither: there all features get one factor that makes them integers.
        """
        if self.units is not None:
            return self.units
        architecture = self.architecture
        if architecture.domains[0].is_integer:
            return Scaling.to_integers(self.dataset.X)
        is_free = architecture.threshold == "neuron" and architecture.activations[0].thresholds is None
        is_free &= not self.constraints.join(0)  # constant features, which centring drops, may matter there
        # They matter, too, where perturbations of features are coupled; a ball of a norm only shrinks without them.
        is_free &= not self.is_uncertain or getattr(self.uncertainty, "is_plain", False)
        return Scaling.fit(self.dataset.X, centre=is_free)

    def scaled_rows(self, output_size: float = 1.0) -> list[Row]:
        """The linear constraints on the weights of a scaled network; dropped features have no weights.

        The weights of the last layer are divided by ``output_size``.
        """
        positions, last = np.cumsum(self.scaling.kept) - 1, len(self.architecture.widths) - 1
        rows = []
        for row in self.constraints.rows:
            terms = []
            for (k, j, i), c in row.terms:
                if k == 0 and self.scaling.kept[i]:
                    position = int(positions[i])
                    terms.append(((k, j, position), c * float(self.scaling.factor[position])))
                elif k > 0:
                    terms.append(((k, j, i), c * (output_size if k == last else 1.0)))
            rows.append(replace(row, terms=tuple(terms)))
        return [row for row in rows if row.terms]

    def restore(self, network: Network) -> Network:
        """A network for the scaled rows, converted to one for the original rows."""
        return Network((self.scaling.restore(network.layers[0]), *network.layers[1:]))

    def scale(self, network: Network) -> Network:
        """A network for the original rows, converted to one for the scaled rows."""
        return Network((self.scaling.scale(network.layers[0]), *network.layers[1:]))


def _remembered(memory: list[tuple[Network, T]], network: Network, compute: Callable[[Network], T]) -> T:
    """The value for a network, from memory if it is one of the last few, which are often asked for again."""
    for other, value in memory:
        if other is network:
            return value
    value = compute(network)
    memory[:] = [*memory[-_REMEMBERED + 1 :], (network, value)]
    return value


def _not_admitted(reason: str) -> InvalidInputError:
    return InvalidInputError(f"the network is not one of this problem: {reason}.")
