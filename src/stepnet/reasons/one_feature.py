"""Changes of one feature alone, exact: the nearest number of each feature that changes an answer.

Along one feature i a first-layer threshold is crossed at one number, b = x_i - (w·x - t) / w_i, a rational. Between two
of these numbers no neuron changes, so one number just beyond each of them shows all answers that there are. "Just
beyond" is the next float or, for features that are integers, the next integer: no float in between is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints, exact_dot
from stepnet.reasons.units import Model


@dataclass(frozen=True)
class Change:
    """A number of one feature for which the row has another answer."""

    feature: int
    number: float
    code: int  # of the answer


class OneFeature:
    """Changes of single features of the rows of one model, between ``low`` and ``high``."""

    def __init__(self, model: Model, low: Floats, high: Floats, is_integer: Bools) -> None:
        self.model, self.low, self.high, self.is_integer = model, low, high, is_integer
        first = model.in_units.layers[0]
        ends = first.thresholds.reshape(first.width, -1)
        if first.activation.is_compared:  # a network without hidden layers: hyperplanes between two classes
            a, b = np.triu_indices(first.width, 1)
            self.W, self.T = first.weights[a] - first.weights[b], (ends[a] - ends[b])[:, 0]
        else:
            self.W, self.T = np.repeat(first.weights, ends.shape[1], axis=0), ends.ravel()
        # Folded scales and differences are rounded, and so are their crossings: some floats around each are tried.
        self.is_rounded = any(model.arithmetic) or first.activation.is_compared

    def changes(self, row: Floats, features: Ints | None = None) -> list[Change]:
        """Every change to the nearest number, up and down, of each answer that a feature alone can reach."""
        code = int(self.model.answers(row[None])[0])
        chosen = range(len(row)) if features is None else features.tolist()
        leads = [exact_dot(row, w) - Fraction(t) for w, t in zip(self.W, self.T.tolist(), strict=True)]
        tries = [(i, number) for i in chosen for number in sorted(set(self._beyond(row, i, leads)))]
        if not tries:
            return []
        points = np.repeat(row[None], len(tries), axis=0)
        points[np.arange(len(tries)), [i for i, _ in tries]] = [number for _, number in tries]
        codes = self.model.answers(points).tolist()
        best: dict[tuple[int, int, bool], Change] = {}
        for (i, number), found in zip(tries, codes, strict=True):
            is_up = bool(number > row[i])
            # Numbers come in rising order: the first above the row is the nearest, and the last below it.
            if found != code and not (is_up and (i, found, is_up) in best):
                best[i, found, is_up] = Change(i, number, found)
        return list(best.values())

    def can_change(self, rows: Floats) -> Bools:
        """Rows × features: whether the feature alone can change the answer."""
        found = np.zeros(rows.shape, dtype=bool)
        for i, row in enumerate(rows):
            found[i, [change.feature for change in self.changes(row)]] = True
        return found

    def _beyond(self, row: Floats, i: int, leads: list[Fraction]) -> Iterator[float]:
        """Numbers of feature ``i`` just beyond each crossing, within its range."""
        low, high = float(self.low[i]), float(self.high[i])
        if low >= high:
            return
        step = _integers if self.is_integer[i] else _floats
        for j in np.flatnonzero(self.W[:, i]).tolist():
            crossing = Fraction(float(row[i])) - leads[j] / Fraction(float(self.W[j, i]))
            yield from (v for v in self._around(crossing, step) if low <= v <= high and v != row[i])

    def _around(self, crossing: Fraction, step: Callable[[Fraction], list[float]]) -> list[float]:
        if abs(crossing) > Fraction(1e300):
            return []
        near = step(crossing)
        if self.is_rounded and step is _floats:
            doubt = 1e-12 * (1.0 + abs(float(crossing)))
            near = [*near, near[0] - doubt, near[-1] + doubt]
        elif self.is_rounded:
            near = [near[0] - 1, *near, near[-1] + 1]
        return near


def _floats(crossing: Fraction) -> list[float]:
    """The largest float below, the crossing if it is a float, and the smallest float above."""
    near = float(crossing)
    if Fraction(near) == crossing:
        return [math.nextafter(near, -math.inf), near, math.nextafter(near, math.inf)]
    below, above = (near, math.nextafter(near, math.inf))
    if Fraction(near) > crossing:
        below, above = math.nextafter(near, -math.inf), near
    return [below, above]


def _integers(crossing: Fraction) -> list[float]:
    near = math.floor(crossing)
    return [float(near - 1), float(near), float(near + 1)] if near == crossing else [float(near), float(near + 1)]
