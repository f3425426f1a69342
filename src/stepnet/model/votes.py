"""Votes of several networks, as one network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.network import Layer, Network
from stepnet.model.side_by_side import side_by_side


def majority(networks: Sequence[Network]) -> Network:
    """The majority vote of networks with one output bit each, as one network with one more layer.

    A tie, possible with an even number of networks, counts as 0.
    """
    n_votes = len(networks)
    return Network((*side_by_side(networks), Layer(np.ones((1, n_votes)), np.array([n_votes // 2 + 0.5]))))


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
    return Network((*side_by_side(networks), Layer(votes, offsets, ARGMAX)))
