"""Votes of networks, as one network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network


def majority(networks: Sequence[Network]) -> Network:
    """The majority vote of networks with one output bit each, as one network with one more layer.

    Members are laid side by side; shallower ones pass their bit on. A tie, possible with an even
    number of members, counts as 0.
    """
    n_votes = len(networks)
    return Network((*_side_by_side(networks), Layer(np.ones((1, n_votes)), np.array([n_votes // 2 + 0.5]))))


def pairwise_votes(networks: Sequence[Network], n_classes: int) -> Network:
    """One network for each pair a < b of classes, as one network: the class with most votes, the lowest if equal.

    The bit of a pair is a vote for b, its absence one for a. The networks come in rounds of all pairs
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
    """Networks that see the same rows as one, with all of their output bits."""
    depth = max(len(network.layers) for network in networks)
    members = [_deepened(network, depth).layers for network in networks]
    layers = [members[0][0].with_(np.vstack([m[0].weights for m in members]), _stacked(members, 0))]
    for k in range(1, depth):
        blocks = [m[k].weights for m in members]
        weights = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
        row = column = 0
        for block in blocks:
            weights[row : row + len(block), column : column + block.shape[1]] = block
            row, column = row + len(block), column + block.shape[1]
        layers.append(members[0][k].with_(weights, _stacked(members, k)))
    return layers


def _stacked(members: Sequence[tuple[Layer, ...]], k: int) -> Floats:
    return np.concatenate([m[k].thresholds for m in members])


def _deepened(network: Network, depth: int) -> Network:
    """Layers on top that pass the output bit on."""
    passing = Layer(np.array([[1.0]]), np.array([0.5]))
    return Network((*network.layers, *[passing] * (depth - len(network.layers))))
