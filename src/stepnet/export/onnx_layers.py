"""The layers of a network as nodes of an ONNX graph.

Sums are of integers that floats hold exactly, in several digits if one is not enough, so there are no rounding errors.
For this an exact first layer cuts its rows into slices of few digits; otherwise it compares plain sums of floats with
thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.export.integers import Sums, digits, n_digits, over_bits, scaled
from stepnet.export.onnx_graph import Graph, carried
from stepnet.model.arithmetic import slice_bits, slices
from stepnet.model.network import Layer, Network
from stepnet.model.rules import Number
from stepnet.tables.operations import Operations

_OPERATORS = {  # and the number that changes nothing
    "add": ("Add", 0.0),
    "subtract": ("Sub", 0.0),
    "multiply": ("Mul", 1.0),
    "divide": ("Div", 1.0),
    "at_least": ("Max", -np.inf),
    "at_most": ("Min", np.inf),
}
_N_SLICES, _SCALE_STEP = 5, 8  # slices per row, and bits between the scales that rows may have


def scaled_rows(graph: Graph, arithmetic: Sequence[Operations]) -> None:
    """Let the rows of the graph be those after the operations on their features, each with its own rounding."""
    for step in range(max(map(len, arithmetic), default=0)):
        now = [operations[step] if step < len(operations) else ("", 0.0) for operations in arithmetic]
        for name, (operator, nothing) in _OPERATORS.items():
            if any(operation == name for operation, _ in now):
                numbers = [number if operation == name else nothing for operation, number in now]
                graph.rows = graph.add(operator, graph.rows, graph.floats(numbers))
        if any(operation == "round" for operation, _ in now):
            is_rounded = graph.constant(np.array([operation == "round" for operation, _ in now]))
            graph.rows = graph.add("Where", is_rounded, graph.add("Round", graph.rows), graph.rows)


def hidden_layers(graph: Graph, network: Network) -> str:
    """The bits of the last layer whose neurons have levels; the rows themselves if there is none."""
    first, *_ = network.layers
    if not first.activation.has_levels:
        return graph.rows
    repeated = np.repeat(first.weights, first.activation.n_thresholds, axis=0)
    if graph.is_exact:
        signals = _exact_signs(graph, _exact_rows(repeated, first.thresholds.ravel()))
    else:
        signals = graph.is_on(graph.sums(graph.rows, repeated), first.thresholds.ravel())
    for below, layer in pairwise(network.layers):
        if layer.activation.has_levels:
            signals = _bits(graph, signals, over_bits(layer, below.activation.values))
    return signals


def codes(graph: Graph, network: Network, signals: str) -> str:
    """The class code of every row: the level of the output, or the index of the largest output."""
    *below, last = network.layers
    if last.activation.has_levels:
        level = graph.add("ReduceSum", signals, graph.constant(np.array([1])), keepdims=0)
        return graph.add("Cast", level, to=graph.onnx.TensorProto.INT64)
    if below:
        return _largest_over_bits(graph, signals, over_bits(last, below[-1].activation.values))
    if not graph.is_exact:
        return _largest(graph, graph.rows, last.weights, last.thresholds)
    rows = _exact_rows(last.weights, last.thresholds)
    return _winner(
        graph, _exact_signs(graph, [_difference(rows[k], rows[j]) for k, j in _pairs(last.width)]), last.width
    )


def _largest_over_bits(graph: Graph, signals: str, sums: Sums) -> str:
    """The index of the neuron with the largest sum, compared exactly."""
    if sums.largest < 2**graph.mantissa:
        return _largest(graph, signals, sums.factor * np.array(sums.weights, dtype=np.float64), sums.ends)
    pairs = _pairs(len(sums.weights))
    weights = [[sums.factor * one for one in _difference(sums.weights[k], sums.weights[j])] for k, j in pairs]
    ends = [_difference(sums.thresholds[k], sums.thresholds[j]) for k, j in pairs]
    return _winner(graph, _bits(graph, signals, Sums(weights, ends)), len(sums.weights))


def _largest(graph: Graph, signals: str, weights: Any, thresholds: Any) -> str:
    """The index of the neuron with the largest sum, compared in floats."""
    scores = graph.add("Sub", graph.sums(signals, weights), graph.floats(thresholds))
    return graph.add("ArgMax", scores, axis=1, keepdims=0)


def _winner(graph: Graph, bits: str, n_classes: int) -> str:
    """The neuron that wins all of its pairs, given for each pair whether the first sum reaches the second."""
    first, second = np.triu_indices(n_classes, 1)
    one_hot = np.eye(n_classes)
    as_second = np.arange(n_classes)  # the number of pairs whose second neuron it is, which it wins if the bit is off
    counts = graph.add("Add", graph.sums(bits, one_hot[:, first] - one_hot[:, second]), graph.floats(as_second))
    return graph.add("ArgMax", counts, axis=1, keepdims=0)


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    return list(combinations(range(n_classes), 2))


def _difference(left: Sequence[Number], right: Sequence[Number]) -> list[Number]:
    return [a - b for a, b in zip(left, right, strict=True)]


def outputs(graph: Graph, network: Network, signals: str) -> str:
    """The sums of the last layer; added in slices like predict's if the values need only one slice."""
    *below, last = network.layers
    if below:
        width, values = below[-1].width, below[-1].activation.values
        blocks = np.kron(np.eye(width), np.ones(len(values) - 1))
        levels = graph.add("Cast", graph.sums(signals, blocks), to=graph.onnx.TensorProto.INT64)
        signals = graph.add("Gather", graph.floats(values), levels)
    if not is_one_slice(network) or graph.mantissa != 53:
        return graph.add("Sub", graph.sums(signals, last.weights), graph.floats(last.thresholds))
    total, rest = graph.floats(-last.thresholds), graph.floats(np.zeros(last.width))
    for part_weights in slices(last.weights, slice_bits(last.weights.shape[1])) or [np.zeros_like(last.weights)]:
        part, before = graph.sums(signals, part_weights), total
        total = graph.add("Add", before, part)
        added = graph.add("Sub", total, before)
        lost = graph.add("Sub", before, graph.add("Sub", total, added))
        rest = graph.add("Add", rest, graph.add("Add", lost, graph.add("Sub", part, added)))
    return graph.add("Add", total, rest)


def is_one_slice(network: Network) -> bool:
    """Whether every possible row of values of the layer below the last is one slice, which predict does not cut."""
    layers = network.layers
    if len(layers) == 1:
        return False
    values = np.array(layers[-2].activation.values)
    n_bits = slice_bits(layers[-1].weights.shape[1])
    rows = [values[np.abs(values) <= largest] for largest in np.unique(np.abs(values))]
    return all(len(slices(row[None, :], n_bits)) <= 1 for row in rows)


def _bits(graph: Graph, signals: str, sums: Sums) -> str:
    """Which thresholds are reached, compared exactly."""
    weights = [row for row, ends in zip(sums.weights, sums.thresholds, strict=True) for _ in ends]
    ends = sums.ends
    if sums.largest < 2**graph.mantissa:
        return graph.is_on(graph.sums(signals, weights), ends)
    n_bits = graph.mantissa - 1 - (len(weights[0]) + 2).bit_length()
    count = n_digits(sums.largest, n_bits)
    row_digits = np.array([[digits(weight, n_bits, count) for weight in row] for row in weights], dtype=graph.dtype)
    end_digits = np.array([digits(end, n_bits, count) for end in ends], dtype=graph.dtype)
    places = [
        graph.add("Sub", graph.sums(signals, row_digits[:, :, k]), graph.floats(end_digits[:, k])) for k in range(count)
    ]
    return graph.is_on(carried(graph, places, n_bits), 0.0)


def _exact_rows(weights: NDArray[np.float64], thresholds: NDArray[np.float64]) -> list[list[Fraction]]:
    """Weights for rows extended by a 1."""
    return [
        [*map(Fraction, row), -Fraction(end)] for row, end in zip(weights.tolist(), thresholds.tolist(), strict=True)
    ]


def exact_bits(first: Layer) -> int:
    """How many binary digits below a row's largest entry an exact first layer is guaranteed to use."""
    return _N_SLICES * _slice_digits(first.weights.shape[1] + 1) - _SCALE_STEP


def _slice_digits(n_terms: int) -> int:
    """Digits per slice, such that the products of two slices, added over all slices at a place, stay below 2^52."""
    return (53 - (n_terms * _N_SLICES).bit_length()) // 2


def _exact_signs(graph: Graph, rows: list[list[Fraction]]) -> str:
    """1 where the weights times (x, 1) are not negative, else 0, computed without rounding.

    Both factors are integers in digits of few bits: weights are scaled exactly, neuron by neuron, and a row is scaled
    by a power of two above its entries.
    """
    n_bits = _slice_digits(len(rows[0]))
    integers = [scaled(row)[0] for row in rows]
    largest = max(abs(weight) for row in integers for weight in row)
    count = n_digits(largest, n_bits)
    weights = np.array([[digits(weight, n_bits, count) for weight in row] for row in integers], dtype=np.float64)
    left = _row_slices(graph, n_bits)
    right = [graph.floats(weights[:, :, t].T) for t in range(count)]
    places: dict[int, str] = {}
    for s, one in enumerate(left, start=1):
        for t, other in enumerate(right):
            part = graph.add("MatMul", one, other)
            places[t - s] = graph.add("Add", places[t - s], part) if t - s in places else part
    return graph.is_on(carried(graph, [places[place] for place in sorted(places)], n_bits), 0.0)


def _row_slices(graph: Graph, n_bits: int) -> list[str]:
    """Rows (x, 1), scaled by a power of two into (-1, 1), as integers of ``n_bits`` digits, highest first."""
    powers = 2.0 ** np.arange(0, 1024, _SCALE_STEP)
    one = graph.add(
        "ReduceSum", graph.add("Mul", graph.rows, graph.floats(0.0)), graph.constant(np.array([1])), keepdims=1
    )
    row = graph.add("Concat", graph.rows, graph.add("Add", one, graph.floats(1.0)), axis=1)
    size = graph.add("ReduceMax", graph.add("Abs", row), axes=[1], keepdims=1)
    number = graph.add("ReduceSum", graph.is_on(size, powers), graph.constant(np.array([1])), keepdims=1)
    scales = graph.floats(np.ldexp(1.0, -_SCALE_STEP * np.arange(len(powers) + 1)))
    rest = graph.add(
        "Mul", row, graph.add("Gather", scales, graph.add("Cast", number, to=graph.onnx.TensorProto.INT64))
    )
    found = []
    for _ in range(_N_SLICES):
        rest = graph.add("Mul", rest, graph.floats(2.0**n_bits))
        found.append(graph.add("Round", rest))
        rest = graph.add("Sub", rest, found[-1])
    return found
