"""Tensors whose entries are sums of signals, or steps of such sums.

    Sums    scale · (matrix x) + shift, entry by entry, x the features and bits; perhaps clipped to [low, high]
    Pooled  scale · (the largest of some entries of another tensor) + shift
    Steps   values[l] where l of the cuts are passed by a tensor of sums

Scales, shifts, cuts and values are rational numbers, in shapes that broadcast to that of the tensor, so that those of
a convolution are stored once per channel. Whatever is constant on pieces (Sign, Greater, Where, ...) only changes
the values of Steps; they become neurons where they are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepnet.errors import ModelFileError
from stepnet.model.arithmetic import Ints
from stepnet.model.foreign.neurons import Neurons
from stepnet.model.foreign.rationals import (
    ONE,
    ZERO,
    Rationals,
    chosen,
    combined,
    filled,
    product,
    rationals,
    times,
    uniform,
)

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Sums:
    """scale · (matrix x) + shift; the entries of the tensor are the rows of the matrix."""

    shape: Shape
    matrix: sparse.csr_array
    scale: Rationals
    shift: Rationals
    low: Rationals | None = None
    high: Rationals | None = None

    @classmethod
    def of_inputs(cls, shape: Shape) -> Sums:
        matrix = sparse.csr_array(sparse.eye_array(int(np.prod(shape))))
        return cls(shape, matrix, filled(ONE, len(shape)), filled(ZERO, len(shape)))

    def moved(self, factor: Rationals, offset: Rationals) -> Sums:
        """``factor · z + offset``, entry by entry."""
        low, high = _moved_ends(self, factor, offset)
        return replace(self, scale=self.scale * factor, shift=self.shift * factor + offset, low=low, high=high)

    def arranged(self, index: Ints, fill: Fraction = ZERO) -> Sums:
        """The entries at these places (-1: the number ``fill``), in the shape of the index."""
        flat, is_fill = index.ravel(), index.ravel() < 0
        matrix = self.matrix[np.where(is_fill, 0, flat)]
        if is_fill.any():
            matrix = sparse.csr_array(sparse.diags_array((~is_fill).astype(float)) @ matrix)
            matrix.eliminate_zeros()
        return Sums(
            index.shape,
            matrix,
            _taken(self.scale, self.shape, index),
            chosen(index < 0, fill, _taken(self.shift, self.shape, index)),
            *(None if end is None else _taken(end, self.shape, index) for end in (self.low, self.high)),
        )

    def linear(self, matrix: sparse.csr_array, shape: Shape, neurons: Neurons) -> Sums:
        """``matrix z``, in a new shape."""
        if self.low is not None:
            raise ModelFileError("it adds up numbers that are clipped, which are no steps; put a Sign after the Clip")
        weights, scale = matrix, uniform(self.scale)
        if scale is None:
            factors = np.broadcast_to(self.scale, self.shape).ravel()
            turned, is_exact = times(sparse.csr_array(matrix.T), factors.tolist())
            weights, scale = sparse.csr_array(turned.T), ONE
            _note_rounded(neurons, is_exact)
        found, is_exact = product(weights, self.matrix)
        _note_rounded(neurons, is_exact)
        shifts = np.array([*combined(matrix, _flat(self.shift, self.shape), matrix.shape[1]), None], dtype=object)[:-1]
        return Sums(shape, found, filled(scale, len(shape)), shifts.reshape(shape))

    def is_integer(self, n_features: int) -> bool:
        """Whether the entries are sums of integers over bits."""
        numbers = [*self.scale.ravel().tolist(), *self.shift.ravel().tolist()]
        is_whole = all(one.denominator == 1 for one in numbers) and bool((self.matrix.data % 1 == 0).all())
        return is_whole and bool((self.matrix.indices >= n_features).all()) and self.low is None

    def wide(self, n_signals: int) -> sparse.csr_array:
        """The matrix over all signals known by now."""
        matrix = self.matrix
        return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], n_signals))

    def plus(self, other: Sums, neurons: Neurons) -> Sums:
        if self.shape != other.shape:
            raise ModelFileError(f"it adds tensors of shapes {self.shape} and {other.shape}")
        size = int(np.prod(self.shape))
        both = Sums(
            (2, *self.shape),
            sparse.csr_array(sparse.vstack([self.wide(neurons.n_signals), other.wide(neurons.n_signals)])),
            np.stack([np.broadcast_to(one.scale, self.shape) for one in (self, other)]),
            np.stack([np.broadcast_to(one.shift, self.shape) for one in (self, other)]),
            None if self.low is other.low is None else filled(ZERO, 1),  # which linear() refuses
        )
        pair = sparse.csr_array(sparse.hstack([sparse.eye_array(size), sparse.eye_array(size)]))
        return both.linear(pair, self.shape, neurons)


@dataclass(frozen=True)
class Pooled:
    """scale · (the largest of the entries ``windows`` of ``of``) + shift; -1 stands for no entry."""

    of: Sums
    windows: Ints  # entries × window
    shape: Shape
    scale: Rationals
    shift: Rationals
    low: Rationals | None = None
    high: Rationals | None = None

    def moved(self, factor: Rationals, offset: Rationals) -> Pooled:
        low, high = _moved_ends(self, factor, offset)
        return replace(self, scale=self.scale * factor, shift=self.shift * factor + offset, low=low, high=high)

    def arranged(self, index: Ints, fill: Fraction = ZERO) -> Pooled:
        if (index < 0).any():
            raise ModelFileError("it pads the result of a MaxPool; pad before it")
        numbers = (self.scale, self.shift, self.low, self.high)
        taken: Any = (None if one is None else _taken(one, self.shape, index) for one in numbers)
        return Pooled(self.of, self.windows[index.ravel()], index.shape, *taken)


@dataclass(frozen=True)
class Steps:
    """values[l] where l cuts are passed; a cut (c, strict) is passed by z >= c, or by z > c if it is strict."""

    of: Sums | Pooled
    cuts: tuple[tuple[Rationals, bool], ...]
    values: tuple[Rationals, ...]

    @property
    def shape(self) -> Shape:
        return self.of.shape

    def mapped(self, function: Callable[[Rationals], Rationals]) -> Steps:
        return replace(self, values=tuple(function(one) for one in self.values))

    def arranged(self, index: Ints, fill: Fraction = ZERO) -> Steps:
        """Padding is an entry whose values are all the same."""
        cuts = tuple((_taken(cut, self.shape, index), strict) for cut, strict in self.cuts)
        values = tuple(chosen(index < 0, fill, _taken(one, self.shape, index)) for one in self.values)
        place = np.where(index < 0, 0, index) if isinstance(self.of, Pooled) else index
        return Steps(self.of.arranged(place), cuts, values)


Tensor = Sums | Pooled | Steps


def clipped(tensor: Tensor, low: Rationals, high: Rationals) -> Tensor:
    """The entries, at least ``low`` and at most ``high``."""
    if isinstance(tensor, Steps):
        return tensor.mapped(lambda values: np.minimum(np.maximum(values, low), high))
    if tensor.low is not None and tensor.high is not None:  # clipped before
        ends = (np.minimum(np.maximum(end, low), high) for end in (tensor.low, tensor.high))
        return replace(tensor, **dict(zip(("low", "high"), ends, strict=True)))
    return replace(tensor, low=low, high=high)


def compared(tensor: Tensor, cut: Rationals, strict: bool) -> Steps:
    """1 where the tensor reaches the cut, or exceeds it, and 0 elsewhere."""
    if isinstance(tensor, Steps):
        return tensor.mapped(lambda values: as_bits(values > cut if strict else values >= cut))
    return Steps(tensor, ((cut, strict),), (filled(ZERO, len(tensor.shape)), filled(ONE, len(tensor.shape))))


def as_bits(values: Any) -> Rationals:
    """0 and 1 from False and True."""
    return chosen(np.asarray(values, dtype=bool), ONE, ZERO)


def signs(tensor: Tensor, of_zero: Fraction) -> Steps:
    """-1, ``of_zero`` and 1."""
    zero = filled(ZERO, len(tensor.shape))
    if isinstance(tensor, Steps):
        return tensor.mapped(lambda values: chosen(values > zero, ONE, chosen(values < zero, -ONE, of_zero)))
    values = tuple(filled(Fraction(one), len(tensor.shape)) for one in (-1, of_zero, 1))
    return Steps(tensor, ((zero, False), (zero, True)), values)


def _moved_ends(tensor: Sums | Pooled, factor: Rationals, offset: Rationals) -> list[Rationals | None]:
    ends = [None if end is None else end * factor + offset for end in (tensor.low, tensor.high)]
    if ends[0] is not None and (factor < ZERO).any():
        if (factor > ZERO).any():
            raise ModelFileError("it scales clipped numbers up and down; clip after scaling")
        ends.reverse()
    return ends


def _flat(values: Rationals, shape: Shape) -> Rationals:
    """One number if all are the same, else one for each entry."""
    return values.ravel() if values.size == 1 else np.broadcast_to(values, shape).ravel()


def _taken(values: Rationals, shape: Shape, index: NDArray[Any]) -> Rationals:
    if values.size == 1:
        return values.reshape((1,) * index.ndim)
    return np.asarray(np.broadcast_to(values, shape).ravel()[np.where(index < 0, 0, index)])


def _note_rounded(neurons: Neurons, is_exact: bool) -> None:
    if not is_exact:
        neurons.note("weights that are products of others are rounded to float64")


def fitting(values: Any, shape: Shape) -> Rationals:
    """A constant as rational numbers that broadcast to a tensor of this shape."""
    array = rationals(values)
    array = array.reshape((1,) * (len(shape) - array.ndim) + array.shape) if array.ndim < len(shape) else array
    if np.broadcast_shapes(array.shape, shape) != shape:
        raise ModelFileError(f"a constant of shape {array.shape} does not fit a tensor of shape {shape}")
    return array
