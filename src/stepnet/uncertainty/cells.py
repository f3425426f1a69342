"""All moves by whole steps that are worth trying, by number: the moves of each feature that is in reach, combined.

Where every neuron in reach reads one feature, only the nearest of the moves that leave the same bits are. Then bits can
be looked up instead of computed, and the layers above see only those in reach: the others are part of their thresholds.
"""

from __future__ import annotations

import math

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.model.network import Layer, Network
from stepnet.uncertainty.circuit import Circuit
from stepnet.uncertainty.hyperplanes import Sides
from stepnet.uncertainty.lattice import Lattice

_MOST_MOVES = 1 << 15  # that are computed one by one
_MOST_PATTERNS = 1 << 20  # that are looked up


class Cells:
    """Moves within k units; ``loose`` are the first-layer bits in reach, ``now`` all bits of that layer as they are."""

    def __init__(self, circuit: Circuit, lattice: Lattice, W: Floats, now: Sides, loose: Ints, k: int) -> None:
        self.circuit, self.lattice, self.loose = circuit, lattice, loose
        low, high = lattice.limits(k)
        reads = W[loose] != 0
        self.touched = np.flatnonzero(reads.any(axis=0) & (low < high))
        self.is_apart = bool((reads.sum(axis=1) <= 1).all())
        self.moves_of: list[Ints] = []
        self.bits_of: list[tuple[Ints, Bools]] = []  # of each feature: which loose bits, and what they are at its moves
        for feature in self.touched.tolist():
            room = int(high[feature] - low[feature]) + 1
            own = np.arange(low[feature], high[feature] + 1) if room <= _MOST_MOVES else np.zeros(_MOST_MOVES + 1, int)
            if self.is_apart and room <= _MOST_MOVES:
                own = self._nearest(feature, own, np.flatnonzero(reads[:, feature]))
            self.moves_of.append(own)
        self.shape = tuple(map(len, self.moves_of))
        self.n_all = math.prod(self.shape)
        self.above = self._above(now) if self.is_apart else None

    @property
    def are_few(self) -> bool:
        return self.n_all <= (_MOST_MOVES if self.above is None else _MOST_PATTERNS)

    def _nearest(self, feature: int, moves: Ints, bits: Ints) -> Ints:
        """Of moves that leave the same bits, the nearest to 0."""
        tried = np.zeros((len(moves), len(self.lattice.row)))
        tried[:, feature] = self.lattice.row[feature] + moves * self.lattice.steps[feature]
        first = self.circuit.hidden[0]
        levels = first.activation.read(tried, first.matrix, first.thresholds)[1]
        sides = levels[:, :, None] > np.arange(first.activation.n_thresholds)
        own = sides.reshape(len(moves), -1)[:, self.loose[bits]]
        order = np.argsort(np.abs(moves), kind="stable")
        _, kept = np.unique(own[order], axis=0, return_index=True)
        self.bits_of.append((bits, own[order[kept]]))
        return moves[order[kept]]

    def _above(self, now: Sides) -> Network | None:
        """The layers above, as a network of the loose bits; None if its sums are rounded."""
        circuit = self.circuit
        if not circuit.sums or len(self.bits_of) < len(self.touched):
            return None
        sums, second = circuit.sums[0], circuit.hidden[1]
        if sums.sizes.any():
            return None
        fixed = now.astype(np.float64)
        fixed[self.loose] = 0
        least = np.asarray(sums.least - sums.matrix @ fixed)
        n_thresholds = second.activation.n_thresholds
        weights = sums.matrix[::n_thresholds][:, self.loose]
        layer = Layer(weights, least.reshape(second.thresholds.shape), second.activation)
        return Network((layer, *circuit.network.layers[2:]))

    def moves(self, numbers: Ints) -> Ints:
        """The moves with these numbers (rows × features)."""
        found = np.zeros((len(numbers), len(self.lattice.row)), dtype=np.int64)
        for feature, own, chosen in zip(self.touched, self.moves_of, self._chosen(numbers), strict=True):
            found[:, feature] = own[chosen]
        return found

    def answers(self, numbers: Ints) -> Ints:
        """The answers after these moves, from their bits."""
        assert self.above is not None
        bits = np.zeros((len(numbers), len(self.loose)))
        for (places, values), chosen in zip(self.bits_of, self._chosen(numbers), strict=True):
            bits[:, places] = values[chosen]
        return np.asarray(self.above.predict(bits))

    def _chosen(self, numbers: Ints) -> tuple[Ints, ...]:
        return np.unravel_index(numbers, self.shape) if self.shape else ()
