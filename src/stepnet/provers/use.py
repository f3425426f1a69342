"""Use: which sets of rows may be those of a neuron, if the loss is to be small enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepnet.model.gates import gates
from stepnet.provers.bits import Words, costs, packed
from stepnet.provers.clauses import spoilers

Booleans = NDArray[np.bool_]


class Use:
    """Sets that some neuron of some gate may have if the loss is at most ``most``.

    For a single neuron only the best set found so far is of use: then ``most`` falls with every better one. With
    limits on errors, which may rule it out, others are of use too.
    """

    @classmethod
    def of(
        cls, on: Booleans, weights: NDArray[np.int64], width: int, most: int, *, is_limited: bool = False
    ) -> Use | None:
        """None if a neuron may have any set, since none of its errors alone is an error of the network."""
        use = cls(on, weights, width, most, is_limited=is_limited)
        return use if use.alone.any(axis=1).all() else None

    def __init__(
        self, on: Booleans, weights: NDArray[np.int64], width: int, most: int, *, is_limited: bool = False
    ) -> None:
        self.on, self.weights, self.width, self.most, self.is_limited = on, weights, width, most, is_limited
        self.classes, self.planes = packed(np.array([~on, on])), weight_planes(weights)
        pairs = {tuple((j,) in spoilers(gate, code) for code in (0, 1)) for gate in gates(width) for j in range(width)}
        self.alone = np.array(sorted(pairs), dtype=np.int64)

    def kept(self, sets: Words) -> Words:
        """The sets that are of use."""
        missed = [costs(sets, rows, self.planes) for rows in self.classes]
        lost = (self.alone @ np.array(missed)).min(axis=0)
        is_useful = lost <= self.most
        if self.is_of_one and is_useful.any():
            self.most = int(lost.min()) - 1
            is_useful = np.arange(len(sets)) == lost.argmin()
        useful: Words = sets[is_useful]
        return useful

    @property
    def is_of_one(self) -> bool:
        """Whether there is a single neuron, whose errors are those of the network, and only the best set counts."""
        return self.width == 1 and not self.is_limited

    def within(self, is_inside: Booleans, both: Words, is_outside: Booleans) -> Use:
        """For the rows on a hyperplane, if either of two sets of the rows beside it is right already."""
        outside = packed((is_outside & (self.weights > 0))[None])[0]
        lost = int(costs(both, outside, self.planes).min())
        return Use(self.on, np.where(is_inside, self.weights, 0), self.width, self.most - lost)


def weight_planes(weights: NDArray[np.int64]) -> Words:
    """For every bit of the weights, the rows whose weight has that bit."""
    bits = range(max(1, int(weights.max(initial=0)).bit_length()))
    return packed(np.array([weights >> bit & 1 for bit in bits], dtype=bool))
