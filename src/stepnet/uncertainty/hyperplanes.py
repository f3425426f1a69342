"""The thresholds of the first layer as hyperplanes: the sides of rows, and the sides within reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.network import Network
from stepnet.uncertainty.halfspaces import UNIT, Halfspaces
from stepnet.uncertainty.sets import Uncertainty

Sides = NDArray[np.int8]  # of the hyperplanes: 1 or 0 where fixed, -1 where free

FREE = -1
_TIE = 1e-12  # relative
_MOST_TIES = 20_000  # that are decided exactly; others count as free


class Hyperplanes:
    """One for each threshold of each first-layer neuron."""

    def __init__(self, network: Network, uncertainty: Uncertainty) -> None:
        first = network.layers[0]
        if not first.activation.has_levels:
            raise InvalidInputError(
                "an attack needs a step layer below the outputs; this network has none. Use hidden=(1,) or more."
            )
        uncertainty.require(network.n_features)
        self.n_thresholds = first.activation.n_thresholds
        self.W = np.repeat(first.weights, self.n_thresholds, axis=0)
        self.T = first.thresholds.ravel()
        self.network, self.uncertainty = network, uncertainty
        self.up, self.down = uncertainty.dual_sizes(self.W), uncertainty.dual_sizes(-self.W)

    def sides(self, levels: NDArray[np.int16]) -> Sides:
        """The sides of rows, from their exact first-layer levels (rows × hyperplanes)."""
        reached = levels[:, :, None] > np.arange(self.n_thresholds)
        return reached.astype(np.int8).reshape(len(levels), -1)

    def sides_at(self, point: Floats) -> Sides:
        """The sides of a point, up to rounding."""
        return (self.W @ point - self.T >= 0).astype(np.int8)

    def levels(self, sides: Sides) -> tuple[Ints, Ints]:
        """The lowest and highest level of each neuron (rows × neurons)."""
        blocks = sides.reshape(len(sides), -1, self.n_thresholds)
        return (blocks == 1).sum(axis=2), (blocks != 0).sum(axis=2)

    def stable_sides(self, X: Floats, radii: Floats) -> Sides:
        """The sides of the rows, free where a perturbation within the radius may cross."""
        return self.in_reach(X, radii, self.sides(self.network.levels(X)[0]))

    def in_reach(self, X: Floats, radii: Floats, now: Sides) -> Sides:
        """The same from the sides ``now``, free in doubt."""
        values = X @ self.W.T - self.T
        doubt = (X.shape[1] + 3) * UNIT * (np.abs(X) @ np.abs(self.W).T + np.abs(self.T))
        up, down = self.uncertainty.reach(self.W, X, radii), self.uncertainty.reach(-self.W, X, radii)
        # A neuron at its threshold is on: to end there is a crossing from below, but not from above.
        lead = np.where(now == 1, values - down, -values - up)
        is_free = (lead < doubt) & self.W.any(axis=1)
        # Data on a grid often lie exactly at their radius from a threshold: rationals decide there.
        for i, j in np.argwhere(is_free & (lead > -doubt - _TIE * (up + down)))[:_MOST_TIES].tolist():
            row, radius = X[i].astype(np.float64), float(radii[i])
            is_free[i, j] = not self.uncertainty.stays(row, self.W[j], float(self.T[j]), radius, bool(now[i, j]))
        return np.where(is_free, FREE, now).astype(np.int8)

    def distances(self, values: Floats) -> Floats:
        """The distances of the hyperplanes from a row with values w·x - t; infinite without weights."""
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.abs(values) / np.where(values >= 0, self.down, self.up)
        return np.where(self.W.any(axis=1), distances, np.inf)

    def halfspaces(self, row: Floats, sides: Sides, which: Ints) -> Halfspaces:
        """The halfspaces of the fixed sides of the chosen hyperplanes."""
        signs = np.where(sides[which] == 1, 1.0, -1.0)
        return Halfspaces.of(row, self.W[which], self.T[which], signs)

    def is_ordered(self, sides: Sides, chosen: int) -> bool:
        """Whether no higher threshold of the same neuron is reached while a lower one is not."""
        first = chosen // self.n_thresholds * self.n_thresholds
        block = sides[first : first + self.n_thresholds]
        reached, missed = np.flatnonzero(block == 1), np.flatnonzero(block == 0)
        return not len(reached) or not len(missed) or reached.max() < missed.min()
