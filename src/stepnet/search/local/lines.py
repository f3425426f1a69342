"""Lines: how the loss changes as a neuron moves along a direction, and where it is least.

Along a direction every row passes from level to level at known steps; between two steps nothing changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats

FLAT = 1e-12  # slopes, and differences of losses in units of their scale, below this are none


class Events(NamedTuple):
    """How the levels of a neuron change along a line: at each step, in order, one row from one level to another."""

    steps: Floats
    rows: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    first: NDArray[np.int64]  # the level of every row before all steps


# The steps that matter, in order, and the loss before, between and after them.
Line = tuple[Floats, Floats]


def events_along(offsets: Floats, slopes: Floats) -> Events:
    """What happens along a line on which values less thresholds, ``offsets`` (rows × L), rise by ``slopes``."""
    n_thresholds = offsets.shape[1]
    moving = np.abs(slopes) > FLAT
    first = np.where(moving, np.where(slopes > 0, 0, n_thresholds), (offsets >= 0).sum(axis=1))
    rows = np.repeat(np.flatnonzero(moving), n_thresholds)
    numbers = np.tile(np.arange(n_thresholds), int(moving.sum()))
    steps = (-offsets[moving] / slopes[moving, None]).ravel()
    falls = slopes[rows] < 0
    order = np.argsort(steps)
    before, after = numbers + falls, numbers + ~falls
    return Events(steps[order], rows[order], before[order], after[order], first)


def threshold_events(values: Floats, levels: NDArray[np.int64], thresholds: Floats, number: int) -> Events:
    """What happens as one threshold rises alone: rows change between its two levels only."""
    between = np.isin(levels, (number, number + 1))
    rows = np.flatnonzero(between)
    steps = values[rows] - thresholds[rows, number]
    order = np.argsort(steps)
    before, after = np.full(len(rows), number + 1), np.full(len(rows), number)
    return Events(steps[order], rows[order], before, after, np.where(between, number + 1, levels))


def at_levels(costs: Floats, levels: NDArray[np.int64]) -> Floats:
    """What each row costs at its level, from a table of rows × levels."""
    return np.asarray(costs[np.arange(len(costs)), levels])


def by_table(events: Events, costs: Floats) -> Line:
    """The loss along a line where each row costs what the table says of its level."""
    deltas = costs[events.rows, events.after] - costs[events.rows, events.before]
    used = deltas != 0
    loss = float(at_levels(costs, events.first).sum())
    return events.steps[used], loss + np.append(0.0, np.cumsum(deltas[used]))


class LeastSquares:
    """The loss along a line if a last layer by least squares follows the neuron at every step.

    With the columns of the other neurons projected away, a column c lowers the loss by |c·R|² / |c|², where R
    are the residuals. Both change by one row at a time.
    """

    def __init__(
        self, others: Floats, targets: Floats, row_weights: Floats, values: Floats, *, ridge: float, intercept: bool
    ) -> None:
        roots, n_others = np.sqrt(row_weights)[:, None], others.shape[1]
        if intercept:
            others = np.column_stack([others, np.ones(len(others))])
        left, right = roots * others, roots * targets
        if ridge:
            left = np.vstack([left, np.sqrt(ridge) * np.eye(n_others, others.shape[1])])
            right = np.vstack([right, np.zeros((n_others, right.shape[1]))])
        basis = _orthonormal(left)
        residuals = right - basis @ (basis.T @ right)
        self.without = float((residuals**2).sum())  # the loss if the neuron is not used
        # What a unit in one row adds to c·R and to the projection of c on the others' columns.
        self.unit = roots * np.column_stack([residuals, basis])[: len(roots)]
        self.n_outputs, self.values = targets.shape[1], values
        self.row_weights, self.ridge = row_weights, ridge

    def along(self, events: Events) -> Line:
        before, after = self.values[events.before], self.values[events.after]
        column = self.values[events.first]
        sums = np.vstack([column @ self.unit, (after - before)[:, None] * self.unit[events.rows]]).cumsum(axis=0)
        sizes = self.row_weights[events.rows] * (after**2 - before**2)
        sizes = np.append(self.row_weights @ column**2, sizes).cumsum() + self.ridge
        apart = sizes - (sums[:, self.n_outputs :] ** 2).sum(axis=1)
        gains = (sums[:, : self.n_outputs] ** 2).sum(axis=1) / np.maximum(apart, FLAT)
        return events.steps, self.without - np.where(apart > 1e-9 * sizes, gains, 0.0)


def best_place(
    steps: Floats, losses: Floats, places: Floats, rng: np.random.Generator, flat: float
) -> tuple[float, float]:
    """The least loss among some places on a line, and one of the places that have it."""
    losses = losses[np.searchsorted(steps, places)]
    ties = np.flatnonzero(losses <= losses.min() + flat)
    chosen = ties[rng.integers(len(ties))]
    return float(losses[chosen]), float(places[chosen])


def best_interval(
    steps: Floats,
    losses: Floats,
    rng: np.random.Generator,
    flat: float,
    low: float = -np.inf,
    high: float = np.inf,
) -> tuple[float, float] | None:
    """The least loss along a line and a step into an interval that has it; wide ones first."""
    if not len(steps):
        return None
    reach = steps[-1] - steps[0] + 1.0
    ends = np.concatenate([[steps[0] - reach], steps, [steps[-1] + reach]])
    ends = np.clip(ends, low, high)
    lengths = np.diff(ends)
    proper = lengths > 1e-9 * (1.0 + np.abs(ends[:-1]) + np.abs(ends[1:]))
    if not proper.any():
        return None
    least = losses[proper].min()
    candidates = np.flatnonzero(proper & (losses <= least + flat))
    keys = np.minimum(lengths[candidates], reach / 4) * rng.random(len(candidates))
    chosen = candidates[keys.argmax()]
    step = ends[chosen] + lengths[chosen] * (0.25 + 0.5 * rng.random())
    return float(losses[chosen]), float(step)


def _orthonormal(matrix: Floats) -> Floats:
    """A basis of the space that the columns span."""
    left, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-10 * sizes.max(initial=FLAT)])
