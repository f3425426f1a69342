"""The margin of a network: how far its rows are from the hyperplanes that their answers depend on.

Pairs of a row and a neuron are visited from the nearest on. What a change of one neuron does is followed through the
layers in floats, only along weights that are not zero; a pair whose answer changes, or may change within rounding
errors, is confirmed by an exact evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from stepnet.model.activations.base import Levels
from stepnet.model.arithmetic import Bools, Floats, Ints, activations, doubt_of, largest_weights

if TYPE_CHECKING:
    from stepnet.model.network import Layer, Network

_FIRST, _GROWTH, _MOST = 64, 4, 16_384  # pairs at a time
_CONFIRMED = 64  # pairs evaluated at a time


def smallest_distance(network: Network, X: Any, should_stop: Callable[[], bool]) -> float | None:
    """The smallest distance of a row to a hyperplane that its answer depends on; None if it must stop before."""
    layer, smallest = network.layers[0], np.inf
    above = [_Above.of(one, network.layers[k]) for k, one in enumerate(network.layers[1:])]
    lengths = _lengths(layer)
    for rows in network.chunks(X):
        if should_stop():
            return None
        forward = list(network.forward(rows))
        if not layer.activation.has_levels:
            nearest: float | None = float(layer.activation.distances(layer.weights, *forward[0]).min(initial=np.inf))
        else:
            nearest = _Rows(network, above, forward, smallest, should_stop).nearest(rows, lengths)
        if nearest is None:
            return None
        smallest = min(smallest, nearest)
    return smallest


def _lengths(layer: Layer) -> tuple[Floats, Floats]:
    """The lengths of the weights of each neuron as two factors, so that squares neither overflow nor underflow."""
    sizes = largest_weights(layer.matrix)
    scales = np.where(sizes > 0, sizes, 1.0)
    if not layer.is_sparse:
        return scales, np.linalg.norm(layer.matrix / scales[:, None], axis=1)
    neurons = np.repeat(np.arange(layer.width), np.diff(layer.matrix.indptr))
    return scales, np.sqrt(np.bincount(neurons, (layer.matrix.data / scales[neurons]) ** 2, layer.width))


@dataclass(frozen=True)
class _Above:
    """A layer above the first, as changes of its inputs pass through it."""

    layer: Layer
    up: sparse.csr_array  # inputs × neurons
    doubt: Floats  # sums this close to a threshold may lie on either side

    @classmethod
    def of(cls, layer: Layer, below: Layer) -> _Above:
        largest = np.full((1, layer.n_inputs), max(map(abs, below.activation.values)))
        thresholds = np.abs(layer.thresholds.reshape(layer.width, -1)).max(axis=1)
        return cls(layer, sparse.csr_array(layer.matrix.T), doubt_of(abs(layer.matrix), -largest, largest, thresholds))


@dataclass
class _Rows:
    """Some rows, their values and levels in every layer, and the distance below which pairs matter."""

    network: Network
    above: list[_Above]
    forward: list[tuple[Floats, Levels]]
    below: float
    should_stop: Callable[[], bool]

    def nearest(self, rows: Floats, lengths: tuple[Floats, Floats]) -> float | None:
        """The smallest distance of these rows that is below ``self.below``, if there is one."""
        layer, (values, levels), (scales, norms) = self.network.layers[0], self.forward[0], lengths
        for number, thresholds in enumerate(layer.thresholds.reshape(layer.width, -1).T):
            values = values if number == 0 else activations(rows, layer.matrix, thresholds)[0]
            # Only rows at one of the two levels next to this threshold can cross it alone.
            is_next = (levels == number) | (levels == number + 1)
            with np.errstate(divide="ignore", invalid="ignore"):
                distances = np.where(is_next & (norms > 0), np.abs(values) / scales / norms, np.inf)
            i, j = np.nonzero(distances < self.below)
            order = np.argsort(distances[i, j], kind="stable")
            i, j = i[order], j[order]
            found = self._first(i, j, 2 * number + 1 - levels[i, j])
            if found is None:
                return None
            if found < len(i):
                self.below = float(distances[i[found], j[found]])
        return self.below

    def _first(self, i: Ints, j: Ints, other: Levels) -> int | None:
        """The first pair whose answer changes if neuron j has the other level; the number of pairs if none does."""
        if not self.above:
            return 0
        first, size = 0, _FIRST
        while first < len(i):
            if self.should_stop():
                return None
            part = slice(first, first + size)
            pairs = first + np.flatnonzero(self._may_change(i[part], j[part], other[part]))
            for begin in range(0, len(pairs), _CONFIRMED):
                block = pairs[begin : begin + _CONFIRMED]
                changed = self._changes(i[block], j[block], other[block])
                if changed.any():
                    return int(block[changed.argmax()])
            first, size = first + size, min(_GROWTH * size, _MOST)
        return len(i)

    def _may_change(self, i: Ints, j: Ints, other: Levels) -> Bools:
        """Whether the answer of row i changes if neuron j has the other level; in doubt, True."""
        outputs, levels = self.network.layers[0].outputs, self.forward[0][1]
        change = outputs(other) - outputs(levels[i, j])
        every = np.arange(len(i))
        changes = sparse.csr_array((change, (every, j)), shape=(len(i), levels.shape[1]))
        may_change = np.zeros(len(i), dtype=bool)
        for one, (values, levels) in zip(self.above, self.forward[1:], strict=True):
            moved = (changes @ one.up).tocoo()
            pair, neuron = moved.row, moved.col
            kind = one.layer.activation
            if kind.has_levels:
                thresholds = one.layer.thresholds.reshape(one.layer.width, -1)[neuron]
                over = (values[i[pair], neuron] + moved.data)[:, None] - (thresholds - thresholds[:, :1])
                may_change[pair[~(np.abs(over) > one.doubt[neuron, None]).all(axis=1)]] = True
                reached, before = (over >= 0).sum(axis=1), levels[i[pair], neuron]
                new = reached != before
                change = one.layer.outputs(reached[new]) - one.layer.outputs(before[new])
                changes = sparse.csr_array((change, (pair[new], neuron[new])), shape=moved.shape)
            elif kind.is_compared:
                results = values[i]
                results[pair, neuron] += moved.data
                best = results.argmax(axis=1)
                lead = results[every, best, None] - results
                lead[every, best] = np.inf
                may_change |= ~(lead > 2 * one.doubt.max()).all(axis=1) | (best != levels[i, 0])
            else:
                may_change[pair] = True
        if self.above[-1].layer.activation.has_levels:
            may_change[changes.tocoo().row] = True
        return may_change

    def _changes(self, i: Ints, j: Ints, other: Levels) -> Bools:
        """The same in exact arithmetic."""
        first, above = self.network.layers[0], type(self.network)(self.network.layers[1:])
        signals = first.outputs(self.forward[0][1][i])
        before = above.predict(signals)
        signals[np.arange(len(i)), j] = first.outputs(other)
        return np.asarray((above.predict(signals) != before).reshape(len(i), -1).any(axis=1))
