"""Prices: what one neuron costs with weights that are changed, each with its best threshold.

What a row costs depends on one bit, so with the neuron on it saves a known amount, its gain (negative where it should
be off). The rows whose sums reach the threshold are on: the loss is what all rows cost with the neuron off, less the
gains of those. For given weights the best threshold is found by sorting the sums and adding up the gains. Where sums
are small integers and a column has two values, 0 and 1, one histogram per column serves all weights of this column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from stepnet.model.arithmetic import Floats, Ints

_BLOCK = 50_000  # sums that are priced at once
_WIDEST = 2_000  # histograms


@dataclass(frozen=True)
class Prices:
    """The rows of a neuron: their columns (features × rows), their gains, and its threshold unless that is learned."""

    columns: Floats
    gains: Floats
    fixed: float | None = None

    @cached_property
    def off(self) -> float:
        """What the rows with a positive gain lose while the neuron is off; losses are relative to having all gains."""
        return float(self.gains[self.gains > 0].sum())

    @cached_property
    def is_binary(self) -> bool:
        return bool(((self.columns == 0) | (self.columns == 1)).all())

    def sums(self, weights: Floats) -> Floats:
        used = np.flatnonzero(weights)
        return np.asarray(weights[used] @ self.columns[used])

    def losses(self, sums: Floats) -> Floats:
        """The loss of each line of sums (lines × rows), with its best threshold."""
        if self.fixed is not None:
            return np.asarray(self.off - (sums >= self.fixed) @ self.gains)
        places = _places(sums)
        least = self._by_sorting(sums) if places is None else self._by_counting(places)
        return self.off - float(self.gains.sum()) + np.minimum(least, 0.0)

    def _by_sorting(self, sums: Floats) -> Floats:
        """The least gains of rows that are off, if there are such rows."""
        order = np.argsort(sums, axis=1)
        ordered = np.take_along_axis(sums, order, axis=1)
        left = np.cumsum(self.gains[order], axis=1)
        np.copyto(left[:, :-1], np.inf, where=ordered[:, 1:] <= ordered[:, :-1])
        return np.asarray(left.min(axis=1))

    def _by_counting(self, places: Ints) -> Floats:
        """The same for sums that are small integers."""
        n_lines, width = len(places), int(places.max()) + 1
        places += width * np.arange(n_lines)[:, None]
        gains = np.broadcast_to(self.gains, places.shape).ravel()
        left = np.bincount(places.ravel(), gains, n_lines * width).reshape(n_lines, width)
        return np.asarray(np.cumsum(left, axis=1).min(axis=1))

    def threshold(self, sums: Floats) -> tuple[float, float]:
        """The least loss for these sums, and a threshold in the middle of the widest gap that has it."""
        if self.fixed is not None:
            return float(self.losses(sums[None])[0]), self.fixed
        values, place = np.unique(sums, return_inverse=True)
        left = np.append(0.0, np.cumsum(np.bincount(place, self.gains)))
        ends = np.concatenate([[values[0] - 2.0], values, [values[-1] + 2.0]])
        ties = np.flatnonzero(left <= left.min() + 1e-12 * float(np.abs(self.gains).sum()))
        chosen = ties[np.diff(ends)[ties].argmax()]
        middle = ends[chosen] / 2 + ends[chosen + 1] / 2
        return self.off - float(self.gains.sum()) + float(left[chosen]), float(middle)

    def with_weight(self, sums: Floats, features: Ints, values: Floats) -> Floats:
        """The loss (features × values) if one feature, which has no weight in these sums, gets a weight."""
        is_binary = self.is_binary and self.fixed is None and (values == np.round(values)).all()
        if is_binary and (places := _places(sums)) is not None:
            return self._by_histograms(places, features, values.astype(np.int64))
        losses = np.empty((len(features), len(values)))
        step = max(1, _BLOCK // (len(values) * len(sums)))
        for first in range(0, len(features), step):
            chosen = features[first : first + step]
            lines = sums + values[:, None] * self.columns[chosen][:, None, :]
            losses[first : first + step] = self.losses(lines.reshape(-1, len(sums))).reshape(-1, len(values))
        return losses

    def _by_histograms(self, sums: Ints, features: Ints, values: Ints) -> Floats:
        """The gains of rows by their sums, and apart those where the column is 1, which a weight shifts."""
        width, n_rows = int(sums.max()) + 1, len(sums)
        gains = csr_array((self.gains, (sums, np.arange(n_rows))), shape=(width, n_rows))
        ones = (gains @ np.ascontiguousarray(self.columns[features].T)).T  # features × sums
        zeros = np.bincount(sums, self.gains, width) - ones
        reach = int(np.abs(values).max(initial=0))
        held = np.zeros((len(features), width + 2 * reach))
        losses = np.empty((len(features), len(values)))
        for number, value in enumerate(values.tolist()):
            held[:] = 0.0
            held[:, reach : reach + width] = zeros
            held[:, reach + value : reach + value + width] += ones
            losses[:, number] = np.cumsum(held, axis=1).min(axis=1)
        return self.off - float(self.gains.sum()) + np.minimum(losses, 0.0)


def _places(sums: Floats) -> Ints | None:
    """How far sums lie above the least of them, if these are small integers."""
    above = sums - sums.min()
    if not above.max() <= _WIDEST:
        return None
    places = above.astype(np.int64)
    return places if (places == above).all() else None
