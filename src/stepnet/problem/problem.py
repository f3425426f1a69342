"""Problem: what is to be learned."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.accuracy import Accuracy
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import UNCONSTRAINED, Constraints, Row
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.base import Loss
from stepnet.problem.losses.misclassified import MISCLASSIFIED
from stepnet.problem.scaling import Scaling
from stepnet.uncertainty.scenarios import Scenarios
from stepnet.uncertainty.sets import Uncertainty
from stepnet.uncertainty.worst_case import Worst

_REMEMBERED = 4  # losses and worst cases


@dataclass(frozen=True)
class Problem:
    """Find the network of an architecture with the smallest loss on a data set."""

    dataset: Dataset
    architecture: Architecture
    loss: Loss = MISCLASSIFIED
    constraints: Constraints = UNCONSTRAINED
    uncertainty: Uncertainty | Scenarios | None = None
    units: Scaling | None = None  # those of another problem, where the two are compared

    def evaluate(self, network: Network) -> float:
        """The loss of a network, in exact arithmetic: the only source of a loss.

        Where rows are uncertain, that of the worst case; a row whose worst case was not settled counts with what
        it may cost at most.
        """
        loss = self.price(network)
        if math.isinf(loss) and (reason := self.refuses(network)) is not None:
            raise _not_admitted(reason)
        return loss

    def price(self, network: Network) -> float:
        """The loss of a network, infinite where the constraints do not admit it: they know what it answers."""
        for other, loss in self._losses:
            if other is network:
                return loss
        loss = self._price(network)
        self._losses[:] = [*self._losses[-_REMEMBERED + 1 :], (network, loss)]
        return loss

    @cached_property
    def _losses(self) -> list[tuple[Network, float]]:
        """Of the last networks, which are often asked for again; networks do not change."""
        return []

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
        """What each row costs after the worst move that its set allows, and where; remembered for a few networks."""
        if not isinstance(self.uncertainty, Uncertainty):
            raise InvalidInputError("a worst case needs an uncertainty set, such as Ball('linf', 0.1).")
        for other, worst in self._worst_cases:
            if other is network:
                return worst
        worst = self.loss.worst_case(network, self.uncertainty, self.dataset, self.radii)
        self._worst_cases[:] = [*self._worst_cases[-_REMEMBERED + 1 :], (network, worst)]
        return worst

    @cached_property
    def _worst_cases(self) -> list[tuple[Network, Worst]]:
        return []

    def total(self, costs: Floats) -> float:
        """Costs of rows times their weights."""
        return math.fsum(self.dataset.weights * costs)

    @property
    def radii(self) -> Floats:
        """How far each row may be moved."""
        if self.dataset.radii is not None:
            return self.dataset.radii
        return np.full(self.dataset.n_rows, getattr(self.uncertainty, "radius", 0.0))

    @property
    def is_uncertain(self) -> bool:
        """Whether rows may be moved within a set of infinitely many points."""
        return isinstance(self.uncertainty, Uncertainty)

    @property
    def scenarios(self) -> Scenarios | None:
        """What the rows stand for, where they are points of fewer rows."""
        return self.uncertainty if isinstance(self.uncertainty, Scenarios) else None

    @property
    def nominal(self) -> Problem:
        """The same problem without perturbations."""
        return self if self.uncertainty is None else self._nominal

    @cached_property
    def _nominal(self) -> Problem:
        return replace(self, uncertainty=None)

    def refuses(self, network: Network) -> str | None:
        """Why the network is not one of this problem, or None if it is."""
        return (
            self.architecture.refuses(network)
            or self.loss.refuses(network)
            or self.constraints.refuses(network, self.dataset)
        )

    @property
    def refuses_proofs(self) -> str:
        """Why neither programs nor proofs take it, whatever its size; nothing if some may."""
        output, way_out = self.architecture.output, "Use method='search'."
        if self.loss.weighs_answers:
            return f"loss={self.loss.name!r} is not written as a program or a proof. {way_out}"
        if output.is_unusual:
            return f"output={output.name!r} is not written as a program or a proof. {way_out}"
        if self.constraints.need_rows:
            return f"constraints on answers are not written as a program or a proof. {way_out}"
        return ""

    @property
    def is_plain(self) -> bool:
        """Whether misclassified rows of steps with real weights are all there is: what the fast searches take."""
        return self.has_plain_steps and self.uncertainty is None

    @property
    def has_plain_steps(self) -> bool:
        """The same, whether or not rows are uncertain."""
        return self.architecture.is_plain and self.loss.counts_errors and not self.constraints.restrict

    @cached_property
    def accuracy(self) -> Accuracy:
        """How finely losses are told apart."""
        if self.scenarios is not None:
            first = np.unique(self.scenarios.owners, return_index=True)[1]
            owners = Dataset(self.dataset.X[first], self.dataset.y[first], self.scenarios.weights)
            return self.loss.accuracy(owners)
        return self.loss.accuracy(self.dataset)

    @cached_property
    def scaling(self) -> Scaling:
        """The units the programs work in: those of the rows unless other ones are safe.

        Real weights take up any scaling of a feature. A shift needs a threshold of its own in every
        neuron. Discrete weights take up neither: there all features get one factor that makes them integers.
        """
        if self.units is not None:
            return self.units
        architecture = self.architecture
        if architecture.domains[0].is_integer:
            return Scaling.to_integers(self.dataset.X)
        is_free = architecture.threshold == "neuron" and architecture.activations[0].thresholds is None
        is_free &= not self.constraints.join(0)  # constant features, which centring drops, may help others there
        # So they may where moves are bound together: without them a ball of a norm only shrinks.
        is_free &= not self.is_uncertain or getattr(self.uncertainty, "is_plain", False)
        return Scaling.fit(self.dataset.X, centre=is_free)

    def scaled_rows(self, output_size: float = 1.0) -> list[Row]:
        """The linear constraints for the weights of a scaled network; features that are not kept have none.

        ``output_size`` is what the weights of the last layer are divided by.
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
        """A network for the scaled rows, as one for the original rows."""
        return Network((self.scaling.restore(network.layers[0]), *network.layers[1:]))

    def scale(self, network: Network) -> Network:
        """A network for the original rows, as one for the scaled rows."""
        return Network((self.scaling.scale(network.layers[0]), *network.layers[1:]))


def _not_admitted(reason: str) -> InvalidInputError:
    return InvalidInputError(f"the network is not one of this problem: {reason}.")
