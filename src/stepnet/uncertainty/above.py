"""The layers above the first: what they answer to levels of the first, and to intervals of levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepnet.model.activation import ARGMAX, Staircase
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network

Integers = NDArray[np.int64]

_DOUBT = 1e-9  # relative: sums this close to a threshold may lie on either side


class Above:
    """All methods take many rows at once: arrays of rows × neurons."""

    def __init__(self, network: Network) -> None:
        self.first, self.layers = network.layers[0], network.layers[1:]
        self.network = Network(self.layers) if self.layers else None

    def answers(self, levels: Integers) -> Integers:
        """The code of the class."""
        if self.network is None:
            return levels[:, 0]
        return np.asarray(self.network.predict(self._outputs(levels)))

    def values(self, levels: Integers) -> Floats:
        """``w·h - t`` of the last layer."""
        assert self.network is not None
        return self.network.values(self._outputs(levels))

    def _outputs(self, levels: Integers) -> Floats:
        return self.first.outputs(levels.astype(np.int16))

    def could_miss(self, low: Integers, high: Integers, classes: Integers) -> NDArray[np.bool_]:
        """Whether some levels between could be answered otherwise than by the class; if in doubt, yes."""
        if not self.layers:
            return np.asarray((low[:, 0] != classes) | (high[:, 0] != classes))
        least, most = self._below_last(low, high)
        last = self.layers[-1]
        if last.activation != ARGMAX:
            below, above = _levels(last, least, most)
            return np.asarray((below[:, 0] != classes) | (above[:, 0] != classes))
        missed = np.zeros(len(low), dtype=bool)
        for code in np.unique(classes).tolist():
            members = classes == code
            others = np.delete(np.arange(last.width), code)
            leads = last.weights[others] - last.weights[code]
            offsets = last.thresholds[others] - last.thresholds[code]
            _, top = _sums(leads, least[members], most[members])
            doubt = _doubt(leads, least[members], most[members], offsets)
            missed[members] = (top >= offsets - doubt).any(axis=1)
        return missed

    def value_ranges(self, low: Integers, high: Integers) -> tuple[Floats, Floats]:
        """Between which ``w·h - t`` of the last layer lies."""
        least, most = self._below_last(low, high)
        last = self.layers[-1]
        bottom, top = _sums(last.weights, least, most)
        doubt = _doubt(last.weights, least, most, last.thresholds) * 1e-3
        return bottom - last.thresholds - doubt, top - last.thresholds + doubt

    def sums(self, k: int, low: Integers, high: Integers) -> tuple[Floats, Floats]:
        """Between which w·h of the neurons of layer k (0 is the first above the first) lies."""
        return _sums(self.layers[k].weights, *self._below(k, low, high))

    def _below_last(self, low: Integers, high: Integers) -> tuple[Floats, Floats]:
        return self._below(len(self.layers) - 1, low, high)

    def _below(self, k: int, low: Integers, high: Integers) -> tuple[Floats, Floats]:
        least, most = _ranges(self.first, low, high)
        for layer in self.layers[:k]:
            least, most = _ranges(layer, *_levels(layer, least, most))
        return least, most


def _levels(layer: Layer, least: Floats, most: Floats) -> tuple[Integers, Integers]:
    assert isinstance(layer.activation, Staircase)
    bottom, top = _sums(layer.weights, least, most)
    thresholds = layer.thresholds.reshape(layer.width, -1)
    doubt = _doubt(layer.weights, least, most, np.abs(thresholds).max(axis=1))
    low, high = np.zeros(bottom.shape, dtype=np.int64), np.zeros(top.shape, dtype=np.int64)
    for threshold in thresholds.T:
        low += bottom >= threshold + doubt
        high += top >= threshold - doubt
    return low, high


def _sums(weights: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    up, down = np.maximum(weights, 0.0).T, np.minimum(weights, 0.0).T
    return least @ up + most @ down, most @ up + least @ down


def _doubt(weights: Floats, least: Floats, most: Floats, thresholds: Floats) -> Floats:
    """Of every neuron, for all rows alike."""
    largest = np.maximum(np.abs(least).max(axis=0, initial=0.0), np.abs(most).max(axis=0, initial=0.0))
    return np.asarray(_DOUBT * (np.abs(weights) @ largest + np.abs(thresholds)))


def _ranges(layer: Layer, low: Integers, high: Integers) -> tuple[Floats, Floats]:
    """The least and largest value that neurons hand on at levels between; values need not rise."""
    values = np.array(layer.activation.values)
    if (np.diff(values) >= 0).all():
        return values[low], values[high]
    levels = np.arange(len(values))
    between = (levels >= low[..., None]) & (levels <= high[..., None])
    return np.where(between, values, np.inf).min(axis=-1), np.where(between, values, -np.inf).max(axis=-1)
