"""Neurons as they are found in a foreign network, and the layers that they make.

Every neuron is a bit, ``matrix x >= threshold`` over features and bits found before. A network has layers in which
each sees the one below alone, so bits that are needed later are passed on by neurons that copy them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from stepnet.errors import ModelFileError
from stepnet.model.activations.base import Activation
from stepnet.model.activations.staircase import SIGN, STEP
from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.model.foreign.rationals import ONE, Rationals, combined, filled, is_float
from stepnet.model.network import Layer, Network


@dataclass
class Neurons:
    """Signals by number: the features first, then the bits in the order in which they were found."""

    n_features: int
    notes: list[str] = field(default_factory=list)  # where the network differs from the file
    depths: Ints = field(init=False)
    are_signs: Bools = field(init=False)  # whether the file has -1 and 1 for this bit
    rows: list[tuple[Ints, Floats, float]] = field(default_factory=list)  # inputs, weights, threshold
    known: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.depths = np.zeros(self.n_features, dtype=np.int64)
        self.are_signs = np.zeros(self.n_features, dtype=bool)

    @property
    def n_signals(self) -> int:
        return self.n_features + len(self.rows)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def add(self, matrix: sparse.csr_array, thresholds: Floats) -> Ints:
        """The numbers of neurons with these weights, each of which exists only once."""
        found, depths = np.empty(matrix.shape[0], dtype=np.int64), []
        for j in range(matrix.shape[0]):
            part = slice(matrix.indptr[j], matrix.indptr[j + 1])
            inputs, weights = matrix.indices[part].astype(np.int64), matrix.data[part]
            key = inputs.tobytes() + weights.tobytes() + float(thresholds[j]).hex().encode()
            if key not in self.known:
                self.known[key] = self.n_signals
                below = self.depths[inputs]
                if below.min(initial=1) == 0 < below.max(initial=0):
                    raise ModelFileError("it adds inputs of the network to signals that are steps of them")
                depths.append(int(below.max(initial=0)) + 1)
                self.rows.append((inputs, weights, float(thresholds[j])))
            found[j] = self.known[key]
        self.depths = np.concatenate([self.depths, np.array(depths, dtype=np.int64)])
        self.are_signs = np.concatenate([self.are_signs, np.zeros(len(depths), dtype=bool)])
        return found

    def network(self, matrix: sparse.csr_array, ends: list[Fraction], activation: Activation) -> Network:
        """The network whose output neurons have these weights and thresholds on the signals."""
        depth = int(self.depths[matrix.indices].max(initial=0))
        needed = np.unique(matrix.indices) if depth else np.arange(self.n_features)
        plan: list[Ints] = []  # the signals of each layer, from the last hidden one down
        for level in range(depth, 0, -1):
            self._require_bits(needed)
            plan.append(needed)
            own = [self.rows[one - self.n_features][0] for one in plan[-1] if self.depths[one] == level]
            passed = plan[-1][self.depths[plan[-1]] < level]
            needed = np.unique(np.concatenate([*own, passed])).astype(np.int64)
        layers, below, values = [], np.arange(self.n_features), STEP
        for number, signals in enumerate(reversed(plan)):
            rows, thresholds = self._rows(signals, number + 1)
            kind = SIGN if self._is_sign(signals, number + 1) else STEP
            layers.append(self._layer(rows[:, below], thresholds, kind, values if number else None))
            below, values = signals, kind
        layers.append(self._layer(matrix[:, below], ends, activation, values if plan else None))
        return Network(tuple(layers))

    def ending_with(self, place: int) -> Network:
        """The network whose only output is the bit of this neuron."""
        inputs, weights, threshold = self.rows[place - self.n_features]
        row = sparse.csr_array((weights, inputs, [0, len(inputs)]), shape=(1, self.n_signals))
        return self.network(row, [Fraction(threshold)], STEP)

    def _require_bits(self, needed: Ints) -> None:
        if (self.depths[needed] == 0).any():
            raise ModelFileError("an input of the network reaches its output beside the steps, not through them")

    def _is_sign(self, signals: Ints, level: int) -> bool:
        own = signals[self.depths[signals] == level]
        return bool(len(own) and self.are_signs[signals].all())

    def _rows(self, signals: Ints, level: int) -> tuple[sparse.csr_array, list[Fraction]]:
        """The weights and thresholds of a layer over all signals; signals of earlier layers are copied."""
        copied = np.array([1.0])
        rows = [
            self.rows[one - self.n_features] if self.depths[one] == level else (np.array([one]), copied, 0.5)
            for one in signals.tolist()
        ]
        ends = np.cumsum([0, *(len(inputs) for inputs, _, _ in rows)])
        content: Any = (np.concatenate([w for _, w, _ in rows]), np.concatenate([i for i, _, _ in rows]), ends)
        return sparse.csr_array(content, shape=(len(rows), self.n_signals)), [Fraction(one[2]) for one in rows]

    def _layer(
        self, weights: sparse.csr_array, ends: list[Fraction], activation: Activation, below: Activation | None
    ) -> Layer:
        """A layer over bits, or over the signs 2 b - 1 instead: m·b >= t is then m·s >= 2 t - sum of m."""
        weights = sparse.csr_array(weights)
        weights.sort_indices()
        if below == SIGN:
            sums = combined(weights, filled(ONE, 1), weights.shape[1])
            ends = [2 * end - total for end, total in zip(ends, sums, strict=True)]
            if activation.gives_numbers:
                ends, weights = [end / 2 for end in ends], weights / 2
        return Layer(weights, self.rounded(ends), activation)

    def rounded(self, values: list[Fraction] | Rationals) -> Floats:
        """Thresholds as floats; a note if one is rounded."""
        flat = list(values)
        if not all(map(is_float, flat)):
            self.note("thresholds are rounded to float64")
        return np.array([float(one) for one in flat])
