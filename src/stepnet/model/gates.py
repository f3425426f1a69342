"""Gates: the Boolean threshold functions that an output neuron can compute from few hidden bits.

Hidden neurons can be complemented and permuted freely, so only monotone threshold functions with weights in falling
order have to be distinguished; a gate that ignores an input is an AND with a neuron that is always on. That leaves 1,
2, 5, 17 and 92 gates for 1 to 5 neurons.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from stepnet.model.arithmetic import Bools, Ints, activations
from stepnet.model.network import Layer

MAX_GATE_INPUTS = 5
# The largest integer weight that threshold functions of so many inputs need.
_LARGEST_WEIGHT = {1: 1, 2: 1, 3: 2, 4: 3, 5: 5}


@dataclass(frozen=True)
class Gate:
    """On where Σ v_j h_j >= θ, with integers v_1 >= v_2 >= ... >= 1 and 1 <= θ <= Σ v."""

    weights: tuple[int, ...]
    threshold: int

    @property
    def name(self) -> str:
        if self.threshold == sum(self.weights):
            return "AND"
        if all(weight >= self.threshold for weight in self.weights):
            return "OR"
        return f"[{' '.join(map(str, self.weights))} >= {self.threshold}]"

    @property
    def layer(self) -> Layer:
        """The gate as an output layer, with a threshold midway between two attainable sums."""
        return Layer(np.array([self.weights], dtype=np.float64), np.array([self.threshold - 0.5]))


@dataclass(frozen=True)
class Reading:
    """An output layer read as a gate.

    Input p of the gate is hidden neuron ``order[p]``, complemented if ``flipped[p]``. Neurons that the output ignores
    count as always on.
    """

    gate: Gate
    order: tuple[int, ...]
    flipped: tuple[bool, ...]
    ignored: tuple[bool, ...]


@cache
def gates(n_inputs: int) -> tuple[Gate, ...]:
    """All gates of ``n_inputs`` <= 5 inputs, those with small weights first."""
    return tuple(_gates_by_table(n_inputs).values())


@cache
def _gates_by_table(n_inputs: int) -> dict[bytes, Gate]:
    found: dict[bytes, Gate] = {}
    points = _points(n_inputs)
    candidates = combinations_with_replacement(range(_LARGEST_WEIGHT[n_inputs], 0, -1), n_inputs)
    for weights in sorted(candidates, key=sum):
        sums = points @ np.array(weights)
        for threshold in range(1, sum(weights) + 1):
            table = sums >= threshold
            if table.tobytes() not in found and all(_depends_on(table, j) for j in range(n_inputs)):
                found[table.tobytes()] = Gate(weights, threshold)
    return found


def read_gate(output: Layer) -> Reading | None:
    """The gate that an output neuron computes from its inputs; None if it is constant or has more than 5."""
    n_inputs = output.weights.shape[1]
    if n_inputs > MAX_GATE_INPUTS:
        return None
    weights = output.weights[0]
    order = np.argsort(-np.abs(weights), kind="stable")
    flipped = weights[order] < 0
    # A flipped input of the gate is the complement of the neuron's bit.
    bits = np.empty((2**n_inputs, n_inputs))
    bits[:, order] = _points(n_inputs) != flipped
    table = activations(bits, output.weights, output.thresholds)[1][:, 0] >= 0
    if table.all() or not table.any():
        return None
    ignored = np.array([not _depends_on(table, p) for p in range(n_inputs)])
    # AND with the ignored inputs gives a gate of all inputs, the same where those are on.
    with_ignored = table & _points(n_inputs)[:, ignored].all(axis=1)
    sorted_back = np.argsort(~ignored, kind="stable")  # an input that the gate cannot do without has the largest weight
    gate = _gates_by_table(n_inputs).get(_permuted(with_ignored, sorted_back).tobytes())
    if gate is None:
        return None
    return Reading(gate, *(tuple(part[sorted_back].tolist()) for part in (order, flipped, ignored)))


@cache
def _points(n_inputs: int) -> Bools:
    """The 2^d points of the cube; the bits of a point are those of its row number."""
    return (np.arange(2**n_inputs)[:, None] >> np.arange(n_inputs)[::-1] & 1).astype(bool)


def _depends_on(table: Bools, j: int) -> bool:
    cube = table.reshape((2,) * (len(table).bit_length() - 1))
    return bool((cube.take(0, axis=j) != cube.take(1, axis=j)).any())


def _permuted(table: Bools, order: Ints) -> Bools:
    cube = table.reshape((2,) * len(order))
    return np.ascontiguousarray(cube.transpose(order)).ravel()
