"""Sums of several networks, as one network.

The members have numbers as outputs. Their hidden layers lie side by side, bits of shallower ones are passed on, and the
last layer adds everything up. Sums of floats are rounded, so the weights and thresholds of all last layers are first
rounded to multiples of one power of two: then the answer of the sum is the sum of the answers, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from stepnet.model.activations.base import Activation
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.model.side_by_side import side_by_side, used

_BITS = 50  # of the sum of all weights and thresholds: no sum of some of them is rounded


def scaled_members(networks: Sequence[Network], factors: Sequence[float], offset: Floats) -> list[Network]:
    """The networks times their factors, and the offset added to the first; all on one grid."""
    lasts = [network.layers[-1] for network in networks]
    offsets = [offset if k == 0 else 0.0 for k in range(len(networks))]
    weights = [factor * last.weights for factor, last in zip(factors, lasts, strict=True)]
    thresholds = [factor * last.thresholds - own for factor, last, own in zip(factors, lasts, offsets, strict=True)]
    numbers = on_one_grid([*weights, *thresholds])
    pairs = zip(numbers[: len(networks)], numbers[len(networks) :], strict=True)
    return [
        Network((*network.layers[:-1], Layer(*pair, IDENTITY))) for network, pair in zip(networks, pairs, strict=True)
    ]


def on_one_grid(arrays: Sequence[Floats]) -> list[Floats]:
    """The numbers, rounded to multiples of one power of two so that no sum of some of them is rounded."""
    total = sum(np.abs(array).sum() for array in arrays)
    grid = int(np.frexp(total)[1]) - _BITS
    return [np.asarray(np.ldexp(np.round(np.ldexp(array, -grid)), grid)) + 0.0 for array in arrays]


def sum_of(members: Sequence[Network], output: Activation = IDENTITY) -> Network:
    """One network whose output neurons have the sums of those of the members; exact if they are on one grid."""
    trimmed = [used(member) for member in members]
    hidden = side_by_side([Network(tuple(layers[:-1])) for layers in trimmed])
    lasts = [layers[-1] for layers in trimmed]
    weights = np.hstack([last.weights for last in lasts])
    thresholds = np.sum([last.thresholds for last in lasts], axis=0)
    return Network((*_without_twins(hidden, Layer(weights, thresholds, output)),))


def _without_twins(hidden: list[Layer], last: Layer) -> list[Layer]:
    """With each neuron of the first layer once, however many members have it."""
    first, second, *rest = *hidden, last
    keys = np.column_stack([first.weights, first.thresholds])
    _, kept, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(kept)  # as they come
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    number, kept = place[number.ravel()], kept[order]
    joined = sparse.csr_array((np.ones(len(number)), (np.arange(len(number)), number)))
    return [
        first.with_(first.matrix[kept], first.thresholds[kept]),
        second.with_(sparse.csr_array(second.matrix) @ joined, second.thresholds),
        *rest,
    ]
