"""Problem: what is to be learned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from stepnet.data import Dataset, Scaling
from stepnet.errors import InvalidInputError
from stepnet.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.loss import misclassified


@dataclass(frozen=True)
class Problem:
    """Find the network of an architecture with the smallest loss on a data set."""

    dataset: Dataset
    architecture: Architecture

    def evaluate(self, network: Network) -> float:
        """The loss of a network, in exact arithmetic: the only source of a loss."""
        reason = self.architecture.refuses(network)
        if reason is not None:
            raise InvalidInputError(f"the network is not one of this problem: {reason}.")
        return misclassified(self.dataset.y, network.predict(self.dataset.X), self.dataset.weights)

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
        return Scaling.fit(self.dataset.X, centre=is_free)

    def restore(self, network: Network) -> Network:
        """A network for the scaled rows, as one for the original rows."""
        return Network((self.scaling.restore(network.layers[0]), *network.layers[1:]))

    def scale(self, network: Network) -> Network:
        """A network for the original rows, as one for the scaled rows."""
        return Network((self.scaling.scale(network.layers[0]), *network.layers[1:]))
