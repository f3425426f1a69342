"""The hidden layers of a network as bits, one for each threshold of each neuron, and the ranges of bits.

A neuron with values v_0, ..., v_L and thresholds t_1 <= ... <= t_L has the bits b_l = [w·h >= t_l], and its output is
v_0 + Σ (v_l - v_{l-1}) b_l. So every sum above the first layer is linear in bits. ``ranges`` moves what is known about
bits upwards, layer by layer, with a bound on every rounding error; where all numbers are small multiples of one power
of two there is none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from stepnet.model.activations.staircase import Staircase
from stepnet.model.arithmetic import Bools, Floats, Ints, quantum
from stepnet.model.network import Layer, Network
from stepnet.uncertainty.above import ranges_of
from stepnet.uncertainty.hyperplanes import Sides

_UNIT = 2.0**-52
_EXACT = 2.0**50
_MOST_BITS = 900


class Rival(NamedTuple):
    """Another answer needs Σ coefficients · bits >= least, where the bits are those of the last hidden layer."""

    coefficients: Floats
    least: float


class Sums(NamedTuple):
    """Σ matrix · bits of the layer below >= least for each bit of a layer; without it, <= most. Both are loose."""

    matrix: Any
    up: Any
    down: Any
    least: Floats
    most: Floats
    sizes: Floats  # relative to which sums are rounded


class Circuit:
    """Bits of all hidden layers, one after the other; those of the first layer are the sides of its hyperplanes."""

    def __init__(self, network: Network) -> None:
        layers = network.layers if len(network.layers) > 1 else _with_output(network.layers[0])
        self.network = network
        self.hidden, self.last = layers[:-1], layers[-1]
        self.above = Network(layers[1:])
        widths = [layer.width * layer.activation.n_thresholds for layer in self.hidden]
        self.ends = np.cumsum([0, *widths])
        self.twins = _twins(self.hidden[0])
        pairs = zip(self.hidden, self.hidden[1:], strict=False)
        self.sums = [_sums(below, above.matrix, above.thresholds.reshape(above.width, -1)) for below, above in pairs]

    @property
    def n_bits(self) -> int:
        return int(self.ends[-1])

    def part(self, k: int) -> slice:
        """The bits of hidden layer k."""
        return slice(int(self.ends[k]), int(self.ends[k + 1]))

    def ranges(self, low: Sides, high: Sides) -> tuple[Sides, Sides, Bools]:
        """The smallest and largest bits (rows × bits), given what is fixed, and which rows are possible at all."""
        low, high = low.copy(), high.copy()
        for twins in self.twins:
            low[:, twins] = low[:, twins].max(axis=1, keepdims=True)
            high[:, twins] = high[:, twins].min(axis=1, keepdims=True)
        self._order(0, low, high)
        for k, sums in enumerate(self.sums):
            bottom, top = _range(sums, low[:, self.part(k)], high[:, self.part(k)])
            own = self.part(k + 1)
            low[:, own] |= (bottom > sums.most + sums.sizes).view(np.int8)
            high[:, own] &= (top >= sums.least - sums.sizes).view(np.int8)
            self._order(k + 1, low, high)
        return low, high, np.asarray((low <= high).all(axis=1))

    def _order(self, k: int, low: Sides, high: Sides) -> None:
        """Whoever reaches a threshold reaches all lower ones."""
        layer, own = self.hidden[k], self.part(k)
        if layer.activation.n_thresholds == 1:
            return
        shape = (len(low), layer.width, -1)
        rising, falling = low[:, own].reshape(shape), high[:, own].reshape(shape)
        low[:, own] = np.maximum.accumulate(rising[..., ::-1], axis=2)[..., ::-1].reshape(len(low), -1)
        high[:, own] = np.minimum.accumulate(falling, axis=2).reshape(len(low), -1)

    def tops(self, rival: Rival, low: Sides, high: Sides) -> Floats:
        """For each row the largest sum of a rival, less what it needs; rounded up."""
        own, terms = self.part(len(self.hidden) - 1), rival.coefficients
        best = high[:, own] @ np.maximum(terms, 0.0) + low[:, own] @ np.minimum(terms, 0.0)
        return np.asarray(best - rival.least + len(terms) * _UNIT * (np.abs(terms).sum() + abs(rival.least)))

    def rivals(self, answer: int) -> list[Rival] | None:
        """What each other answer needs; None if the output does not say."""
        conditions = self.last.activation.rivals(self.last.weights, self.last.thresholds, answer)
        if conditions is None:
            return None
        found, grid = [], quantum(self.last.weights)
        for weights, least, is_strict in conditions:
            sums = _sums(self.hidden[-1], weights[None], np.array([[least]]), grid)
            # A sum that must be more than this is one whose negative is below the negative of this.
            above = -_sums(self.hidden[-1], -weights[None], np.array([[-least]]), grid).most[0]
            found.append(Rival(_dense(sums.matrix)[0], float((above if is_strict else sums.least[0]) - sums.sizes[0])))
        return found

    def answer(self, sides: Sides) -> int:
        """The answer for first-layer sides, exact."""
        first = self.hidden[0]
        levels = sides.reshape(1, first.width, -1).sum(axis=2).astype(np.int16)
        return int(self.above.predict(first.outputs(levels))[0])

    def could_miss(self, low: Sides, high: Sides, answer: int) -> Bools:
        """For each row, whether bits in between could give another answer; in doubt, yes."""
        own, layer, last = self.part(len(self.hidden) - 1), self.hidden[-1], self.last
        shape = (len(low), layer.width, -1)
        lowest, highest = (end[:, own].reshape(shape).sum(axis=2) for end in (low, high))
        least, most = ranges_of(layer, lowest, highest)
        return last.activation.could_miss(last.matrix, last.thresholds, least, most, np.full(len(low), answer))


def _twins(first: Layer) -> list[Ints]:
    """Sets of first-layer bits of the same hyperplane, up to powers of two: they are always equal."""
    n_thresholds = first.activation.n_thresholds
    planes = np.column_stack([np.repeat(first.weights, n_thresholds, axis=0), first.thresholds.ravel()])
    exponents = np.frexp(np.abs(planes).max(axis=1))[1][:, None]
    scaled = np.ldexp(planes, -exponents)
    scaled = scaled if (np.ldexp(scaled, exponents) == planes).all() else planes
    _, which, counts = np.unique(scaled, axis=0, return_inverse=True, return_counts=True)
    return [np.flatnonzero(which.ravel() == number) for number in np.flatnonzero(counts > 1)]


def _with_output(layer: Layer) -> tuple[Layer, Layer]:
    """A single layer answers the level of its first neuron: the same in two layers."""
    levels = np.arange(layer.activation.n_thresholds + 1.0)
    counting = Layer(layer.weights[:1], layer.thresholds[:1], Staircase(tuple(levels)))
    return counting, Layer(
        [[1.0]], (levels[1:] - 0.5).reshape(layer.activation.threshold_shape(1)), counting.activation
    )


def _sums(below: Layer, matrix: Any, thresholds: Floats, grid: int | None = None) -> Sums:
    """The sums of a layer as sums over the bits below, one row for each threshold.

    All weights are multiples of 2 ** grid.
    """
    values = np.array(below.activation.values)
    steps = sparse.csr_array(np.diff(values)[None])
    weights = sparse.csr_array(matrix)
    bits = sparse.csr_array(sparse.kron(weights, steps)) if len(values) > 2 else weights * float(np.diff(values)[0])
    constant = np.asarray(weights.sum(axis=1)).ravel() * values[0]
    sizes = np.asarray(abs(weights).sum(axis=1)).ravel() * np.abs(values).max()
    grid = (quantum(weights.data) if grid is None else grid) + quantum(values)
    error = (weights.shape[1] + 4) * len(values) * _UNIT * (sizes[:, None] + np.abs(thresholds))
    least = thresholds - constant[:, None]
    if abs(grid) < _MOST_BITS and max(2 * sizes.max(initial=0.0), np.abs(thresholds).max()) < _EXACT * 2.0**grid:
        unit = 2.0**grid  # all sums are multiples of it, and exact; what lies between two of them is settled
        exact = np.ceil(thresholds / unit) * unit - constant[:, None]
        least, most, error = exact, exact - unit, np.zeros_like(error)
    else:
        most = least
    n_thresholds = thresholds.shape[1]
    stored = sparse.csr_array(sparse.kron(bits, np.ones((n_thresholds, 1)))) if n_thresholds > 1 else bits
    full = stored if stored.nnz < 0.2 * stored.shape[0] * stored.shape[1] else stored.toarray()
    up, down = (
        (full.maximum(0), full.minimum(0)) if sparse.issparse(full) else (np.maximum(full, 0), np.minimum(full, 0))
    )
    return Sums(full, up, down, least.ravel(), most.ravel(), error.ravel())


def _range(sums: Sums, low: Sides, high: Sides) -> tuple[Floats, Floats]:
    """The smallest and largest sums (rows × bits)."""
    least, most = low.T.astype(np.float64), high.T.astype(np.float64)
    return np.asarray(sums.up @ least + sums.down @ most).T, np.asarray(sums.up @ most + sums.down @ least).T


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
