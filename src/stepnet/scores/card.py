"""Card: a scorecard, and the step network that it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.model.network import Layer, Network


@dataclass(frozen=True, order=True)
class Rule:
    """``feature >= cut``, or ``feature <= cut``, and its points."""

    feature: int
    is_at_least: bool
    cut: float
    points: int

    def words(self, names: Sequence[str]) -> str:
        return f"{names[self.feature]} {'≥' if self.is_at_least else '≤'} {number(self.cut)}"


@dataclass(frozen=True)
class Card:
    """Rules and the threshold: the answer is 1 where the total of the points reaches it."""

    rules: tuple[Rule, ...]
    threshold: int

    @property
    def most(self) -> int:
        """The largest total."""
        return sum(rule.points for rule in self.rules)

    @property
    def rank(self) -> tuple[int, int, int]:
        """What decides between cards of the same loss: the number of rules, then their points."""
        return len(self.rules), self.most, max((rule.points for rule in self.rules), default=0)

    def totals(self, X: ArrayLike) -> NDArray[np.int64]:
        """The points of every row."""
        X = np.asarray(X, dtype=np.float64)
        total = np.zeros(len(X), dtype=np.int64)
        for rule in self.rules:
            column = X[:, rule.feature]
            total += rule.points * (column >= rule.cut if rule.is_at_least else column <= rule.cut)
        return total

    def network(self, n_features: int, width: int | None = None) -> Network:
        """As a network with so many hidden neurons; those without a rule are always on, and count for nothing."""
        width = max(1, len(self.rules)) if width is None else width
        weights, cuts, points = np.zeros((width, n_features)), np.zeros(width), np.zeros((1, width))
        for j, rule in enumerate(self.rules):
            sign = 1.0 if rule.is_at_least else -1.0
            weights[j, rule.feature], cuts[j], points[0, j] = sign, sign * rule.cut, rule.points
        return Network((Layer(weights, cuts + 0.0), Layer(points, [self.threshold])))

    @classmethod
    def of_network(cls, network: Network) -> Card:
        """The inverse of :meth:`network`."""
        first, last = network.layers
        rules = []
        for weights, cut, points in zip(first.weights, first.thresholds.tolist(), last.weights[0], strict=True):
            if points:
                feature = int(np.flatnonzero(weights)[0])
                cut = cut / float(weights[feature]) + 0.0
                rules.append(Rule(feature, bool(weights[feature] > 0), cut, int(points)))
        return cls(tuple(rules), int(last.thresholds[0]))

    def sorted(self) -> Card:
        """The rules with the most points first."""
        return replace(
            self, rules=tuple(sorted(self.rules, key=lambda one: (-one.points, one.feature, one.is_at_least, one.cut)))
        )


def number(value: float) -> str:
    """A cut point: integers without a decimal point, other numbers with all of their digits."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
