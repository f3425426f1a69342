"""The size of a network: weights, bits, neurons, and how much it could memorise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.weights import BINARY, SIGN, Integers, Real, WeightDomain, weight_domains

_REAL_BITS = 64
_LARGEST = 127  # weights of a fixed layer count as integers up to this size


@dataclass(frozen=True)
class LayerSize:
    """One layer; ``weights`` counts all weights, zeros included, of ``bits_each`` bits each."""

    title: str
    neurons: int
    weights: int
    nonzero: int
    thresholds: int
    domain: str
    bits_each: int
    is_learned: bool = True

    @property
    def bits(self) -> int:
        return self.weights * self.bits_each + self.thresholds * _REAL_BITS


@dataclass(frozen=True)
class ModelSize:
    """The size of a network, and the number of its training rows."""

    layers: tuple[LayerSize, ...]
    n_rows: int
    are_distinct: bool  # whether n_rows counts distinct rows only

    @property
    def neurons(self) -> int:
        return sum(layer.neurons for layer in self.layers)

    @property
    def hidden(self) -> int:
        """Neurons below the output."""
        return self.neurons - self.layers[-1].neurons

    @property
    def nonzero(self) -> int:
        return sum(layer.nonzero for layer in self.layers)

    @property
    def bits(self) -> int:
        return sum(layer.bits for layer in self.layers)

    @property
    def parameters(self) -> int:
        """The number of learned weights and thresholds."""
        return sum(layer.weights + layer.thresholds for layer in self.layers if layer.is_learned)

    @property
    def vc(self) -> float:
        """ρ·log2 ρ for ρ parameters: the order of the VC dimension of such networks."""
        return self.parameters * math.log2(self.parameters) if self.parameters > 1 else float(self.parameters)


def size_of(
    network: Network, weights: Any, titles: list[str], n_rows: int, *, are_distinct: bool, is_vote: bool
) -> ModelSize:
    """``weights`` is the estimator's parameter. A vote has its members side by side and a fixed last layer."""
    n_learned = len(network.layers) - is_vote
    members = network.layers[-2].width if is_vote else 1
    domains = weight_domains(weights, n_learned)
    sizes = []
    for k, (layer, title) in enumerate(zip(network.layers, titles, strict=True)):
        is_learned = k < n_learned
        domain = domains[k] if is_learned else _smallest(layer.weights)
        if is_learned and layer.activation.gives_numbers:
            domain = Real()
        sizes.append(
            LayerSize(
                title,
                layer.width,
                _places(layer, members if 0 < k < n_learned else 1),
                layer.n_weights,
                int(layer.thresholds.size),
                domain.name,
                bits_of(domain),
                is_learned,
            )
        )
    return ModelSize(tuple(sizes), n_rows, are_distinct)


def bits_of(domain: WeightDomain) -> int:
    """Bits per weight."""
    return math.ceil(math.log2(len(domain.values))) if domain.is_integer else _REAL_BITS


def _places(layer: Layer, members: int) -> int:
    """Weights within members; those between members are zero by construction, and uneven ones keep no others."""
    size = layer.width * layer.n_inputs
    is_even = layer.width % members == 0 and layer.n_inputs % members == 0
    return size // members if is_even else layer.n_weights


def _smallest(weights: Floats) -> WeightDomain:
    """The smallest domain that contains the weights."""
    largest = int(min(np.ceil(np.abs(weights).max(initial=1.0)), _LARGEST))
    domains = (BINARY, SIGN, Integers(1), Integers(largest))
    return next((domain for domain in domains if domain.contains(weights)), Real())
