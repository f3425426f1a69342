"""Problem: what is to be learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stepnet.data import Dataset, Scaling
from stepnet.errors import InvalidInputError
from stepnet.network import Network
from stepnet.problem.accuracy import Accuracy
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import UNCONSTRAINED, Constraints, Row
from stepnet.problem.loss import MISCLASSIFIED, Loss


@dataclass(frozen=True)
class Problem:
    """Find the network of an architecture with the smallest loss on a data set."""

    dataset: Dataset
    architecture: Architecture
    loss: Loss = MISCLASSIFIED
    constraints: Constraints = UNCONSTRAINED

    def evaluate(self, network: Network) -> float:
        """The loss of a network, in exact arithmetic: the only source of a loss."""
        reason = self.refuses(network)
        if reason is not None:
            raise InvalidInputError(f"the network is not one of this problem: {reason}.")
        return self.loss.evaluate(self.dataset, network)

    def refuses(self, network: Network) -> str | None:
        """Why the network is not one of this problem, or None if it is."""
        return self.architecture.refuses(network) or self.loss.refuses(network) or self.constraints.refuses(network)

    @property
    def is_plain(self) -> bool:
        """Whether misclassified rows of steps with real weights are all there is: what the fast searches take."""
        return self.architecture.is_plain and self.loss == MISCLASSIFIED and not self.constraints.restrict

    @cached_property
    def accuracy(self) -> Accuracy:
        """How finely losses are told apart."""
        return self.loss.accuracy(self.dataset)

    @cached_property
    def scaling(self) -> Scaling:
        """The units the programs work in: those of the rows unless other ones are safe.

        Real weights take up any scaling of a feature. A shift needs a threshold of its own in every
        neuron. Discrete weights take up neither: there all features get one factor that makes them integers.
        """
        architecture = self.architecture
        if architecture.domains[0].is_integer:
            return Scaling.to_integers(self.dataset.X)
        is_free = architecture.threshold == "neuron" and architecture.activations[0].thresholds is None
        is_free &= not self.constraints.join(0)  # constant features, which centring drops, may help others there
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
