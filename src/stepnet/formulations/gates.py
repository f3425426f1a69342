"""One hidden layer, gate by gate: no product of variables is left."""

from __future__ import annotations

import numpy as np

from stepnet.bounds.scope import Scope
from stepnet.errors import YES, Answer
from stepnet.formulations.base import Encoding, Formulation, normalised, refuses_programs, safe_margin
from stepnet.formulations.limit_rows import add_limits, must_be_exact
from stepnet.model.arithmetic import Floats
from stepnet.model.gates import MAX_GATE_INPUTS, Gate, gates, read_gate
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.solvers.model import ModelBuilder, Term


class Gates(Formulation):
    """For each gate Σ_j v_j u_j >= θ of the d_1 hidden bits, a program with fixed (v, θ).

    Variables
        w_jl, t_j in [-1, 1]: hidden weights and thresholds
        u^i_j in {0, 1}: the side of neuron j that row i may count on;   e^i in {0, 1}: row i is wrong
    Objective
        min Σ_i weight_i · e^i
    Rows
        class 1:  w_j·x^i >= t_j + ε - M^i (1 - u^i_j),    Σ_j v_j u^i_j >= θ (1 - e^i)
        class 0:  w_j·x^i <= t_j - ε + M^i u^i_j,          Σ_j v_j u^i_j <= θ - 1 + e^i (Σ v - θ + 1)

    limits:   Σ_i a_i e^i <= b

    One implication per row and neuron suffices because the gate is monotone: a class-1 row is never
    hurt by a neuron that is on without being counted, nor a class-0 row by one that is off. Rows with a_i < 0 in some
    limit have both implications, of the neurons and of e^i, so that e^i = 1 means that the row is wrong.
    """

    name = "gates"

    def accepts(self, problem: Problem) -> Answer:
        architecture, scenarios = problem.architecture, problem.scenarios
        hidden, threshold = architecture.hidden, architecture.threshold
        if reason := refuses_programs(problem, self.name):
            return Answer(reason)
        requirements = {
            f"accepts one hidden layer of up to {MAX_GATE_INPUTS} neurons; got {hidden=}": len(hidden) == 1
            and hidden[0] <= MAX_GATE_INPUTS,
            f"needs threshold='neuron', so that neurons can be complemented; got {threshold=}": threshold == "neuron",
            "accepts scenarios of single rows, not joint ones": scenarios is None or scenarios.joint is None,
            "accepts real weights, steps and misclassified rows of two classes": problem.architecture.is_plain
            and problem.loss.counts_errors
            and not problem.constraints.restrict_weights,
        }
        missed = [need for need, is_met in requirements.items() if not is_met]
        return Answer(f"formulation='gates' {missed[0]}. Use formulation='tight'.") if missed else YES

    def n_programs(self, problem: Problem) -> int:
        return len(gates(problem.architecture.hidden[0]))

    def encode(self, problem: Problem) -> list[Encoding]:
        rows = problem.scaling.apply(problem.dataset.X)
        return [GateEncoding(problem, rows, gate) for gate in gates(problem.architecture.hidden[0])]


class GateEncoding(Encoding):
    """The program of one gate."""

    formulation = Gates.name

    def __init__(self, problem: Problem, rows: Floats, gate: Gate) -> None:
        self.problem, self.gate, self.name = problem, gate, f"{Gates.name}, {gate.name}"
        model = ModelBuilder()
        (m, n), d = rows.shape, len(gate.weights)
        v, theta, total = np.array(gate.weights, dtype=float), gate.threshold, sum(gate.weights)
        big_m = np.abs(rows).sum(axis=1) + 1.0
        self.margin = safe_margin(float(big_m.max()))
        self.scope = Scope.of_margin(self.margin)
        self.weights = model.add_columns("w", (d, n), -1, 1)
        self.thresholds = model.add_columns("t", d, -1, 1)
        self.sides = model.add_columns("u", (m, d), 0, 1, integer=True)
        scenarios = problem.scenarios  # all points of one owner share its e
        prices = (problem.dataset if scenarios is None else scenarios).weights / problem.accuracy.unit
        self.errors = model.add_columns("e", len(prices), 0, 1, cost=prices, integer=True)
        if scenarios is not None:
            self.errors = self.errors[scenarios.owners]
        for label in (1, 0):
            members = np.flatnonzero(problem.dataset.y == label)
            sides, errors = self.sides[members], self.errors[members]
            big = np.repeat(big_m[members], d) + self.margin
            terms: list[Term] = [
                (np.tile(self.weights, (len(members), 1)), np.repeat(rows[members], d, axis=0)),
                (np.tile(self.thresholds, len(members)), -1.0),
                (sides.ravel(), -big),
            ]
            if label == 1:
                model.add_rows(terms, lower=self.margin - big)
                model.add_rows([(sides, v[None, :]), (errors, float(theta))], lower=theta)
            else:
                model.add_rows(terms, upper=-self.margin)
                model.add_rows([(sides, v[None, :]), (errors, theta - 1.0 - total)], upper=theta - 1)
        self._add_limits(model, rows, big_m)
        self.model = model.build()

    def _add_limits(self, model: ModelBuilder, rows: Floats, big_m: Floats) -> None:
        """The limits on errors, and the other implications of rows whose errors must be exact."""
        add_limits(model, self.problem, self.errors)
        is_exact, y = must_be_exact(self.problem), self.problem.dataset.y
        d, v, theta = len(self.gate.weights), np.array(self.gate.weights, dtype=float), self.gate.threshold
        for label in (1, 0):
            members = np.flatnonzero(is_exact & (y == label))
            if not len(members):
                continue
            sides, errors = self.sides[members], self.errors[members]
            big = np.repeat(big_m[members], d) + self.margin
            terms: list[Term] = [
                (np.tile(self.weights, (len(members), 1)), np.repeat(rows[members], d, axis=0)),
                (np.tile(self.thresholds, len(members)), -1.0),
                (sides.ravel(), -big),
            ]
            if label == 1:  # a neuron that is not counted is off; Σ v u <= θ - 1 if e
                model.add_rows(terms, upper=-self.margin)
                model.add_rows([(sides, v[None, :]), (errors, v.sum() - theta + 1.0)], upper=v.sum())
            else:  # a neuron that is counted is on; Σ v u >= θ if e
                model.add_rows(terms, lower=self.margin - big)
                model.add_rows([(sides, v[None, :]), (errors, -float(theta))], lower=0.0)

    def decode(self, point: Floats) -> Network:
        hidden = Layer(point[self.weights], point[self.thresholds])
        return self.problem.restore(Network((hidden, self.gate.layer)))

    def start(self, network: Network) -> Floats | None:
        if self.problem.refuses(network):
            return None
        reading = read_gate(network.layers[1])
        if reading is None or reading.gate != self.gate:
            return None
        hidden = normalised(self.problem.scale(network).layers[0], self.problem.architecture)
        bits = network.levels(self.problem.dataset.X)
        order, signs = list(reading.order), np.where(reading.flipped, -1.0, 1.0)
        ignored = np.array(reading.ignored)
        sides = bits[0][:, order] ^ np.array(reading.flipped)
        sides[:, ignored] = 1
        point = np.zeros(self.model.n_columns)
        point[self.weights] = np.where(ignored[:, None], 0.0, signs[:, None] * hidden.weights[order])
        point[self.thresholds] = np.where(ignored, -1.0, signs * hidden.thresholds[order])
        point[self.sides] = sides
        wrong = (bits[1][:, 0] != self.problem.dataset.y).astype(np.float64)
        scenarios = self.problem.scenarios
        point[self.errors] = wrong if scenarios is None else scenarios.shared(wrong)
        return point
