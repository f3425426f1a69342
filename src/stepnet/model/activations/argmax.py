"""Argmax: the answer is the neuron with the largest a - t, in a tie the first."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from stepnet.model.activations.base import Codes, Condition, Levels, Output
from stepnet.model.arithmetic import Bools, Floats, Weights, argmax, doubt_of, ranges_of_sums

_TIE = 1e-9  # relative: outputs this close count as equal where sums are plain floats


@dataclass(frozen=True)
class Argmax(Output):
    """The index of the largest a - t is the answer."""

    name = "argmax"
    is_compared = True
    reading = "the largest output is the answer, in a tie the first"

    def read(self, signals: Floats, weights: Weights, thresholds: Floats) -> tuple[Floats, Levels]:
        values, codes = argmax(signals, weights, thresholds)
        return values, codes[:, None].astype(np.int16)

    def n_answers(self, width: int) -> int:
        return width

    def width_for(self, n_classes: int) -> int:
        return n_classes

    def scores(self, values: Floats, levels: Levels) -> Floats:
        return values

    def answers(self, sums: Floats, thresholds: Floats) -> Codes:
        return np.asarray((sums - thresholds[:, 0]).argmax(axis=1))

    def switches(self, sums: Floats, thresholds: Floats, j: int) -> tuple[Floats, Codes]:
        """Neuron ``j`` takes over where it passes the best of the others."""
        lead = sums - thresholds[:, 0]
        lead[:, j] = -np.inf
        best = lead.argmax(axis=1)
        at = lead[np.arange(len(sums)), best] + thresholds[j, 0]
        # The lowest code wins a tie: a higher one must exceed it, a lower one only has to reach it.
        at += np.where(best < j, _TIE, -_TIE) * (1.0 + np.abs(at))
        return at[:, None], np.column_stack([best, np.full(len(sums), j)])

    def distances(self, weights: Floats, values: Floats, levels: Levels) -> Floats:
        apart = np.linalg.norm(weights[:, None] - weights[None], axis=2)[levels[:, 0]]
        lead = values[np.arange(len(values)), levels[:, 0], None] - values
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(apart > 0, lead / apart, np.inf).min(axis=1))

    def could_miss(self, weights: Weights, thresholds: Floats, least: Floats, most: Floats, classes: Codes) -> Bools:
        missed = np.zeros(len(least), dtype=bool)
        for code in np.unique(classes).tolist():
            members = classes == code
            others = np.delete(np.arange(weights.shape[0]), code)
            own = weights[np.full(len(others), code)]  # as often as there are others: sparse rows do not broadcast
            leads, offsets = weights[others] - own, thresholds[others] - thresholds[code]
            _, top = ranges_of_sums(leads, least[members], most[members])
            doubt = doubt_of(leads, least[members], most[members], offsets)
            missed[members] = (top >= offsets - doubt).any(axis=1)
        return missed

    def rivals(self, weights: Floats, thresholds: Floats, answer: int) -> list[Condition]:
        """Every other neuron that passes the answer's, or that ties with it and comes first."""
        found: list[Condition] = []
        for code in np.delete(np.arange(len(weights)), answer).tolist():
            exact = Fraction(thresholds[code]) - Fraction(thresholds[answer])
            lead = float(exact)
            is_strict = code > answer and Fraction(lead) == exact
            found.append(
                (weights[code] - weights[answer], lead if lead <= exact else np.nextafter(lead, -np.inf), is_strict)
            )
        return found

    def constant_thresholds(self, code: int, width: int, beyond: float) -> Floats:
        return np.where(np.arange(width) == code, -beyond, beyond)


ARGMAX = Argmax()
