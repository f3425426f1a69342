"""Votes of several networks, as one network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

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
    pairs = [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    votes, offsets = np.zeros((n_classes, len(networks))), np.zeros(n_classes)
    for number in range(len(networks)):
        a, b = pairs[number % len(pairs)]
        votes[b, number], votes[a, number] = 1.0, -1.0
        offsets[a] -= 1.0  # a vote for a where the bit is 0
    return Network((*_side_by_side(networks), Layer(votes, offsets, ARGMAX)))


def _side_by_side(networks: Sequence[Network]) -> list[Layer]:
    """The layers of networks on the same rows, side by side; shallower networks pass their output bit on."""
    depth, passing = max(len(network.layers) for network in networks), Layer(np.array([[1.0]]), np.array([0.5]))
    members = [(*network.layers, *[passing] * (depth - len(network.layers))) for network in networks]
    layers = []
    for k, parts in enumerate(zip(*members, strict=True)):
        blocks = [part.weights for part in parts]
        weights = np.vstack(blocks) if k == 0 else block_diag(*blocks)
        layers.append(parts[0].with_(weights, np.concatenate([part.thresholds for part in parts])))
    return layers
