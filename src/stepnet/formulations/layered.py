"""Programs with one variable per weight, threshold and activation: what Lemma 1 and Theorem 2 share.

Variables
    w^k_jl   weight of neuron j of layer k on input l          in [-1, 1] (or the integer domain)
    t^k_j    threshold: one a neuron, one a layer, or fixed     in [-1, 1]
    u^ik_j   output of neuron j of layer k for row i            in {0, 1}
    s^ik_jl  the product w^k_jl · u^i,k-1_l                     in [-1, 1]
    e^i      row i is misclassified                             in {0, 1}
Objective
    min Σ_i weight_i · e^i
Rows, with a^ik_j = Σ_l w^1_jl x^i_l in the first layer and Σ_l s^ik_jl above
    a^ik_j >= t^k_j + ε_on  - M (1 - u^ik_j)
    a^ik_j <= t^k_j - ε_off + M u^ik_j
    s <= u,  s >= -u,  s <= w + (1 - u),  s >= w - (1 - u)      with u = u^i,k-1_l
Zero inputs. With all thresholds fixed at 0 a neuron whose inputs are all 0 is on with a = t = 0 and
cannot have a margin: rows x^i = 0 drop ε_on, and above the first layer so do rows with
    z^ik = 1  iff  u^i,k-1 = 0.
Numbers other than 0. A fixed threshold c stands for any threshold of its sign: real weights take up
the factor. So t^k_j is free in [ε, 1] or [-1, -ε], and decoding scales each neuron to c.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from stepnet.arithmetic import Floats
from stepnet.errors import YES, Answer
from stepnet.formulations.base import (
    INTEGER_TOLERANCE,
    TOLERANCE,
    Encoding,
    normalised,
    safe_margin,
    scope_of_margin,
    with_fixed_threshold,
)
from stepnet.milp.model import Columns, Model, ModelBuilder, Product, Term
from stepnet.network import Layer, Network
from stepnet.problem.problem import Problem

_LARGEST_INTEGER = 2.0**40


@dataclass(frozen=True, kw_only=True)
class Style:
    """What tells the layered formulations apart."""

    name: str
    takes_integers: bool = True  # integer weights too, or real ones alone
    linear: bool = True  # products as s-variables, or left to the solver
    row_wise_m: bool = True  # big-M of each row, or the paper's for all rows
    two_sided: bool = True  # a margin on both sides of a threshold, or on the strict one
    one_sided_output: bool = True  # e^i only, or the paper's u^iK with both implications
    scaled: bool = True  # rows in [-1, 1], or in the units of the data
    tolerance: float | None = TOLERANCE


def accepts_layered(problem: Problem, style: Style) -> Answer:
    """Any depth, threshold and domain; integer domains need data on a grid that is not too fine."""
    if not problem.architecture.weights.is_integer:
        return YES
    if not style.takes_integers:
        return Answer(f"formulation={style.name!r} takes real weights. Use formulation='tight'.")
    rows = problem.scaling.apply(problem.dataset.X)
    largest = np.abs(rows).sum(axis=1).max() * problem.architecture.weights.limit
    if not largest <= _LARGEST_INTEGER or (rows != np.round(rows)).any():
        return Answer(
            f"weights={problem.architecture.weights.name!r} need data that are integers after multiplication by a "
            f"power of two, below 2^40; these are not. Round them first, for example X = np.round(X * 64) / 64."
        )
    return YES


@dataclass
class LayeredEncoding(Encoding):
    """Columns by meaning: ``weights[k]`` (d_k × d_{k-1}), ``thresholds[k]`` (d_k), ``outputs[k]`` (m × d_k)."""

    problem: Problem
    style: Style
    rows: Floats  # the data in the units of the program
    margin: float
    weights: list[Columns] = field(default_factory=list)
    thresholds: list[Columns] = field(default_factory=list)
    outputs: list[Columns] = field(default_factory=list)  # of the hidden layers, and the paper's output
    products: list[Columns] = field(default_factory=list)  # s of layers 2..K
    all_off: list[Columns] = field(default_factory=list)  # z of layers 2..K, where needed
    errors: Columns | None = None

    def __post_init__(self) -> None:
        self.name = self.style.name
        self.scope = scope_of_margin(self.margin)
        self.tolerance = INTEGER_TOLERANCE if not self.margin else self.style.tolerance
        if self.margin and not self.style.scaled:
            self.scope = f"{self.scope} in the units of the data"
        elif self.margin and self.problem.architecture.fixed_threshold:
            self.scope = self.scope.replace("margin", "margin and |threshold|")

    model: Model = field(init=False)

    def decode(self, point: Floats) -> Network:
        architecture = self.problem.architecture
        layers = [
            Layer(point[weights], point[thresholds])
            for weights, thresholds in zip(self.weights, self.thresholds, strict=True)
        ]
        if architecture.weights.is_integer:
            layers = self._decode_integers(layers)
        elif architecture.fixed_threshold:
            layers = [with_fixed_threshold(layer, architecture.fixed_threshold) for layer in layers]
        network = Network(tuple(layers))
        return self.problem.restore(network) if self.style.scaled else network

    def start(self, network: Network) -> Floats | None:
        if self.problem.architecture.refuses(network):
            return None
        bits = network.hidden_bits(self.problem.dataset.X)
        if self.style.scaled:
            network = self.problem.scale(network)
        is_integer = self.problem.architecture.weights.is_integer
        point = np.zeros(self.model.n_columns)
        for k, layer in enumerate(network.layers):
            ready = layer if is_integer else normalised(layer, self.problem.architecture)
            point[self.weights[k]] = ready.weights
            point[self.thresholds[k]] = np.ceil(ready.thresholds) if is_integer else ready.thresholds
            if k < len(self.outputs):
                point[self.outputs[k]] = bits[k]
            if k and self.products:
                point[self.products[k - 1]] = ready.weights[None] * bits[k - 1][:, None, :]
            if k and self.all_off:
                point[self.all_off[k - 1]] = ~bits[k - 1].any(axis=1)
        if self.errors is not None:
            point[self.errors] = bits[-1][:, 0] != self.problem.dataset.y
        return np.clip(point, self.model.lower, self.model.upper)

    def _decode_integers(self, layers: list[Layer]) -> list[Layer]:
        """Rounded; a learned threshold T moves to T - 1/2, which no sum of integers meets."""
        fixed = self.problem.architecture.fixed_threshold
        result = []
        for layer in layers:
            thresholds = np.round(layer.thresholds) - 0.5 if fixed is None else np.full(layer.width, fixed)
            result.append(Layer(np.round(layer.weights), thresholds))
        if fixed is not None:  # the scaling back of the first layer will divide it again
            result[0] = Layer(result[0].weights, result[0].thresholds * self.problem.scaling.grid)
        return result


def encode_layered(problem: Problem, style: Style) -> LayeredEncoding:
    """Build the program."""
    rows = problem.scaling.apply(problem.dataset.X) if style.scaled else problem.dataset.X
    return _Builder(problem, style, rows).build()


class _Builder:
    """Writes the blocks in the order of the model above."""

    def __init__(self, problem: Problem, style: Style, rows: Floats) -> None:
        self.problem, self.style, self.rows = problem, style, rows
        self.architecture, self.domain = problem.architecture, problem.architecture.weights
        self.y = problem.dataset.y
        self.row_weights = problem.dataset.weights / problem.dataset.unit
        self.model = ModelBuilder()
        self.widths = problem.architecture.widths
        sizes = [self._largest_sum(k) for k in range(len(self.widths))]
        self.largest_thresholds = [self._largest_threshold(size) for size in sizes]
        self.big_m = [size + t for size, t in zip(sizes, self.largest_thresholds, strict=True)]
        self.margin = self._margin()
        self.encoding = LayeredEncoding(problem, style, rows, self.margin)
        self.encoding.is_safe = self.domain.is_integer or self._is_safe()

    def _largest_sum(self, k: int) -> Floats:
        """The largest |a^ik_j| of each row."""
        if k == 0 and self.style.row_wise_m:
            sizes: Floats = self.domain.limit * np.abs(self.rows).sum(axis=1)
            return sizes
        if k == 0:
            radius = float(np.linalg.norm(self.rows, axis=1).max())
            return np.full(len(self.rows), self.rows.shape[1] * radius)
        return np.full(len(self.rows), self.domain.limit * self.widths[k - 1])

    def _largest_threshold(self, sizes: Floats) -> float:
        return float(sizes.max()) + 1.0 if self.domain.is_integer else 1.0

    def _margin(self) -> float:
        """0 for integers: there a < t means a <= t - 1, with nothing lost."""
        if self.domain.is_integer:
            return 0.0
        if not self.style.two_sided:
            return 1e-4
        return safe_margin(max(float(m.max()) for m in self.big_m))

    def _is_safe(self) -> bool:
        """Whether a variable that is integral up to the usual 1e-6 cannot buy more than the margin."""
        return 1e-6 * max(float(m.max()) for m in self.big_m) <= self.margin / 2

    def build(self) -> LayeredEncoding:
        is_off: Columns | None = None
        signals: Columns | None = None
        for k in range(len(self.widths)):
            weights = self._add_weights(k)
            thresholds = self._add_thresholds(k)
            if k:
                assert signals is not None
                is_off = self._add_all_off(k, signals)
            is_output = k == len(self.widths) - 1
            if is_output and self.style.one_sided_output:
                self._add_output(k, weights, thresholds, signals, is_off)
            else:
                signals = self._add_layer(k, weights, thresholds, signals, is_off, is_output)
        self.encoding.model = self.model.build()
        return self.encoding

    def _add_weights(self, k: int) -> Columns:
        n_inputs = self.widths[k - 1] if k else self.rows.shape[1]
        limit, integer = self.domain.limit, self.domain.is_integer
        columns = self.model.add_columns(f"w{k + 1}", (self.widths[k], n_inputs), -limit, limit, integer=integer)
        self.encoding.weights.append(columns)
        return columns

    def _add_thresholds(self, k: int) -> Columns:
        width, largest = self.widths[k], self.largest_thresholds[k]
        fixed, integer = self.architecture.fixed_threshold, self.domain.is_integer
        low, high = -largest, largest
        if fixed is not None and integer:
            scale = self.problem.scaling.grid if k == 0 else 1.0
            low = high = float(np.ceil(np.clip(fixed * scale, -largest, largest)))
        elif fixed is not None:
            low, high = (0.0, 0.0) if fixed == 0 else ((self.margin, 1.0) if fixed > 0 else (-1.0, -self.margin))
        n_columns = 1 if self.architecture.threshold == "layer" else width
        columns = self.model.add_columns(f"t{k + 1}", n_columns, low, high, integer=integer)
        columns = np.broadcast_to(columns, width).copy()
        self.encoding.thresholds.append(columns)
        return columns

    def _add_all_off(self, k: int, signals: Columns) -> Columns | None:
        """z^ik = 1 iff every neuron below is off; only where thresholds are 0 and margins two-sided."""
        if self.architecture.fixed_threshold != 0 or self._margin_on(k) == 0:
            return None
        columns = self.model.add_columns(f"z{k + 1}", len(self.rows), 0, 1, integer=True)
        self.model.add_rows([(columns, 1.0), (signals, 1.0)], lower=1.0)
        repeated = np.repeat(columns, signals.shape[1])
        self.model.add_rows([(repeated, 1.0), (signals.ravel(), 1.0)], upper=1.0)
        self.encoding.all_off.append(columns)
        return columns

    def _add_layer(
        self,
        k: int,
        weights: Columns,
        thresholds: Columns,
        signals: Columns | None,
        is_off: Columns | None,
        is_output: bool,
    ) -> Columns:
        """Both implications of every neuron; for the paper's output also the objective."""
        m, width = len(self.rows), self.widths[k]
        cost = np.where(self.y == 1, -1.0, 1.0)[:, None] * self.row_weights[:, None] if is_output else 0.0
        if is_output:
            self.model.offset = float(self.row_weights[self.y == 1].sum())
        outputs = self.model.add_columns(f"u{k + 1}", (m, width), 0, 1, cost=cost, integer=True)
        self.encoding.outputs.append(outputs)
        terms, products, in_row = self._sums(k, weights, signals, slice(None))
        thresholds = np.tile(thresholds, m)
        flat = outputs.ravel()
        big_m = self.big_m[k][in_row]
        on, off = self._margins(k)
        on = on[in_row]
        # a - t - (M + ε_on) u >= -M        and        a - t - (M + ε_off) u <= -ε_off
        exempt = [] if is_off is None else [(is_off[in_row], on)]
        self.model.add_rows(
            [*terms, (thresholds, -1.0), (flat, -(big_m + on)), *exempt], lower=-big_m, products=products
        )
        self.model.add_rows([*terms, (thresholds, -1.0), (flat, -(big_m + off))], upper=-off, products=products)
        return outputs

    def _add_output(
        self, k: int, weights: Columns, thresholds: Columns, signals: Columns | None, is_off: Columns | None
    ) -> None:
        """Only the implication that a row's class needs: e = 0 puts the row on its side."""
        m = len(self.rows)
        errors = self.model.add_columns("e", m, 0, 1, cost=self.row_weights, integer=True)
        self.encoding.errors = errors
        on, off = self._margins(k)
        for label in (1, 0):
            members = np.flatnonzero(self.y == label)
            if not members.size:
                continue
            terms, products, in_row = self._sums(k, weights, signals, members)
            threshold = np.broadcast_to(thresholds, members.size)
            big_m = self.big_m[k][in_row]
            if label == 1:
                exempt = [] if is_off is None else [(is_off[members], on[members])]
                terms = [*terms, (threshold, -1.0), (errors[members], big_m + on[members]), *exempt]
                self.model.add_rows(terms, lower=on[members], products=products)
            else:
                terms = [*terms, (threshold, -1.0), (errors[members], -(big_m + off))]
                self.model.add_rows(terms, upper=-off, products=products)

    def _margins(self, k: int) -> tuple[Floats, float]:
        """ε_on of each row, and ε_off."""
        on = np.full(len(self.rows), self._margin_on(k))
        if k == 0 and self.architecture.fixed_threshold == 0:
            on[~self.rows.any(axis=1)] = 0.0
        return on, 1.0 if self.domain.is_integer else self.margin

    def _margin_on(self, k: int) -> float:
        return self.margin if self.style.two_sided and not self.domain.is_integer else 0.0

    def _sums(
        self, k: int, weights: Columns, signals: Columns | None, members: slice | Columns
    ) -> tuple[list[Term], list[Product], Columns]:
        """The terms of a^ik_j for the given rows i and all j, and the row that each belongs to."""
        width, n_inputs = weights.shape
        numbers = np.arange(len(self.rows))[members]
        in_row = np.repeat(numbers, width)
        repeated = np.tile(weights, (len(numbers), 1))
        if signals is None:
            return [(repeated, np.repeat(self.rows[members], width, axis=0))], [], in_row
        if not self.style.linear:
            return [], [(repeated, np.repeat(signals[members], width, axis=0), 1.0)], in_row
        if len(self.encoding.products) < k:
            self._add_products(k, weights, signals)
        products = self.encoding.products[k - 1][members].reshape(-1, n_inputs)
        return [(products, np.ones(n_inputs)[None, :])], [], in_row

    def _add_products(self, k: int, weights: Columns, signals: Columns) -> None:
        """s = w · u, for every row, neuron and input."""
        m, (width, n_inputs), limit = len(self.rows), weights.shape, self.domain.limit
        shape = (m, width, n_inputs)
        columns = self.model.add_columns(f"s{k + 1}", shape, -limit, limit, integer=self.domain.is_integer)
        s = columns.ravel()
        u = np.broadcast_to(signals[:, None, :], shape).ravel()
        w = np.broadcast_to(weights[None], shape).ravel()
        self.model.add_rows([(s, 1.0), (u, -limit)], upper=0.0)
        self.model.add_rows([(s, 1.0), (u, limit)], lower=0.0)
        self.model.add_rows([(s, 1.0), (w, -1.0), (u, limit)], upper=limit)
        self.model.add_rows([(s, 1.0), (w, -1.0), (u, -limit)], lower=-limit)
        self.encoding.products.append(columns)
