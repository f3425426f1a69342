"""Looks: exact evaluations of what a search finds, not too often, and the best network of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.model.network import Network
from stepnet.runtime.limits import Budget

RARELY = 3.0  # evaluations take at most a quarter of the time


class Looks:
    """A search computes losses in floats, or bounds of them; what counts is the exact loss.

    After an evaluation the next one waits ``pause`` times as long as it took, unless the target seems to be met.
    """

    def __init__(
        self, evaluate: Callable[[Network], float], budget: Budget, target: float, pause: float, wait: float = 0.0
    ) -> None:
        self.evaluate, self.budget, self.target, self.pause = evaluate, budget, target, pause
        self.network: Network | None = None
        self.loss = self.seen = np.inf
        self.next = budget.elapsed + wait

    def look(self, reached: float, network: Network, *, at_once: bool = False) -> bool:
        """Evaluate a network that is said to be better, if it is time; whether the target is met."""
        is_due = at_once or reached <= self.target or self.budget.elapsed >= self.next
        if is_due and reached < self.seen:
            begin, self.seen = self.budget.elapsed, reached
            loss = self.evaluate(network)
            if loss < self.loss:
                self.loss, self.network = loss, network
            self.next = self.budget.elapsed + self.pause * (self.budget.elapsed - begin)
        return self.loss <= self.target
