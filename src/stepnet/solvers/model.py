"""Model: a mixed-integer program as sparse arrays, built in whole blocks.

    minimise  cost·x + squares·x² + offset   subject to   row_lower <= A x + (products) <= row_upper,
    lower <= x <= upper,
    x_c integer where ``integer[c]``.

Products ``coefficient · x_a · x_b`` occur only in bilinear programs; most solvers reject them.
Costs of squares are never negative, so the objective is convex.
Rows with a big-M name the bit that switches them, for solvers that support implications.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from stepnet.model.arithmetic import Floats

Variables = NDArray[np.int64]
Term = tuple[Variables, ArrayLike]
Product = tuple[Variables, Variables, ArrayLike]


@dataclass(frozen=True)
class Products:
    """Products of two columns, one entry per product."""

    rows: Variables
    first: Variables
    second: Variables
    coefficients: Floats


@dataclass(frozen=True)
class Conditions:
    """Rows that hold only if a bit has a value, one entry per row."""

    rows: Variables
    bits: Variables
    values: Variables


@dataclass(frozen=True)
class Model:
    """A finished program; :class:`ModelBuilder` makes it."""

    cost: Floats
    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    matrix: sparse.csr_array
    row_lower: Floats
    row_upper: Floats
    products: Products
    conditions: Conditions
    offset: float
    names: list[str] = field(repr=False)
    squares: Floats  # the cost of x² of every column

    @property
    def n_columns(self) -> int:
        return len(self.cost)

    @property
    def n_rows(self) -> int:
        return len(self.row_lower)

    @property
    def is_bilinear(self) -> bool:
        return len(self.products.rows) > 0

    @property
    def has_squares(self) -> bool:
        return bool(self.squares.any())

    def objective(self, point: Floats) -> float:
        return float(self.cost @ point + self.squares @ (point * point)) + self.offset

    @cached_property
    def is_integral(self) -> bool:
        """Whether all variables and all numbers except the costs are integers, as constraint solvers require."""
        numbers = np.concatenate([self.lower, self.upper, self.matrix.data, self.row_lower, self.row_upper])
        finite = numbers[np.isfinite(numbers)]
        return bool(self.integer.all() and not self.has_squares and (finite == np.round(finite)).all())

    def with_objective_at_most(self, limit: float) -> Model:
        """The program with one more row, objective <= limit; not for programs with squares."""
        return self._extended(self.cost[None, :], -np.inf, limit - self.offset)

    def with_tangents(self, places: Floats) -> Model:
        """The program with a column p >= x² for each square, by tangents p >= 2 a x - a² at the places a.

        ``places`` is (tangents × squares). The new columns come last, with the costs of the squares.
        """
        squared = np.flatnonzero(self.squares)
        n_tangents, n_squares = places.shape
        wide = replace(
            self,
            cost=np.append(self.cost, self.squares[squared]),
            lower=np.append(self.lower, np.zeros(n_squares)),
            upper=np.append(self.upper, np.full(n_squares, np.inf)),
            integer=np.append(self.integer, np.zeros(n_squares, dtype=bool)),
            matrix=sparse.csr_array(sparse.hstack([self.matrix, sparse.csr_array((self.n_rows, n_squares))])),
            names=[*self.names, *(f"q_{number}" for number in range(n_squares))],
            squares=np.zeros(self.n_columns + n_squares),
        )
        numbers = np.arange(n_tangents * n_squares)
        columns = np.tile(np.arange(n_squares), n_tangents)
        entries = np.concatenate([np.ones(len(numbers)), -2.0 * places.ravel()])
        at = (np.tile(numbers, 2), np.concatenate([self.n_columns + columns, squared[columns]]))
        rows = sparse.coo_array((entries, at), shape=(len(numbers), wide.n_columns))
        return wide._extended(rows, -(places.ravel() ** 2), np.inf)

    def _extended(self, rows: Any, lower: ArrayLike, upper: ArrayLike) -> Model:
        """The program with further rows."""
        n_rows = rows.shape[0]
        return replace(
            self,
            matrix=sparse.csr_array(sparse.vstack([self.matrix, rows])),
            row_lower=np.append(self.row_lower, np.broadcast_to(lower, n_rows)),
            row_upper=np.append(self.row_upper, np.broadcast_to(upper, n_rows)),
        )

    def violation(self, point: Floats) -> float:
        """The largest violation of a row, a column bound or integrality by a point."""
        activity = self.matrix @ point
        products = self.products
        np.add.at(activity, products.rows, products.coefficients * point[products.first] * point[products.second])
        whole = point[self.integer]
        rows, columns = (self.row_lower - activity, activity - self.row_upper), (self.lower - point, point - self.upper)
        return max(float(miss.max(initial=0.0)) for miss in (*rows, *columns, np.abs(whole - np.round(whole))))


class ModelBuilder:
    """Collects columns and rows in blocks of any shape."""

    def __init__(self) -> None:
        self._columns: list[tuple[Floats, Floats, Floats, Floats, NDArray[np.bool_]]] = []
        self._names: list[str] = []
        self._entries: list[tuple[Variables, Variables, Floats]] = []
        self._bounds: list[tuple[Floats, Floats]] = []
        self._products: list[tuple[Variables, Variables, Variables, Floats]] = []
        self._conditions: list[tuple[Variables, Variables, Variables]] = []
        self._n_columns = self._n_rows = 0
        self.offset = 0.0

    def add_columns(
        self,
        name: str,
        shape: int | tuple[int, ...],
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        cost: ArrayLike = 0.0,
        square: ArrayLike = 0.0,
        integer: bool = False,
    ) -> Variables:
        """A block of variables; returns their numbers in the block's shape."""
        shape = (shape,) if isinstance(shape, int) else shape
        size = int(np.prod(shape))
        numbers = np.arange(self._n_columns, self._n_columns + size).reshape(shape)
        low, high, costs, squares = (
            np.broadcast_to(np.asarray(v, float), shape).ravel() for v in (lower, upper, cost, square)
        )
        self._columns.append((low, high, costs, squares, np.full(size, integer)))
        suffixes = np.indices(shape).reshape(len(shape), -1).T.tolist()
        self._names.extend(f"{name}_" + "_".join(map(str, suffix)) for suffix in suffixes)
        self._n_columns += size
        return numbers

    def add_rows(
        self,
        terms: Sequence[Term],
        *,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        products: Sequence[Product] = (),
        only_if: tuple[Variables, int] | None = None,
    ) -> None:
        """A block of rows ``lower <= Σ coefficients · columns <= upper``.

        Each term is a pair (columns, coefficients): columns of shape (rows,) or (rows, entries), and
        coefficients that broadcast to it. A product has two arrays of columns. ``only_if``, a bit per row and
        a value, states that the row's own coefficients make it redundant if the bit has the other value.
        """
        blocks = [(_block(columns), coefficients) for columns, coefficients in terms]
        n_rows = blocks[0][0].shape[0]
        row_numbers = np.arange(self._n_rows, self._n_rows + n_rows)
        for columns, coefficients in blocks:
            values = np.broadcast_to(_values(coefficients), columns.shape).ravel()
            rows = np.broadcast_to(row_numbers[:, None], columns.shape).ravel()
            used = values != 0
            self._entries.append((rows[used], columns.ravel()[used], values[used]))
        for first, second, coefficients in products:
            first, second = np.broadcast_arrays(_block(first), _block(second))
            values = np.broadcast_to(_values(coefficients), first.shape).ravel()
            rows = np.broadcast_to(row_numbers[:, None], first.shape).ravel()
            self._products.append((rows, first.ravel(), second.ravel(), values))
        if only_if is not None:
            bits, value = only_if
            self._conditions.append((row_numbers, bits, np.full(n_rows, value)))
        low, high = (np.broadcast_to(np.asarray(v, float), n_rows) for v in (lower, upper))
        self._bounds.append((low, high))
        self._n_rows += n_rows

    def build(self) -> Model:
        lower, upper, cost, squares, integer = _joined(self._columns)
        rows, columns, values = _joined(self._entries)
        row_lower, row_upper = _joined(self._bounds)
        shape = (self._n_rows, self._n_columns)
        matrix = sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=shape))
        empty = np.zeros(0, dtype=np.int64)
        products = Products(*_joined([(empty, empty, empty, np.zeros(0)), *self._products]))
        conditions = Conditions(*_joined([(empty, empty, empty), *self._conditions]))
        rows_of = (matrix, row_lower, row_upper, products, conditions)
        return Model(cost, lower, upper, integer, *rows_of, self.offset, self._names, squares)


def _joined(blocks: Sequence[tuple[NDArray[Any], ...]]) -> list[NDArray[Any]]:
    """The first arrays of all blocks as one, the second ones, and so on."""
    return [np.concatenate(part) for part in zip(*blocks, strict=True)]


def _block(columns: Variables) -> Variables:
    """Columns as (rows, entries)."""
    return columns[:, None] if columns.ndim == 1 else columns


def _values(coefficients: ArrayLike) -> Floats:
    values = np.asarray(coefficients, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values
