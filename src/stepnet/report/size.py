"""How large a network is: weights, bits, neurons, and how much it could memorise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.weights import BINARY, SIGN, Integers, Real, WeightDomain, weight_domains

_REAL_BITS = 64
_LARGEST = 127  # integer, up to which the weights of a fixed layer count as integers


@dataclass(frozen=True)
class LayerSize:
    """One layer; ``weights`` are the places for weights, zeros too, that each take ``bits_each`` bits."""

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
    """Of a whole network, and against how many rows it stands."""

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
        """Weights and thresholds that were learned."""
        return sum(layer.weights + layer.thresholds for layer in self.layers if layer.is_learned)

    @property
    def vc(self) -> float:
        """ρ·log2 ρ of ρ parameters: the order of the number of rows that such networks can label in every way."""
        return self.parameters * math.log2(self.parameters) if self.parameters > 1 else float(self.parameters)


def size_of(
    network: Network, weights: Any, titles: list[str], n_rows: int, *, are_distinct: bool, is_vote: bool
) -> ModelSize:
    """``weights`` is the estimator's choice of domains. A vote has members side by side and a fixed last layer."""
    n_learned = len(network.layers) - is_vote
    members = network.layers[-2].width if is_vote else 1
    domains = weight_domains(weights, n_learned)
    sizes = []
    for k, (layer, title) in enumerate(zip(network.layers, titles, strict=True)):
        is_learned = k < n_learned
        domain = domains[k] if is_learned and not layer.activation.gives_numbers else Real()
        domain = domain if is_learned else _smallest(layer.weights)
        sizes.append(
            LayerSize(
                title,
                layer.width,
                _places(layer, members if 0 < k < n_learned else 1),
                int(np.count_nonzero(layer.weights)),
                int(layer.thresholds.size),
                domain.name,
                bits_of(domain),
                is_learned,
            )
        )
    return ModelSize(tuple(sizes), n_rows, are_distinct)


def bits_of(domain: WeightDomain) -> int:
    """How many bits a weight takes."""
    return math.ceil(math.log2(len(domain.values))) if domain.is_integer else _REAL_BITS


def _places(layer: Layer, members: int) -> int:
    """Weights between neurons of one member each: the rest is zero by construction."""
    return int(layer.weights.size) // members if layer.weights.size % members == 0 else int(layer.weights.size)


def _smallest(weights: Floats) -> WeightDomain:
    """The smallest domain that holds given weights."""
    largest = int(min(np.ceil(np.abs(weights).max(initial=1.0)), _LARGEST))
    for domain in (BINARY, SIGN, Integers(1), Integers(largest)):
        if domain.contains(weights):
            return domain
    return Real()
