"""Networks on the same rows, side by side in one network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from stepnet.model.network import Layer, Network


def side_by_side(networks: Sequence[Network]) -> list[Layer]:
    """The layers of step networks on the same rows, side by side; shallower networks pass their bits on.

    Neurons that nothing above has a weight on are left out.
    """
    depth = max(len(network.layers) for network in networks)
    members = [_deepened(used(network), depth) for network in networks]
    layers = []
    for k, parts in enumerate(zip(*members, strict=True)):
        thresholds = np.concatenate([part.thresholds for part in parts])
        layers.append(parts[0].with_(_stacked(parts, on_rows=k == 0), thresholds))
    return layers


def used(network: Network) -> list[Layer]:
    """The layers without neurons that no neuron above has a weight on; at least one is kept in each."""
    layers: list[Layer] = []
    kept = np.arange(network.widths[-1])
    for layer in reversed(network.layers):
        weights = layer.matrix[kept]
        used = np.flatnonzero(abs(weights).sum(axis=0)) if layer is not network.layers[0] else np.arange(layer.n_inputs)
        used = used if len(used) else np.array([0])
        layers.insert(0, layer.with_(weights[:, used], layer.thresholds[kept]))
        kept = used
    return layers


def _deepened(layers: list[Layer], depth: int) -> list[Layer]:
    """With layers on top that pass each bit on."""
    width = layers[-1].width
    passing = Layer(sparse.eye_array(width), np.full(width, 0.5))
    return [*layers, *[passing] * (depth - len(layers))]


def _stacked(parts: Sequence[Layer], *, on_rows: bool) -> sparse.csr_array:
    """The first layers see the same rows, the others their own network."""
    blocks = [sparse.csr_array(part.matrix) for part in parts]
    return sparse.csr_array(sparse.vstack(blocks) if on_rows else sparse.block_diag(blocks))
