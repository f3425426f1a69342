"""A network on a box of inputs: neurons whose level is the same in the whole box are left out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy import sparse

from stepnet.model.arithmetic import Bools, Floats, exact_dot, quantum
from stepnet.model.network import Layer, Network


def within(network: Network, low: Floats, high: Floats) -> Network:
    """A network with the same answers for all rows between ``low`` and ``high``, and as few neurons as intervals show.

    What the others add to the sums above becomes part of the thresholds, where these stay floats without rounding.
    """
    least, most = low[None], high[None]
    layers: list[Layer] = []
    fixed, values = np.zeros(network.n_features, dtype=bool), np.zeros(network.n_features)
    for number, given in enumerate(network.layers):
        layer, is_moved = _without(given, fixed, values)
        if not is_moved and layers:
            fixed = np.zeros(layer.n_inputs, dtype=bool)
        elif layers:
            layers[-1] = _only(layers[-1], ~fixed)
            least, most = least[:, ~fixed], most[:, ~fixed]
        layers.append(layer)
        if number == len(network.layers) - 1:
            break
        lowest, highest = layer.activation.level_ranges(layer.matrix, layer.thresholds, least, most)
        outputs = np.array(layer.activation.values)
        fixed, values = (lowest == highest)[0], outputs[lowest[0]]
        if fixed.all():
            fixed[0] = False
        rising = bool((np.diff(outputs) >= 0).all())
        least = outputs[lowest] if rising else np.full_like(lowest, outputs.min(), dtype=np.float64)
        most = outputs[highest] if rising else np.full_like(lowest, outputs.max(), dtype=np.float64)
    return Network(tuple(layers))


def output_range(network: Network, low: Floats, high: Floats) -> tuple[int, int]:
    """The lowest and highest level that intervals allow for the output neuron."""
    least, most = low[None], high[None]
    for layer in network.layers:
        lowest, highest = layer.activation.level_ranges(layer.matrix, layer.thresholds, least, most)
        ends = np.array(layer.activation.values)[np.stack([lowest, highest])]
        least, most = ends.min(axis=0), ends.max(axis=0)
    return int(lowest[0, 0]), int(highest[0, 0])


def _only(layer: Layer, kept: Bools) -> Layer:
    return layer.with_(layer.matrix[np.flatnonzero(kept)], layer.thresholds[kept])


def _without(layer: Layer, fixed: Bools, values: Floats) -> tuple[Layer, bool]:
    """The layer without inputs of fixed values; as it is, and False, if a threshold would have to be rounded."""
    if not fixed.any():
        return layer, True
    gone = np.flatnonzero(fixed)
    part, own = sparse.csr_array(layer.matrix[:, gone]), values[gone]
    ends = layer.thresholds.reshape(layer.width, -1)
    moved = ends - (part @ own)[:, None]
    if not _are_exact(part, own, ends):
        moved, is_exact = _moved(part, own, ends)
        if not is_exact:
            return layer, False
    return layer.with_(layer.matrix[:, np.flatnonzero(~fixed)], moved.reshape(layer.thresholds.shape)), True


def _are_exact(part: sparse.csr_array, own: Floats, ends: Floats) -> bool:
    """Whether ``ends - part @ own`` is not rounded, because all terms are small multiples of one power of two."""
    grid = min(quantum(part.data) + quantum(own), quantum(ends))
    largest = float((abs(part) @ np.abs(own) + np.abs(ends).max(axis=1)).max(initial=0.0))
    return grid > -1000 and largest < np.ldexp(2.0**53, min(grid, 900))


def _moved(part: sparse.csr_array, own: Floats, ends: Floats) -> tuple[Floats, bool]:
    """The same in rational numbers, and whether each of them is a float."""
    moved, is_exact = np.empty_like(ends), True
    for j in range(len(ends)):
        place = slice(part.indptr[j], part.indptr[j + 1])
        added = exact_dot(part.data[place], own[part.indices[place]])
        exact = [Fraction(end) - added for end in ends[j].tolist()]
        moved[j] = [float(one) for one in exact]
        is_exact &= [Fraction(one) for one in moved[j].tolist()] == exact
    return moved, is_exact
