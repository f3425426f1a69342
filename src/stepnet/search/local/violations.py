"""Violations: by how much limits on errors are exceeded, at a price that no loss outweighs."""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Bools, Floats
from stepnet.problem.problem import Problem
from stepnet.search.local.lines import Events, Line, at_levels

_LARGEST = 1e6
_DEAR = 4.0  # times the weight of all rows


class Violations:
    """The limits on errors of a problem as sums over misclassified rows: first these are met, then the loss falls."""

    def __init__(self, problem: Problem) -> None:
        pairs = [one.scaled(_LARGEST) for one in problem.constraints.inequalities]
        self.rates: Floats = np.array([rates for rates, _ in pairs]).reshape(len(pairs), problem.dataset.n_rows)
        self.most: Floats = np.array([most for _, most in pairs])
        self.price = _DEAR * problem.dataset.total_weight

    def __bool__(self) -> bool:
        return len(self.most) > 0

    def excess(self, wrong: Bools) -> Floats:
        """Of every limit."""
        return np.maximum(self.rates @ wrong - self.most, 0.0)

    def total(self, wrong: Bools) -> float:
        return self.price * float(self.excess(wrong).sum())

    def row_prices(self, wrong: Bools) -> Floats:
        """What the error of each row adds now: by the limits that are exceeded."""
        return self.price * ((self.excess(wrong) > 0) @ self.rates)

    def along(self, events: Events, costs: Floats, wrong: Floats) -> Line:
        """Loss and violations along a line, from tables of rows × levels: their costs, and 1 where they are wrong."""
        rows, after, before = events.rows, events.after, events.before
        deltas = costs[rows, after] - costs[rows, before]
        flips = wrong[rows, after] - wrong[rows, before]
        used = (deltas != 0) | (flips != 0)
        losses = at_levels(costs, events.first).sum() + np.append(0.0, np.cumsum(deltas[used]))
        first: Floats = self.rates @ at_levels(wrong, events.first)
        changes = np.cumsum(self.rates[:, rows[used]] * flips[used], axis=1)
        totals = first[:, None] + np.column_stack([np.zeros(len(first)), changes])
        excess = np.maximum(totals - self.most[:, None], 0.0).sum(axis=0)
        return events.steps[used], losses + self.price * excess
