"""The answers of a foreign network as the last layer of a network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from stepnet.errors import ModelFileError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import Staircase
from stepnet.model.arithmetic import quantum
from stepnet.model.foreign.bits import as_sums
from stepnet.model.foreign.neurons import Neurons
from stepnet.model.foreign.operators import Looked, Ordered, Winner
from stepnet.model.foreign.rationals import ZERO, is_float, rationals, times, uniform
from stepnet.model.foreign.tensors import Pooled, Steps, Sums, compared
from stepnet.model.network import Layer, Network


@dataclass(frozen=True)
class Answers:
    """A network, and the answers of the file by code; None if they are numbers."""

    network: Network
    classes: Any = None


def answers_of(value: Any, neurons: Neurons) -> Answers:
    """The network that gives the answers of a tensor."""
    if isinstance(value, Winner):
        count = int(np.prod(value.sums.shape))
        return Answers(_argmax(value.sums, neurons), np.arange(count) if value.labels is None else value.labels)
    if isinstance(value, Looked):
        return _looked_up(value, neurons)
    if isinstance(value, Steps) and int(np.prod(value.shape)) == 1:
        values = sorted({one.item() for one in value.values})
        if len(values) == 2:
            middle = rationals(np.array(float(sum(values) / 2))).reshape((1,) * len(value.shape))
            return Answers(_step(compared(value, middle, False), neurons), np.array([float(one) for one in values]))
    if isinstance(value, Ordered):
        neurons.note("numbers are those before the last Softmax or Sigmoid, which keeps their order")
        value = value.sums
    if not isinstance(value, Sums | Steps | Pooled):
        raise ModelFileError("the output does not depend on the input")
    return Answers(_numbers(as_sums(value, neurons), neurons))


def argmax_of(value: Any, neurons: Neurons) -> Any:
    """The place of the largest number, for outputs that are several numbers."""
    value = value.sums if isinstance(value, Ordered) else value
    if not isinstance(value, Sums | Steps | Pooled):
        return value
    sums = as_sums(value, neurons)
    return value if int(np.prod(sums.shape)) == 1 else Winner(sums)


def _rows(sums: Sums, neurons: Neurons) -> tuple[sparse.csr_array, list[Fraction], list[Fraction]]:
    """Matrix, scales and shifts, one for each entry."""
    if sums.low is not None:
        raise ModelFileError("the output is clipped, which is no step of sums; leave out the last Clip")
    scales, shifts = (np.broadcast_to(one, sums.shape).ravel().tolist() for one in (sums.scale, sums.shift))
    return sums.wide(neurons.n_signals), scales, shifts


def _argmax(sums: Sums, neurons: Neurons) -> Network:
    matrix, scales, shifts = _rows(sums, neurons)
    scale = uniform(sums.scale)
    if scale is None or scale == ZERO:
        matrix, is_exact = times(matrix, scales)
        if not is_exact:
            neurons.note("weights of the output are rounded to float64")
        return neurons.network(matrix, [-one for one in shifts], ARGMAX)
    ends = [-one / abs(scale) for one in shifts]
    is_over_bits = not len(matrix.indices) or matrix.indices.min() >= neurons.n_features
    if is_over_bits and not all(map(is_float, ends)):
        ends = _on_grid(ends, Fraction(2) ** quantum(matrix.data))
    return neurons.network(matrix if scale > 0 else sparse.csr_array(-matrix), ends, ARGMAX)


def _on_grid(ends: list[Fraction], grid: Fraction) -> list[Fraction]:
    """Sums move on a grid, so that of the parts of thresholds below it only the order matters."""
    parts = [end / grid - math.floor(end / grid) for end in ends]
    ranks = {part: rank for rank, part in enumerate(sorted(set(parts)))}
    step = Fraction(1, 1 << len(ranks).bit_length())
    return [(math.floor(end / grid) + ranks[part] * step) * grid for end, part in zip(ends, parts, strict=True)]


def _numbers(sums: Sums, neurons: Neurons) -> Network:
    matrix, scales, shifts = _rows(sums, neurons)
    matrix, is_exact = times(matrix, scales)
    if not is_exact:
        neurons.note("weights of the output are rounded to float64")
    return neurons.network(matrix, [-one for one in shifts], IDENTITY)


def _looked_up(value: Looked, neurons: Neurons) -> Answers:
    n_labels = len(value.labels)
    if int(np.prod(value.place.shape)) != 1:
        raise ModelFileError("the output looks up several answers; only one answer per row can be read")
    if n_labels == 2:
        half = rationals(np.full((1,) * len(value.place.shape), 0.5))
        return Answers(_step(compared(value.place, half, False), neurons), value.labels)
    network = _numbers(value.place, neurons)
    *below, last = network.layers  # whose number is the place; it reaches level l at l - 1/2
    ends = [Fraction(2 * level - 1, 2) + Fraction(float(last.thresholds[0])) for level in range(1, n_labels)]
    levels = Layer(last.matrix, neurons.rounded(ends)[None], Staircase(tuple(range(n_labels))))
    return Answers(Network((*below, levels)), value.labels)


def _step(bit: Steps, neurons: Neurons) -> Network:
    """A network that ends with the neuron of a bit."""
    sums = as_sums(bit, neurons)
    if not sums.matrix.nnz:
        raise ModelFileError("the output does not depend on the input")
    place, is_on = int(sums.matrix.indices[0]), sums.matrix.data[0] > 0
    if not is_on:  # one more neuron, on where this one is off
        row = sparse.csr_array(([-1.0], ([0], [place])), shape=(1, neurons.n_signals))
        place = int(neurons.add(row, np.array([-0.5]))[0])
    return neurons.ending_with(place)
