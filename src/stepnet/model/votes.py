"""Votes of several networks, as one network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.network import Layer, Network


def majority(networks: Sequence[Network]) -> Network:
    """The majority vote of networks with one output bit each, as one network with one more layer.

    A tie, possible with an even number of networks, counts as 0.
    """
    n_votes = len(networks)
    return Network((*_side_by_side(networks), Layer(np.ones((1, n_votes)), np.array([n_votes // 2 + 0.5]))))


def pairwise_votes(networks: Sequence[Network], n_classes: int) -> Network:
    """The networks of all pairs a < b of classes, as one network: the class with most votes, in a tie the lowest.

    The bit of a pair is a vote for b if it is on, for a if it is off. The networks come in rounds of all pairs
    (0, 1), (0, 2), ..., (1, 2), ...; several rounds vote together.
    """
    a, b = np.triu_indices(n_classes, 1)
    numbers = np.arange(len(networks))
    a, b = a[numbers % len(a)], b[numbers % len(b)]
    votes = np.zeros((n_classes, len(networks)))
    votes[b, numbers], votes[a, numbers] = 1.0, -1.0
    offsets = -np.bincount(a, minlength=n_classes).astype(np.float64)  # a vote for a where the bit is 0
    return Network((*_side_by_side(networks), Layer(votes, offsets, ARGMAX)))


def _side_by_side(networks: Sequence[Network]) -> list[Layer]:
    """The layers of networks on the same rows, side by side; shallower networks pass their output bit on."""
    depth, passing = max(len(network.layers) for network in networks), Layer(np.array([[1.0]]), np.array([0.5]))
    members = [(*_used(network), *[passing] * (depth - len(network.layers))) for network in networks]
    layers = []
    for k, parts in enumerate(zip(*members, strict=True)):
        blocks = [part.weights for part in parts]
        weights = np.vstack(blocks) if k == 0 else sparse.block_diag(blocks, format="csr")
        layers.append(parts[0].with_(weights, np.concatenate([part.thresholds for part in parts])))
    return layers


def _used(network: Network) -> list[Layer]:
    """The layers without neurons that no neuron above has a weight on; at least one is kept in each."""
    layers: list[Layer] = []
    kept = np.arange(network.widths[-1])
    for layer in reversed(network.layers):
        weights = layer.weights[kept]
        used = np.flatnonzero(weights.any(axis=0)) if layer is not network.layers[0] else np.arange(layer.n_inputs)
        used = used if len(used) else np.array([0])
        layers.insert(0, layer.with_(weights[:, used], layer.thresholds[kept]))
        kept = used
    return layers
