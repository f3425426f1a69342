"""Accuracy: which losses of a problem count as different."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stepnet.runtime.progress import relative_gap

# The error allowed in a solver's bound, relative to the scale of losses, where losses have no common grid.
SAFETY = 1e-6


@dataclass(frozen=True)
class Accuracy:
    """The grid of attainable losses, or a tolerance where there is no grid.

    ``step`` divides every attainable loss (0.0: there is no such number); ``scale`` is the size of losses; programs
    count losses in multiples of ``unit``. Losses count as equal if they differ by at most ``tolerance`` and at most
    this ``share`` of the loss (finite where losses are sums of weights without a common grid).
    """

    step: float
    scale: float
    unit: float
    tolerance: float
    share: float = math.inf

    def are_equal(self, loss: float, bound: float) -> bool:
        """Whether loss and bound count as equal."""
        return loss - bound <= min(self.tolerance, self.share * loss if loss else 0.0)

    def gap(self, loss: float, bound: float) -> float:
        """(loss - bound) / loss; 0 where they count as equal."""
        return 0.0 if self.are_equal(loss, bound) else relative_gap(loss, bound)

    def next_below(self, loss: float) -> float:
        """A cut-off: every network that counts as better than ``loss`` has at most this loss."""
        return loss - (self.step or 2 * SAFETY * self.scale)

    def proven_by_cutoff(self, loss: float) -> float:
        """The bound that holds if no network has a loss up to ``next_below(loss)``."""
        return loss if self.step else self.next_below(loss)

    def round_up(self, bound: float) -> float:
        """The smallest attainable loss at or above ``bound``, after subtracting a safety for rounding.

        Without a common grid, the bound minus the safety.
        """
        bound = max(bound, 0.0)
        if not self.step:
            return max(0.0, bound - SAFETY * self.scale)
        safety = 1e-5 + 1e-8 * self.scale / self.step
        return max(0.0, math.ceil(bound / self.step - safety) * self.step)
