"""LayeredBuilder: writes the program of :mod:`stepnet.formulations.layered`, block by block."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from stepnet.formulations.base import safe_margin
from stepnet.formulations.layered_encoding import LayeredEncoding, counts
from stepnet.formulations.limit_rows import add_limits, must_be_exact
from stepnet.formulations.real_output import RealOutput
from stepnet.formulations.style import Style
from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Floats
from stepnet.problem.constraint import Row
from stepnet.problem.constraint_rows import add_halves, add_row, add_used
from stepnet.problem.problem import Problem
from stepnet.solvers.backends.base import LARGEST_SAFE
from stepnet.solvers.model import Model, ModelBuilder, Product, Term, Variables


class LayeredBuilder:
    """Writes the blocks in the order of the model."""

    def __init__(self, problem: Problem, name: str, style: Style, rows: Floats) -> None:
        self.problem, self.style, self.rows = problem, style, rows
        self.architecture, self.scenarios = problem.architecture, problem.scenarios
        self.domains, self.kinds = self.architecture.domains, self.architecture.activations
        self.y, self.row_weights = problem.dataset.y, problem.dataset.weights / problem.accuracy.unit
        self.model = ModelBuilder()
        self.widths = problem.architecture.widths
        self.real = RealOutput.of(problem)
        self.signals: Variables | None = None  # u of the layer below; none in the first layer
        self.is_off: Variables | None = None  # z of the layer, if it has any
        sizes = [self._largest_sum(k) for k in range(len(self.widths))]
        self.largest_thresholds = [self._largest_threshold(k, size) for k, size in enumerate(sizes)]
        self.big_m = [size + t for size, t in zip(sizes, self.largest_thresholds, strict=True)]
        self.margin = self._margin()
        self.encoding = LayeredEncoding(problem, name, style, rows, self.margin, real=self.real)
        self.encoding.is_safe = self._has_safe_margin() and self._has_safe_integers()

    def _largest_sum(self, k: int) -> Floats:
        """The largest |a^ik_j| of each row."""
        if k == 0 and self.style.row_wise_m:
            sizes: Floats = self.domains[0].limit * np.abs(self.rows).sum(axis=1)
            return sizes
        if k == 0:
            radius = float(np.linalg.norm(self.rows, axis=1).max())
            return np.full(len(self.rows), self.rows.shape[1] * radius)
        largest = max(abs(value) for value in self.architecture.activation.values)
        return np.full(len(self.rows), self.domains[k].limit * self.widths[k - 1] * largest)

    def _largest_threshold(self, k: int, sizes: Floats) -> float:
        return float(sizes.max()) + 1.0 if self.domains[k].is_integer else 1.0

    def _margin(self) -> float:
        """0 for integers, where a < t means a <= t - 1."""
        steps = self.big_m[:-1] if self.real is not None else self.big_m
        real = [m for m, domain in zip(steps, self.domains, strict=False) if not domain.is_integer]
        if real and not self.style.two_sided:
            return 1e-4
        return safe_margin(max(float(m.max()) for m in real)) if real else 0.0

    def _has_safe_margin(self) -> bool:
        """Whether a variable that is integral up to the usual 1e-6 cannot relax a row by more than half the margin."""
        return not self.margin or 1e-6 * max(float(m.max()) for m in self.big_m) <= self.margin / 2

    def _has_safe_integers(self) -> bool:
        """Whether big-M of integer layers is small enough for float solvers; others solve all-integer programs only."""
        layers = zip(self.big_m, self.domains, strict=True)
        largest = max((float(m.max()) for m, domain in layers if domain.is_integer), default=0.0)
        return largest <= LARGEST_SAFE or all(domain.is_integer for domain in self.domains)

    def build(self) -> LayeredEncoding:
        for k in range(len(self.widths)):
            self._add_weights(k)
            self._add_thresholds(k)
            if self.signals is not None:
                self.is_off = self._add_all_off(k, self.signals)
                self.encoding.all_off.append(self.is_off)
            is_output = k == len(self.widths) - 1
            if is_output and self.real is not None:
                self._add_real_output(k, self.real)
            elif is_output and self.style.one_sided_output:
                self._add_output(k)
            else:
                self.signals = self._add_layer(k, is_output)
        self._add_constraints()
        self.encoding.model = self._bounded(self.model.build())
        return self.encoding

    def _real_output(self, k: int) -> RealOutput | None:
        return self.real if k == len(self.widths) - 1 else None

    def _add_constraints(self) -> None:
        """The user's rows on several weights, limits on errors, and the numbers of non-zero weights."""
        constraints = self.problem.constraints
        if constraints.inequalities and self.encoding.errors is not None:
            add_limits(self.model, self.problem, self.encoding.errors)
        elif constraints.inequalities:  # the paper's u of the output is 1 - e for class 1
            add_limits(self.model, self.problem, self.encoding.outputs[-1][:, 0, 0], self.y == 1)
        for row in self._user_rows():
            if len(row.terms) > 1:
                add_row(self.model, self.encoding.weights, row)
        if constraints.has_limits or constraints.fewest:
            limits = [self._weight_limits(k) for k in range(len(self.widths))]
            self.encoding.used = add_used(self.model, self.encoding.weights, limits, constraints)

    def _bounded(self, model: Model) -> Model:
        """The user's constraints on single weights become bounds, which solvers and decoding keep exactly."""
        lower, upper = model.lower.copy(), model.upper.copy()
        for row in self._user_rows():
            if len(row.terms) == 1:
                ((k, j, i), c) = row.terms[0]
                column = self.encoding.weights[k][j, i]
                ends = sorted((row.lower / c, row.upper / c))
                if model.integer[column]:  # a solver mishandled fractional bounds of integers
                    ends = [float(np.ceil(ends[0] - 1e-9)), float(np.floor(ends[1] + 1e-9))]
                lower[column], upper[column] = max(lower[column], ends[0]), min(upper[column], ends[1])
        return replace(model, lower=lower, upper=upper)

    def _user_rows(self) -> list[Row]:
        return self.problem.scaled_rows(1.0 if self.real is None else self.real.size)

    def _add_weights(self, k: int) -> None:
        shape = (self.widths[k], self.widths[k - 1] if k else self.rows.shape[1])
        domain, real, (lower, upper) = self.domains[k], self._real_output(k), self._weight_limits(k)
        lower = upper if self._is_count(k) else lower
        square = 0.0 if real is None else real.loss.ridge * real.size**2 / self.problem.accuracy.unit
        columns = self.model.add_columns(f"w{k + 1}", shape, lower, upper, square=square, integer=domain.is_integer)
        self.encoding.weights.append(columns)
        bits = None if self._is_count(k) else add_halves(self.model, f"b{k + 1}", columns, domain)
        if bits is not None:
            self.encoding.halves.append((columns, bits))

    def _weight_limits(self, k: int) -> tuple[float, float]:
        real, domain = self._real_output(k), self.domains[k]
        return (domain.lower, domain.upper) if real is None else (-real.limit, real.limit)

    def _is_count(self, k: int) -> bool:
        return k == len(self.widths) - 1 and counts(self.problem)

    def _add_thresholds(self, k: int) -> None:
        width, largest, kind = self.widths[k], self.largest_thresholds[k], self.kinds[k]
        fixed, integer = self.architecture.fixed_threshold, self.domains[k].is_integer
        name, shape = f"t{k + 1}", (width, kind.n_thresholds)
        if real := self._real_output(k):
            largest = real.largest_threshold
            columns = self.model.add_columns(name, shape, -largest, largest)
        elif kind.thresholds is not None:
            columns = self._add_fixed_stairs(k, np.array(kind.thresholds))
        elif kind.is_compared:
            high = 0.0 if self.architecture.threshold != "neuron" else largest
            columns = self.model.add_columns(name, shape, -high, high, integer=integer)
        else:
            low, high = -largest, largest
            if self._is_count(k):
                values = self.architecture.activation.values
                low, high = self.widths[k - 1] * min(values), self.widths[k - 1] * max(values) + 1.0
            if fixed is not None and integer:
                scale = self.problem.scaling.grid if k == 0 else 1.0
                low = high = float(np.ceil(np.clip(fixed * scale, -largest, largest)))
            elif fixed is not None:
                low, high = (0.0, 0.0) if fixed == 0 else ((self.margin, 1.0) if fixed > 0 else (-1.0, -self.margin))
            shape = (1, kind.n_thresholds) if self.architecture.threshold == "layer" else shape
            columns = self.model.add_columns(name, shape, low, high, integer=integer)
            if kind.n_thresholds > 1:
                below, above = columns[:, :-1].ravel(), columns[:, 1:].ravel()
                self.model.add_rows([(below, 1.0), (above, -1.0)], upper=0.0)
        self.encoding.thresholds.append(np.broadcast_to(columns, (width, kind.n_thresholds)).copy())

    def _add_fixed_stairs(self, k: int, thresholds: Floats) -> Variables:
        """Fixed thresholds of a staircase: with real weights, up to one positive factor per neuron."""
        width, n_thresholds, largest = self.widths[k], len(thresholds), self.largest_thresholds[k]
        if self.domains[k].is_integer:
            numbers = np.ceil(np.clip(thresholds * (self.problem.scaling.grid if k == 0 else 1.0), -largest, largest))
            return self.model.add_columns(f"t{k + 1}", (width, n_thresholds), numbers, numbers, integer=True)
        size = float(np.abs(thresholds).max()) or 1.0
        factors = self.model.add_columns(f"f{k + 1}", width, self.margin, 1.0)
        columns = self.model.add_columns(f"t{k + 1}", (width, n_thresholds), -1.0, 1.0)
        repeated = np.repeat(factors, n_thresholds)
        self.model.add_rows(
            [(columns.ravel(), 1.0), (repeated, -np.tile(thresholds / size, width))], lower=0.0, upper=0.0
        )
        return columns

    def _add_all_off(self, k: int, signals: Variables) -> Variables | None:
        """z^ik = 1 iff every neuron below is off; only if thresholds are 0 and margins two-sided."""
        has_margin = self._margin_on(k) > 0 and self._real_output(k) is None
        if self.architecture.fixed_threshold != 0 or self.architecture.activation != STEP or not has_margin:
            return None
        columns = self.model.add_columns(f"z{k + 1}", len(self.rows), 0, 1, integer=True)
        signals = signals[:, :, 0]
        self.model.add_rows([(columns, 1.0), (signals, 1.0)], lower=1.0)
        repeated = np.repeat(columns, signals.shape[1])
        self.model.add_rows([(repeated, 1.0), (signals.ravel(), 1.0)], upper=1.0)
        return columns

    def _add_layer(self, k: int, is_output: bool) -> Variables:
        """Both implications of every neuron; for the paper's output also the objective."""
        m, width, n_thresholds = len(self.rows), self.widths[k], self.kinds[k].n_thresholds
        is_objective = is_output and self.scenarios is None
        signs = np.where(self.y == 1, -1.0, 1.0)
        cost = (signs * self.row_weights)[:, None, None] if is_objective else 0.0
        if is_objective:
            self.model.offset = float(self.row_weights[self.y == 1].sum())
        outputs = self.model.add_columns(f"u{k + 1}", (m, width, n_thresholds), 0, 1, cost=cost, integer=True)
        self.encoding.outputs.append(outputs)
        in_row, neurons = np.repeat(np.arange(m), width), np.tile(np.arange(width), m)
        terms, products = self._sums(k, in_row, neurons)
        big_m, (on, off) = self.big_m[k][in_row], self._margins(k)
        on = on[in_row]
        exempt = [] if self.is_off is None else [(self.is_off[in_row], on)]
        for r in range(n_thresholds):
            # a - t - (M + ε_on) u >= -M        and        a - t - (M + ε_off) u <= -ε_off
            thresholds, flat = self.encoding.thresholds[k][neurons, r], outputs[:, :, r].ravel()
            self.model.add_rows(
                [*terms, (thresholds, -1.0), (flat, -(big_m + on)), *exempt],
                lower=-big_m,
                products=products,
                only_if=(flat, 1),
            )
            self.model.add_rows(
                [*terms, (thresholds, -1.0), (flat, -(big_m + off))], upper=-off, products=products, only_if=(flat, 0)
            )
        if n_thresholds > 1:
            lower, upper = outputs[:, :, :-1].ravel(), outputs[:, :, 1:].ravel()
            self.model.add_rows([(lower, 1.0), (upper, -1.0)], lower=0.0)
        if is_output and not is_objective:
            self.encoding.errors = self._add_errors()
            self.model.add_rows(
                [(self.encoding.errors, 1.0), (outputs.ravel(), -signs)], lower=np.where(signs < 0, 1, 0)
            )
        return outputs

    def _add_errors(self) -> Variables:
        """e of every row, or of its owner; for joint scenarios the objective is the largest sum over one of them."""
        scenarios = self.scenarios
        if scenarios is None:
            return self.model.add_columns("e", len(self.rows), 0, 1, cost=self.row_weights, integer=True)
        prices = scenarios.weights / self.problem.accuracy.unit
        if scenarios.joint is None:
            columns = self.model.add_columns("e", scenarios.n_owners, 0, 1, cost=prices, integer=True)
            return columns[scenarios.owners]
        columns = self.model.add_columns("e", len(self.rows), 0, 1, integer=True)
        self.encoding.largest = self.model.add_columns("m", 1, 0, prices.sum(), cost=1.0)
        for number in np.unique(scenarios.joint):
            members = np.flatnonzero(scenarios.joint == number)
            sums = prices[scenarios.owners[members]]
            self.model.add_rows([(self.encoding.largest[None], 1.0), (columns[None, members], -sums[None])], lower=0.0)
        return columns

    def _add_output(self, k: int) -> None:
        """Only the implications that a row's class needs: e = 0 puts the row into its class."""
        errors = self.encoding.errors = self._add_errors()
        for code in np.unique(self.y).tolist():
            members = np.flatnonzero(self.y == code)
            if self.kinds[k].is_compared:
                self._add_argmax(k, members, errors[members], code)
                continue
            if code > 0:
                self._add_side(k, members, errors[members], code - 1, above=True)
            if code < self.kinds[k].n_thresholds:
                self._add_side(k, members, errors[members], code, above=False)
        self._add_wrong_sides(k, errors)

    def _add_wrong_sides(self, k: int, errors: Variables) -> None:
        """Rows of two classes whose errors must be exact are on the other side of the threshold if e = 1."""
        is_exact = must_be_exact(self.problem)
        for code in (1, 0):
            members = np.flatnonzero(is_exact & (self.y == code))
            if not len(members):
                continue
            on, off = self._margins(k)
            terms, products = self._sums(k, members, np.zeros(len(members), dtype=np.int64))
            threshold = np.broadcast_to(self.encoding.thresholds[k][0, 0], members.size)
            big_m, e = self.big_m[k][members], errors[members]
            if code == 1:  # a - t <= -ε_off + (M + ε_off) (1 - e)
                terms = [*terms, (threshold, -1.0), (e, big_m + off)]
                self.model.add_rows(terms, upper=big_m, products=products, only_if=(e, 1))
            else:  # a - t >= ε_on - (M + ε_on) (1 - e)
                exempt = [] if self.is_off is None else [(self.is_off[members], on[members])]
                terms = [*terms, (threshold, -1.0), (e, -(big_m + on[members])), *exempt]
                self.model.add_rows(terms, lower=-big_m, products=products, only_if=(e, 1))

    def _add_side(self, k: int, members: Variables, errors: Variables, number: int, *, above: bool) -> None:
        """Rows that belong above or below a threshold of the output neuron, unless e = 1."""
        on, off = self._margins(k)
        terms, products = self._sums(k, members, np.zeros(len(members), dtype=np.int64))
        threshold = np.broadcast_to(self.encoding.thresholds[k][0, number], members.size)
        big_m = self.big_m[k][members]
        if above:
            exempt = [] if self.is_off is None else [(self.is_off[members], on[members])]
            terms = [*terms, (threshold, -1.0), (errors, big_m + on[members]), *exempt]
            self.model.add_rows(terms, lower=on[members], products=products, only_if=(errors, 0))
        else:
            terms = [*terms, (threshold, -1.0), (errors, -(big_m + off))]
            self.model.add_rows(terms, upper=-off, products=products, only_if=(errors, 0))

    def _add_argmax(self, k: int, members: Variables, errors: Variables, code: int) -> None:
        """The class of some rows beats every other one; ties go to the lowest code."""
        thresholds, n_rows = self.encoding.thresholds[k][:, 0], len(members)
        for other in range(self.widths[k]):
            if other == code:
                continue
            lead = float(other < code) if self.domains[k].is_integer else self.margin
            mine, products = self._sums(k, members, np.full(n_rows, code))
            theirs, other_products = self._sums(k, members, np.full(n_rows, other))
            terms = [*mine, *((columns, -np.asarray(values)) for columns, values in theirs)]
            terms += [(np.full(n_rows, thresholds[code]), -1.0), (np.full(n_rows, thresholds[other]), 1.0)]
            terms += [(errors, 2 * self.big_m[k][members] + lead)]
            negated = [(w, u, -np.asarray(values)) for w, u, values in other_products]
            self.model.add_rows(terms, lower=lead, products=[*products, *negated], only_if=(errors, 0))

    def _add_real_output(self, k: int, real: RealOutput) -> None:
        """The cost of every row, from the values of the outputs."""
        m, n_outputs = real.targets.shape
        in_row, outputs = np.repeat(np.arange(m), n_outputs), np.tile(np.arange(n_outputs), m)
        targets, prices, owners = real.targets.ravel(), self.row_weights[:, None], np.arange(m)
        if self.scenarios is not None:
            prices, owners = self.scenarios.weights[:, None] / self.problem.accuracy.unit, self.scenarios.owners
        largest, shape, squares = real.largest_error, (len(prices), n_outputs), real.loss.pays_squares
        square = prices * real.size**2 if squares else 0.0

        def add(members: Variables, share: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
            terms, products = self._sums(k, in_row[members], outputs[members])
            thresholds = self.encoding.thresholds[k][outputs[members], 0]
            terms = [*terms, (thresholds, -1.0), (misses.ravel()[members], share)]
            self.model.add_rows(terms, lower=lower, upper=upper, products=products)

        if squares and self.scenarios is None:
            misses = self.model.add_columns("r", shape, -largest, largest, square=square)
            add(np.arange(len(targets)), -1.0, targets, targets)
        else:
            # With scenarios, the largest error of an owner's points is squared.
            cost = 0.0 if squares else prices * real.size
            misses = self.model.add_columns("p", shape, 0.0, largest, cost=cost, square=square)[owners]
            # p >= above (z - y) and p >= below (y - z), where these slopes are not 0.
            above, below = (slopes.ravel() for slopes in real.loss.slopes(real.targets))
            high, low = np.flatnonzero(above), np.flatnonzero(below)
            add(high, -1.0 / above[high], -np.inf, targets[high])
            add(low, 1.0 / below[low], targets[low], np.inf)
        self.encoding.misses = misses

    def _margins(self, k: int) -> tuple[Floats, float]:
        """ε_on of each row, and ε_off."""
        on = np.full(len(self.rows), self._margin_on(k))
        if k == 0 and self.architecture.fixed_threshold == 0:
            on[~self.rows.any(axis=1)] = 0.0
        return on, 1.0 if self.domains[k].is_integer else self.margin

    def _margin_on(self, k: int) -> float:
        return self.margin if self.style.two_sided and not self.domains[k].is_integer else 0.0

    def _sums(self, k: int, in_row: Variables, neurons: Variables) -> tuple[list[Term], list[Product]]:
        """The terms of a^ik_j for pairs of a row i and a neuron j."""
        weights, signals = self.encoding.weights[k][neurons], self.signals
        if signals is None:
            return [(weights, self.rows[in_row])], []
        values = np.array(self.architecture.activation.values)
        rises = np.tile(np.diff(values), weights.shape[1])
        constant: list[Term] = [(weights, float(values[0]))] if values[0] else []
        bits = signals[in_row].reshape(len(in_row), -1)
        if self._is_count(k):
            return [(bits, rises[None, :]), *constant], []
        if not self.style.linear:
            n_thresholds = signals.shape[2]
            return constant, [(np.repeat(weights, n_thresholds, axis=1), bits, rises[None, :])]
        if len(self.encoding.products) < k:
            self._add_products(k, signals)
        products = self.encoding.products[k - 1][in_row, neurons].reshape(len(in_row), -1)
        return [(products, rises[None, :]), *constant], []

    def _add_products(self, k: int, signals: Variables) -> None:
        """s = w · u, for every row, neuron, input and threshold."""
        weights, (lower, upper) = self.encoding.weights[k], self._weight_limits(k)
        shape = (len(self.rows), *weights.shape, signals.shape[2])
        low, high = min(lower, 0.0), max(upper, 0.0)
        columns = self.model.add_columns(f"s{k + 1}", shape, low, high, integer=self.domains[k].is_integer)
        s = columns.ravel()
        u = np.broadcast_to(signals[:, None], shape).ravel()
        w = np.broadcast_to(weights[None, :, :, None], shape).ravel()
        self.model.add_rows([(s, 1.0), (u, -upper)], upper=0.0, only_if=(u, 0))
        self.model.add_rows([(s, 1.0), (u, -lower)], lower=0.0, only_if=(u, 0))
        self.model.add_rows([(s, 1.0), (w, -1.0), (u, -lower)], upper=-lower, only_if=(u, 1))
        self.model.add_rows([(s, 1.0), (w, -1.0), (u, -upper)], lower=-upper, only_if=(u, 1))
        self.encoding.products.append(columns)
