"""Lines for uncertain rows: each row has an interval where a neuron is surely on, and one where it is surely off.

Along weights w + s d and threshold t + s e a row is surely on where

    (w + s d)·x - (t + s e) - r ‖w + s d‖_* >= 0,

a concave function of s, so on an interval, and surely off where a convex one is negative, on another interval: up to
four steps per row, between which nothing changes. As levels: 0 is surely off, 1 may switch, 2 is surely on. Along a
threshold alone there are two steps per row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats
from stepnet.search.local.lines import Events
from stepnet.uncertainty.norms.along import DualNorm

_ITERATIONS = 12


def sure_events(
    values: Floats, slopes: Floats, radii: Floats, norm: DualNorm, w: Floats, d: Floats, window: float
) -> Events:
    """What happens within ±window as values w·x - t rise by ``slopes`` and weights move by ``d``."""
    # Right ends of both intervals, and those of the mirrored line, where left and right are exchanged.
    ends = _right_ends(
        np.concatenate([values, -values, values, -values]),
        np.concatenate([slopes, -slopes, -slopes, slopes]),
        np.tile(radii, 4),
        np.repeat([1.0, -1.0], 2 * len(values)),
        norm,
        w,
        d,
        window,
    ).reshape(4, -1)
    return events_of((-ends[2], ends[0]), (-ends[3], ends[1]), window)


def threshold_events_of(values: Floats, down: Floats, up: Floats, window: float) -> Events:
    """As the threshold alone rises: values w·x - t fall; perturbations lower them by ``down``, raise them by ``up``."""
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


def _right_ends(
    values: Floats,
    slopes: Floats,
    radii: Floats,
    sides: Floats,
    norm: DualNorm,
    w: Floats,
    d: Floats,
    window: float,
) -> Floats:
    """The last s where values + s · slopes - radii · norm(side · s) is not negative, before -window if there is none.

    The function is concave: its tangents lie above it, so each step of Newton from the right stays outside.
    """
    steps = np.full(len(values), window)
    active = np.arange(len(values))
    for _ in range(_ITERATIONS):
        side, at = sides[active], steps[active]
        sizes, rises = norm.along(w, d, side * at)
        heights = values[active] + at * slopes[active] - radii[active] * sizes
        inclines = slopes[active] - radii[active] * side * rises
        outside = heights < 0
        active, heights, inclines = active[outside], heights[outside], inclines[outside]
        if not len(active):
            break
        falls = inclines < 0
        steps[active] = np.where(falls, steps[active] - heights / np.where(falls, inclines, -1.0), -2 * window)
        active = active[steps[active] > -window]
    return steps
