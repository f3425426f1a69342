"""The layers above the first: their answers to levels of the first layer, and to intervals of levels."""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints, doubt_of, ranges_of_sums
from stepnet.model.network import Layer, Network


class Above:
    """All methods take many rows at once, as arrays of rows × neurons."""

    def __init__(self, network: Network) -> None:
        self.first, self.layers = network.layers[0], network.layers[1:]
        self.network = Network(self.layers) if self.layers else None

    def answers(self, levels: Ints) -> Ints:
        """The codes of classes."""
        if self.network is None:
            return levels[:, 0]
        return np.asarray(self.network.predict(self._outputs(levels)))

    def values(self, levels: Ints) -> Floats:
        """``w·h - t`` of the last layer."""
        assert self.network is not None
        return self.network.values(self._outputs(levels))

    def _outputs(self, levels: Ints) -> Floats:
        return self.first.outputs(levels.astype(np.int16))

    def could_miss(self, low: Ints, high: Ints, classes: Ints) -> Bools:
        """Whether levels in between could get an answer other than the class; in doubt, yes."""
        if not self.layers:
            return np.asarray((low[:, 0] != classes) | (high[:, 0] != classes))
        last, (least, most) = self.layers[-1], self._below(-1, low, high)
        return last.activation.could_miss(last.matrix, last.thresholds, least, most, classes)

    def value_ranges(self, low: Ints, high: Ints) -> tuple[Floats, Floats]:
        """The smallest and largest ``w·h - t`` of the last layer."""
        last, (least, most) = self.layers[-1], self._below(-1, low, high)
        bottom, top = ranges_of_sums(last.matrix, least, most)
        doubt = doubt_of(last.matrix, least, most, last.thresholds) * 1e-3
        return bottom - last.thresholds - doubt, top - last.thresholds + doubt

    def sums(self, k: int, low: Ints, high: Ints) -> tuple[Floats, Floats]:
        """The smallest and largest w·h of the neurons of layer k (0 is the second layer of the network)."""
        return ranges_of_sums(self.layers[k].matrix, *self._below(k, low, high))

    def _below(self, k: int, low: Ints, high: Ints) -> tuple[Floats, Floats]:
        """The smallest and largest inputs of layer k."""
        least, most = ranges_of(self.first, low, high)
        for layer in self.layers[:k]:
            low, high = layer.activation.level_ranges(layer.matrix, layer.thresholds, least, most)
            least, most = ranges_of(layer, low, high)
        return least, most


def ranges_of(layer: Layer, low: Ints, high: Ints) -> tuple[Floats, Floats]:
    """The smallest and largest outputs of neurons at levels in between; values need not rise."""
    values = np.array(layer.activation.values)
    if (np.diff(values) >= 0).all():
        return values[low], values[high]
    levels = np.arange(len(values))
    between = (levels >= low[..., None]) & (levels <= high[..., None])
    return np.where(between, values, np.inf).min(axis=-1), np.where(between, values, -np.inf).max(axis=-1)
