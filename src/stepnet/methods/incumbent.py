"""Incumbent: the best verified network of a fit, and the best bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from stepnet.bounds.bound import Bound
from stepnet.model.network import Network


@dataclass
class Incumbent:
    """A network with its exact loss, and what is known of all others."""

    network: Network | None = None
    loss: float = math.inf
    bound: Bound = field(default_factory=Bound)
    free_bound: Bound = field(default_factory=Bound)  # the best that holds for all networks
    fewest: Bound | None = None  # on the number of non-zero weights at this loss
    found_by: str = ""  # the stage that found the network

    def raise_bound(self, bound: Bound) -> bool:
        """Keep a bound if it is better than the one known; whether it is."""
        if bound.scope.is_all and bound.is_better_than(self.free_bound):
            self.free_bound = bound
        is_better = bound.is_better_than(self.bound)
        if is_better:
            self.bound = bound
        return is_better

    @property
    def best_bound(self) -> Bound:
        """Where both say the same of this network, the bound that holds for all networks is the better one."""
        serves = self.free_bound.value >= min(self.bound.value, self.loss)
        return self.free_bound if serves else self.bound
