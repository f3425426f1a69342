"""Scaling: a change of units without rounding errors in the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, quantum
from stepnet.model.network import Layer


@dataclass(frozen=True)
class Scaling:
    """A change of units ``z = (x[kept] * factor - shift) * grid``, with powers of two as factors.

    ``factor`` is absorbed by the weights, ``shift`` and ``grid`` by the thresholds.
    """

    factor: Floats
    shift: Floats
    kept: Bools
    constants: Floats  # the values of the dropped features
    grid: float = 1.0

    @classmethod
    def to_integers(cls, X: Floats) -> Scaling:
        """All features times one power of two, the smallest that makes every value an integer."""
        return cls._of_all(np.ones(X.shape[1]), grid=math.ldexp(1.0, min(max(0, -quantum(X)), 1000)))

    @classmethod
    def _of_all(cls, factor: Floats, grid: float = 1.0) -> Scaling:
        return cls(factor, np.zeros(len(factor)), np.ones(len(factor), dtype=bool), np.zeros(0), grid)

    @classmethod
    def fit(cls, X: Floats, *, centre: bool) -> Scaling:
        """Each feature scaled into [-1, 1].

        With ``centre`` the middle of its range becomes 0 and constant features are dropped, which is correct only if
        every neuron has a learned threshold to absorb the shift.
        """
        low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        factor = _power_of_two_above(np.maximum(np.abs(low), np.abs(high)))
        if not centre:
            return cls._of_all(factor)
        low, high = low * factor, high * factor
        # A shift on the binary grid of the feature makes the subtraction exact.
        columns = (column.astype(np.float64) * scale for column, scale in zip(X.T, factor, strict=True))
        grid = np.ldexp(1.0, [quantum(column) for column in columns])
        with np.errstate(over="ignore"):  # infinity is clipped like every value that is too large
            shift = np.clip(np.round((low + high) / 2 / grid), -(2.0**53), 2.0**53) * grid
        widen = _power_of_two_above(np.maximum(high - shift, shift - low))
        widen = np.minimum(widen, 2.0**1000 / np.maximum(factor, 1.0))  # their product must not overflow
        kept = high > low
        if not kept.any():
            kept[:1] = True
        return cls((factor * widen)[kept], (shift * widen)[kept], kept, X[0, ~kept])

    def equals(self, other: Scaling) -> bool:
        """Whether both give rows, weights and thresholds the same units."""
        parts = ("factor", "shift", "kept", "grid")
        return all(np.array_equal(getattr(self, part), getattr(other, part)) for part in parts)

    def apply(self, X: Floats, dtype: type = np.float64) -> Floats:
        """The rows in these units; column by column, to need no memory besides the result."""
        scaled: Floats = np.empty((len(X), len(self.factor)), dtype=dtype)
        for c, number in enumerate(np.flatnonzero(self.kept)):
            scaled[:, c] = (X[:, number].astype(np.float64) * self.factor[c] - self.shift[c]) * self.grid
        return scaled

    def restore(self, layer: Layer) -> Layer:
        """A first layer for the scaled rows, converted to one for the original rows."""
        weights = self.restored_weights(layer.weights)
        return layer.with_(weights, (layer.thresholds.T / self.grid + layer.weights @ self.shift).T)

    def restored_weights(self, weights: Floats) -> Floats:
        """Weights on scaled features, converted to weights on the original ones; 0 on dropped features."""
        restored = np.zeros((len(weights), len(self.kept)))
        with np.errstate(over="ignore"):
            restored[:, self.kept] = weights * self.factor
        too_large = np.isinf(restored).any(axis=0)
        if too_large.any():
            raise InvalidInputError(
                f"the values of feature {int(np.argmax(too_large))} (counted from 0) are so small that weights on it "
                "overflow; multiply it by a large number, such as 1e300."
            )
        return restored

    def scale(self, layer: Layer) -> Layer:
        """A first layer for the original rows, converted to one for the scaled rows."""
        weights = layer.weights[:, self.kept] / self.factor
        moved = weights @ self.shift + layer.weights[:, ~self.kept] @ self.constants
        return layer.with_(weights, ((layer.thresholds.T - moved) * self.grid).T)


def _power_of_two_above(sizes: Floats) -> Floats:
    """Powers of two that bring ``sizes`` into (1/2, 1]; 1 where a size is 0."""
    mantissas, exponents = np.frexp(sizes)
    exponents = np.where(mantissas == 0.5, exponents - 1, exponents)
    return np.where(sizes == 0, 1.0, np.ldexp(1.0, np.clip(-exponents, -1000, 1000)))
