"""Reach: whether first-layer neurons at levels within ranges could give one of the wanted answers."""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints, doubt_of, ranges_of_sums
from stepnet.model.network import Layer, Network


class Reach:
    """The layers above the first, asked for some of their answers. Arrays are rows × neurons."""

    def __init__(self, network: Network, wanted: Ints) -> None:
        self.first, self.above, self.wanted = network.layers[0], network.layers[1:], wanted

    def has(self, levels: Ints) -> Bools:
        """Whether these levels give a wanted answer."""
        codes = levels[:, 0]
        if self.above:
            codes = Network(self.above).predict(self.first.outputs(levels.astype(np.int16)))
        return np.isin(codes, self.wanted)

    def could(self, low: Ints, high: Ints) -> Bools:
        """Whether levels in between could give a wanted answer; in doubt, yes."""
        layer = self.first
        for above in self.above:
            least, most = _outputs(layer, low, high)
            if above.activation.is_compared:
                return self._could_win(above, least, most)
            low, high = above.activation.level_ranges(above.weights, above.thresholds, least, most)
            layer = above
        wanted = self.wanted[:, None]
        return np.asarray(((low[:, 0] <= wanted) & (high[:, 0] >= wanted)).any(axis=0))

    def _could_win(self, last: Layer, least: Floats, most: Floats) -> Bools:
        """A wanted output must be able to reach each of the others."""
        found = np.zeros(len(least), dtype=bool)
        for code in self.wanted.tolist():
            others = np.delete(np.arange(last.width), code)
            leads, ends = last.weights[code] - last.weights[others], last.thresholds[code] - last.thresholds[others]
            _, top = ranges_of_sums(leads, least, most)
            sizes = np.abs(last.weights[code]) + np.abs(last.weights[others])
            doubt = doubt_of(sizes, least, most, np.abs(last.thresholds[code]) + np.abs(last.thresholds[others]))
            found |= (top >= ends - doubt).all(axis=1)
        return found


def _outputs(layer: Layer, low: Ints, high: Ints) -> tuple[Floats, Floats]:
    """The smallest and largest outputs of neurons at levels in between; values need not rise."""
    values = np.array(layer.activation.values)
    levels = np.arange(len(values))
    between = (levels >= low[..., None]) & (levels <= high[..., None])
    return np.where(between, values, np.inf).min(axis=-1), np.where(between, values, -np.inf).max(axis=-1)
