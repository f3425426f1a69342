"""Sums of conjunctions: networks whose second layer is ANDs of bits, read for many rows at once.

Trees as networks have thousands of such neurons, each of which is on for few rows. A neuron with the weights ±1 on bits
and a threshold just below the number of its positive weights is on where these bits are on and the others off. 64 rows
are one word, so an AND of bits is one operation for all of them; and where the weights of the last layer are multiples
of one number, with sums that floats hold without rounding, its sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepnet.model.activations.base import Activation, Levels
from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Bools, Floats, Ints, activations, sums_of_bits_are_exact

if TYPE_CHECKING:
    from stepnet.model.network import Layer

_WORD = 64  # rows
_CELLS = 2**25  # bits of neurons and rows at a time
_MANY = 500  # neurons: with fewer, products of matrices are as fast


@dataclass(frozen=True)
class Questions:
    """A first layer, whose neurons ``x[feature] >= threshold`` need no sums."""

    features: Ints  # of such neurons
    cuts: Floats
    simple: Ints  # their numbers
    others: Ints
    weights: Any  # of the others
    thresholds: Floats

    @classmethod
    def of(cls, layer: Layer) -> Questions:
        matrix = sparse.csr_array(layer.matrix)
        lengths = np.diff(matrix.indptr)
        first = np.minimum(matrix.indptr[:-1], max(matrix.nnz - 1, 0))
        is_simple = (lengths == 1) & (matrix.data[first] == 1.0) if matrix.nnz else np.zeros(layer.width, dtype=bool)
        simple, others = np.flatnonzero(is_simple), np.flatnonzero(~is_simple)
        weights = matrix[others].toarray()
        return cls(
            matrix.indices[first[simple]], layer.thresholds[simple], simple, others, weights, layer.thresholds[others]
        )

    def bits(self, rows: Floats) -> Bools:
        found = np.empty((len(rows), len(self.simple) + len(self.others)), dtype=bool)
        found[:, self.simple] = rows[:, self.features] >= self.cuts
        if len(self.others):
            found[:, self.others] = activations(rows, self.weights, self.thresholds)[1] >= 0
        return found


@dataclass(frozen=True)
class SumOfConjunctions:
    """A network of two hidden layers whose second one is ANDs."""

    questions: Questions
    literals: NDArray[Any]  # neuron × place: which bit, or with the number of bits added, which bit must be off
    counts: Ints  # for each place, how many neurons have so many literals: those with more come first
    weights: Any  # outputs × neurons, sparse
    thresholds: Floats
    activation: Activation

    @classmethod
    def of(cls, layers: Sequence[Layer]) -> SumOfConjunctions | None:
        """None if the network has another form, or too few neurons for it to matter."""
        if len(layers) != 3 or layers[1].width < _MANY or any(layer.activation != STEP for layer in layers[:2]):
            return None
        first, second, last = layers
        matrix, weights = sparse.csr_array(second.matrix), sparse.csr_array(last.matrix)
        lengths = np.diff(matrix.indptr)
        n_on = np.add.reduceat(np.append(matrix.data > 0, False), matrix.indptr[:-1]) * (lengths > 0)
        is_and = (second.thresholds > n_on - 1) & (second.thresholds <= n_on) & (lengths > 0)
        if not (is_and.all() and (np.abs(matrix.data) == 1.0).all()):
            return None
        if not sums_of_bits_are_exact(weights, last.thresholds):
            return None
        order = np.argsort(-lengths, kind="stable")
        return cls(
            Questions.of(first),
            _literals(matrix[order]),
            (lengths[:, None] > np.arange(lengths.max())).sum(axis=0),
            sparse.csr_array(weights[:, order]),
            last.thresholds.reshape(last.width, -1),
            last.activation,
        )

    @property
    def n_rows(self) -> int:
        """How many rows to read at a time."""
        return max(_WORD, _CELLS // len(self.literals) // _WORD * _WORD)

    def read(self, rows: Floats) -> tuple[Floats, Levels]:
        """Sums less the first threshold, and the exact levels, of the last layer."""
        sums = (self.weights @ self._on(rows)).toarray().T
        if self.activation.gives_numbers:
            levels = np.empty((len(rows), 0), dtype=np.int16)
        else:
            levels = self.activation.answers(sums, self.thresholds)[:, None].astype(np.int16)
        return sums - self.thresholds[:, 0], levels

    def _on(self, rows: Floats) -> sparse.csr_array:
        """Neurons × rows, 1 where the neuron is on."""
        bits = _packed(self.questions.bits(rows))
        table = np.vstack([bits, ~bits])
        on = table[self.literals[:, 0]]
        for place in range(1, self.literals.shape[1]):
            some = self.counts[place]
            on[:some] &= table[self.literals[:some, place]]
        cells = np.unpackbits(on.view(np.uint8), axis=1, count=len(rows), bitorder="little").view(bool)
        places = np.flatnonzero(cells)
        ends = np.concatenate([[0], np.cumsum(np.count_nonzero(cells, axis=1))])
        return sparse.csr_array((np.ones(len(places)), places % len(rows), ends), shape=cells.shape)


def _literals(matrix: sparse.csr_array) -> NDArray[Any]:
    """The bits of each neuron in a row of a full array; what is beyond the last one is not read."""
    lengths = np.diff(matrix.indptr)
    found = np.zeros((len(lengths), lengths.max()), dtype=np.int32)
    place = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], lengths)
    off = np.where(matrix.data < 0, matrix.shape[1], 0)
    found[np.repeat(np.arange(len(lengths)), lengths), place] = matrix.indices + off
    return found


def _packed(bits: Bools) -> NDArray[np.uint64]:
    """Neurons × words, each of 64 rows."""
    n_words = max(1, -(-len(bits) // _WORD))
    padded = np.zeros((n_words * _WORD, bits.shape[1]), dtype=bool)
    padded[: len(bits)] = bits
    return np.ascontiguousarray(np.packbits(padded, axis=0, bitorder="little").T).view(np.uint64)
