"""Lines for uncertain rows: each row has an interval where a neuron is surely on, and one where it is surely off.

Along weights w + s d and threshold t + s e a row is surely on where

    (w + s d)·x - (t + s e) - r ‖w + s d‖_* >= 0,

a concave function of s, so on an interval, and surely off where a convex one is negative, on another interval: up to
four steps a row, between which nothing changes. As levels: 0 is surely off, 1 may switch, 2 is surely on. Along a
threshold alone there are two steps a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepnet.arithmetic import Floats
from stepnet.search.lines import Events

_ITERATIONS = 12
_DUALS = {"l1": np.inf, "l2": 2.0, "linf": 1.0}


class DualNorm:
    """‖w S‖_* along a line, with its slope."""

    def __init__(self, norm: str, S: Floats) -> None:
        self.norm, self.S = norm, S

    def of(self, w: Floats) -> float:
        return float(np.linalg.norm(w @ self.S, ord=_DUALS[self.norm]))

    def along(self, w: Floats, d: Floats, steps: Floats) -> tuple[Floats, Floats]:
        """The norm and its slope at every step."""
        start, towards = w @ self.S, d @ self.S
        places = start + steps[:, None] * towards
        if self.norm == "linf":
            return np.abs(places).sum(axis=1), np.sign(places) @ towards
        if self.norm == "l2":
            sizes = np.linalg.norm(places, axis=1)
            return sizes, places @ towards / np.maximum(sizes, 1e-300)
        largest = np.abs(places).argmax(axis=1)
        every = np.arange(len(steps))
        return np.abs(places[every, largest]), np.sign(places[every, largest]) * towards[largest]


def sure_events(
    values: Floats, slopes: Floats, radii: Floats, norm: DualNorm, w: Floats, d: Floats, window: float
) -> Events:
    """What happens within ±window as values w·x - t rise by ``slopes`` and weights move by ``d``."""
    on = _ends(values, slopes, radii, norm, w, d, window)
    off = _ends(-values, -slopes, radii, norm, w, d, window)
    return events_of(on, off, window)


def threshold_events_of(values: Floats, down: Floats, up: Floats, window: float) -> Events:
    """As the threshold alone rises: values w·x - t fall; ``down`` and ``up`` are how far rows can be moved."""
    low = np.full(len(values), -window)
    on = low, np.clip(values - down, -window, window)
    off = np.clip(values + up, -window, window), -low
    return events_of(on, off, window)


def events_of(on: tuple[Floats, Floats], off: tuple[Floats, Floats], window: float) -> Events:
    """From the intervals where rows are surely on and surely off; empty ones end before they begin."""
    parts: list[tuple[Floats, NDArray[np.int64], int, int]] = []
    first = np.ones(len(on[0]), dtype=np.int64)
    for (begin, end), level in ((on, 2), (off, 0)):
        proper = begin < end
        first[proper & (begin <= -window)] = level
        starts = np.flatnonzero(proper & (begin > -window))
        stops = np.flatnonzero(proper & (end < window))
        parts.append((begin[starts], starts, 1, level))
        parts.append((end[stops], stops, level, 1))
    steps = np.concatenate([part[0] for part in parts])
    rows = np.concatenate([part[1] for part in parts])
    before = np.concatenate([np.full(len(part[1]), part[2]) for part in parts])
    after = np.concatenate([np.full(len(part[1]), part[3]) for part in parts])
    order = np.argsort(steps, kind="stable")
    return Events(steps[order], rows[order], before[order], after[order], first)


def _ends(
    values: Floats, slopes: Floats, radii: Floats, norm: DualNorm, w: Floats, d: Floats, window: float
) -> tuple[Floats, Floats]:
    """Where values + s · slopes - radii · norm(s) is not negative: an interval of s; Newton from both ends.

    The function is concave: a tangent lies above it, so each step of Newton stays outside of the interval.
    """
    return (
        -_right_end(values, -slopes, radii, norm, w, -d, window),
        _right_end(values, slopes, radii, norm, w, d, window),
    )


def _right_end(
    values: Floats, slopes: Floats, radii: Floats, norm: DualNorm, w: Floats, d: Floats, window: float
) -> Floats:
    steps = np.full(len(values), window)
    for _ in range(_ITERATIONS):
        sizes, rises = norm.along(w, d, steps)
        heights, inclines = values + steps * slopes - radii * sizes, slopes - radii * rises
        outside = heights < 0
        if not outside.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            next_steps = np.where(inclines < 0, steps - heights / inclines, -np.inf)
        steps = np.where(outside, np.maximum(next_steps, -2 * window), steps)
        if (steps[outside] <= -window).all():
            break
    return steps
