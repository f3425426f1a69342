"""Accuracy: how finely the losses of a problem are told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stepnet.runtime.progress import relative_gap

# What a solver's bound may be wrong by, relative to the scale of losses, where they have no common grid.
SAFETY = 1e-6


@dataclass(frozen=True)
class Accuracy:
    """The grid that losses lie on, if any, and otherwise how much of their scale is noise.

    ``step`` divides every attainable loss (0.0: there is no such number); ``scale`` is what losses are
    measured against; programs count them in multiples of ``unit``; losses closer than ``tolerance``, and than this
    ``share`` of them (finite where losses are sums of weights without a common grid), are equal.
    """

    step: float
    scale: float
    unit: float
    tolerance: float
    share: float = math.inf

    def are_equal(self, loss: float, bound: float) -> bool:
        """Whether nothing is left between them."""
        return loss - bound <= min(self.tolerance, self.share * loss if loss else 0.0)

    def gap(self, loss: float, bound: float) -> float:
        """(loss - bound) / loss; 0 where they count as equal."""
        return 0.0 if self.are_equal(loss, bound) else relative_gap(loss, bound)

    def next_below(self, loss: float) -> float:
        """A cut-off: no network that counts as better than ``loss`` has a larger one."""
        return loss - (self.step or 2 * SAFETY * self.scale)

    def proven_by_cutoff(self, loss: float) -> float:
        """What is known if no network has a loss up to ``next_below(loss)``."""
        return loss if self.step else self.next_below(loss)

    def round_up(self, bound: float) -> float:
        """The smallest attainable loss that is not below ``bound`` less a safety for rounding.

        Where losses have no common grid, the bound less the safety.
        """
        bound = max(bound, 0.0)
        if not self.step:
            return max(0.0, bound - SAFETY * self.scale)
        safety = 1e-5 + 1e-8 * self.scale / self.step
        return max(0.0, math.ceil(bound / self.step - safety) * self.step)
