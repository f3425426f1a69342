"""Quick attacks: many rows at once, each moved as far as its set allows towards hyperplanes whose crossing hurts it.

A row is moved along the sum of the directions in which it would cross them; directions that it has not crossed count
for more in the next round. What this finds is checked by an exact forward pass, what it does not find is left to branch
and bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.model.network import Network
from stepnet.uncertainty.above import Above
from stepnet.uncertainty.hyperplanes import FREE, Hyperplanes, Sides
from stepnet.uncertainty.sets import Uncertainty

_ROUNDS = 12
_INSIDE = 1 - 1e-9  # of the radius, so that rounding does not leave the set
_MORE = 1.6  # times, for a hyperplane that was not crossed


class QuickAttack:
    """Attacks on rows of a network, from the sides of its hyperplanes: now, and free where they may be crossed."""

    def __init__(self, planes: Hyperplanes, uncertainty: Uncertainty, network: Network) -> None:
        self.planes, self.uncertainty, self.above = planes, uncertainty, Above(network)

    def points(
        self, X: Floats, radii: Floats, now: Sides, reachable: Sides, is_hit: Callable[[Floats, Ints], Bools]
    ) -> Floats:
        """For each row a point of its set, the row itself if none was hit; ``is_hit`` asks about points of rows."""
        found, left = X.astype(np.float64), np.arange(len(X))
        pulls = self._pulls(now, reachable)
        for _ in range(_ROUNDS):
            directions = (pulls * np.where(now[left] == 1, -1.0, 1.0)) @ self.planes.W
            farthest = self.uncertainty.farthest(directions)
            if farthest is None or not len(left):
                break
            tried = self._within(X[left], X[left] + farthest * (radii[left] * _INSIDE)[:, None])
            hit = is_hit(tried, left)
            found[left[hit]] = tried[hit]
            is_crossed = (tried @ self.planes.W.T - self.planes.T >= 0) != (now[left] == 1)
            pulls = np.where(is_crossed, pulls, pulls * _MORE)[~hit]
            left = left[~hit]
        return found

    def _pulls(self, now: Sides, reachable: Sides) -> Floats:
        """How much it hurts to cross each hyperplane that is in reach, per unit of what that takes."""
        free, sizes = reachable == FREE, np.maximum(self.planes.up, self.planes.down)
        pulls = np.zeros(now.shape)
        if not self.above.layers:
            return np.asarray(free, dtype=np.float64)
        before = self._values(now)
        for plane in np.flatnonzero(free.any(axis=0)).tolist():
            rows = np.flatnonzero(free[:, plane])
            crossed = now[rows].copy()
            crossed[:, plane] = 1 - crossed[:, plane]
            pulls[rows, plane] = self._harm(before[rows], self._values(crossed))
        return np.asarray(pulls / np.where(sizes > 0, sizes, 1.0))

    def _values(self, sides: Sides) -> Floats:
        return self.above.values(self.planes.levels(sides)[0])

    def _harm(self, before: Floats, after: Floats) -> Floats:
        """How much the answer loses of its lead over the next one."""
        if before.shape[1] == 1:
            lost = np.where(before[:, 0] >= 0, before[:, 0] - after[:, 0], after[:, 0] - before[:, 0])
        else:
            best, rows = before.argmax(axis=1), np.arange(len(before))
            others = np.where(np.arange(before.shape[1]) == best[:, None], -np.inf, before).argmax(axis=1)
            lost = (before[rows, best] - before[rows, others]) - (after[rows, best] - after[rows, others])
        return np.maximum(lost, 0.0)

    def _within(self, X: Floats, points: Floats) -> Floats:
        """The points within the ranges of features, widened to contain the rows."""
        low, high = self.uncertainty.limits(X.shape[1])
        return np.asarray(np.clip(points, np.minimum(low, X), np.maximum(high, X)))
