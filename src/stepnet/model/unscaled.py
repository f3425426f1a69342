"""A network for features before the operations that they go through."""

from __future__ import annotations

from collections.abc import Sequence

from stepnet.model.network import Network
from stepnet.tables.operations import Operations, lines_of


def unscaled(network: Network, arithmetic: Sequence[Operations]) -> Network:
    """The network for features before their operations, which become part of its first layer; rounded."""
    if not any(arithmetic):
        return network
    first, *above = network.layers
    slopes, intercepts = lines_of(arithmetic)
    ends = first.thresholds.reshape(first.width, -1) - (first.weights @ intercepts)[:, None]
    return Network((first.with_(first.weights * slopes, ends.reshape(first.thresholds.shape)), *above))
