"""The first attack on a row, in milliseconds: quick searches within growing radii, then the nearest point there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.uncertainty.hyperplanes import FREE
from stepnet.uncertainty.quick_attack import QuickAttack

if TYPE_CHECKING:
    from stepnet.uncertainty.decision import Target

_GROWTH, _RADII, _MOST_RADII = 1.25, 12, 96
_HALVINGS = 12
_DROPS = 60  # crossed hyperplanes that are tried without


def first_attack(target: Target, radius: float, farthest: float) -> Floats | None:
    """An attack from radii that grow from this one; None if nothing was found."""
    quick = QuickAttack(target.planes, target.ball, target.circuit.network)

    def is_hit(points: Floats, _: Ints) -> Bools:
        return np.asarray(target.circuit.network.predict(points) != target.answer)

    for _ in range(_MOST_RADII // _RADII):
        radii = np.unique(np.minimum(radius * _GROWTH ** np.arange(1, _RADII + 1), farthest))
        if radius >= farthest:
            return None
        X, now = np.repeat(target.row[None], len(radii), axis=0), np.repeat(target.now[None], len(radii), axis=0)
        found = quick.points(X, radii, now, target.planes.in_reach(X, radii, now), is_hit)
        moved = np.flatnonzero((found != X).any(axis=1))
        if len(moved):
            return improved(target, found[moved[0]])
        radius = float(radii[-1])
    return None


def improved(target: Target, point: Floats) -> Floats:
    """A nearer attack: back along the line to the row, then to the nearest point with fewer and fewer sides crossed."""
    low, best = 0.0, point
    high = 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tried = target.ball.clipped(target.row, target.row + middle * (point - target.row))
        if target.is_hit(tried):
            best, high = tried, middle
        else:
            low = middle
    return _fewer(target, best)


def _fewer(target: Target, best: Floats) -> Floats:
    """Crossed hyperplanes that are not needed are crossed back, the farthest first; the others need only be held."""
    size = target.size(best)
    sides = target.planes.sides(target.circuit.network.levels(best[None])[0])[0]
    away = target.distances()
    crossed = np.flatnonzero(sides != target.now)
    for plane in crossed[np.argsort(-away[crossed], kind="stable")][:_DROPS].tolist():
        without = sides.copy()
        without[plane] = target.now[plane]
        if target.changes(without):
            sides = without
    in_reach = away < size
    for held in (np.where(sides != target.now, sides, FREE), np.where(in_reach, sides, FREE)):
        found = target.nearest(held.astype(np.int8), size)
        if found is not None and target.size(found) < target.size(best):
            best = found
    return best
