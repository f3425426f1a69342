"""A property of a network as a network: its output is 1 for the inputs that have the property.

The outputs of the network are numbers y = V h - t over levels h. An inequality c·y <= b is c·V h <= b + c·t, a neuron
on the levels with integer weights and a threshold between two values of its sum. A case is a neuron that is on if all
of its inequalities hold, and the output is on if some case is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy import sparse

from stepnet.errors import NotAcceptedError
from stepnet.model.arithmetic import Floats, quantum
from stepnet.model.network import Layer, Network
from stepnet.vnnlib.property import Case, Row

_LARGEST = 2**50  # of the integers in a neuron


def question_of(network: Network, cases: Sequence[Case]) -> Network:
    """The network that answers 1 where some of the cases, all of one box, is satisfied."""
    *below, last = network.layers
    if not last.activation.gives_numbers or not below:
        raise NotAcceptedError(
            f"a property is about outputs that are numbers over steps; this network ends with "
            f"{last.activation.name!r}. Give the file that ends with the numbers, without ArgMax, and with at least "
            f"one layer of steps."
        )
    rows = [row for case in cases for row in case.rows]
    values = np.array(below[-1].activation.values)
    layers = [*below, _inequalities(last, rows, values)]
    sizes = [len(case.rows) for case in cases]
    if max(sizes) > 1:
        owners = np.repeat(np.arange(len(cases)), sizes)
        all_hold = sparse.csr_array((np.ones(len(rows)), (owners, np.arange(len(rows)))), shape=(len(cases), len(rows)))
        layers.append(Layer(all_hold, np.array(sizes) - 0.5))
    if len(cases) > 1:
        layers.append(Layer(np.ones((1, len(cases))), [0.5]))
    return Network(tuple(layers))


def _inequalities(last: Layer, rows: Sequence[Row], values: Floats) -> Layer:
    """A neuron for each inequality, on where it holds."""
    grid = Fraction(2) ** quantum(values)
    places: list[int] = []
    weights: list[float] = []
    owners: list[int] = []
    ends: list[float] = []
    for number, (factors, bound) in enumerate(rows):
        terms, end = _terms(last, factors, bound)
        scale = Fraction(math.lcm(1, *(one.denominator for one in terms.values())))
        scale /= math.gcd(*(int(one * scale) for one in terms.values())) or 1
        integers = {place: -int(one * scale) for place, one in terms.items()}
        reach = sum(map(abs, integers.values()), 1) * max(1, math.ceil(float(np.abs(values).max())))
        if reach / grid > _LARGEST:
            raise NotAcceptedError("the weights of the output have too many digits for an exact comparison.")
        # sum <= end, where the sum is a multiple of the grid; beyond its range it does not matter by how much
        first = max(min(math.floor(end * scale / grid), math.ceil(reach / grid)), -math.ceil(reach / grid) - 1)
        ends.append(float(-(first + Fraction(1, 2)) * grid))
        places += integers
        weights += [float(one) for one in integers.values()]
        owners += [number] * len(integers)
    return Layer(sparse.csr_array((weights, (owners, places)), shape=(len(rows), last.n_inputs)), ends)


def _terms(last: Layer, factors: dict[int, Fraction], bound: Fraction) -> tuple[dict[int, Fraction], Fraction]:
    """The weights of the levels in c·y <= b, and the end that their sum must not exceed."""
    total: dict[int, Fraction] = {}
    for output, factor in factors.items():
        row = last.row(output)
        for place in np.flatnonzero(row).tolist():
            total[place] = total.get(place, Fraction(0)) + factor * Fraction(float(row[place]))
        bound += factor * Fraction(float(last.thresholds[output]))
    return {place: weight for place, weight in total.items() if weight}, bound
