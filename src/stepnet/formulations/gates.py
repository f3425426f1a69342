"""One hidden layer, gate by gate: no product of variables is left."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from stepnet.bounds.scope import Scope
from stepnet.errors import YES, Answer
from stepnet.formulations.base import Encoding, Formulation, normalised, refuses_programs, safe_margin
from stepnet.model.arithmetic import Floats
from stepnet.model.gates import MAX_GATE_INPUTS, Gate, gates, read_gate
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.solvers.model import Model, ModelBuilder, Term, Variables


class Gates(Formulation):
    """For each gate Σ_j v_j u_j >= θ of the d_1 hidden bits a program with fixed (v, θ).

    Variables
        w_jl, t_j in [-1, 1]: hidden weights and thresholds
        u^i_j in {0, 1}: the side of neuron j that row i may count on;   e^i in {0, 1}: row i is wrong
    Objective
        min Σ_i weight_i · e^i
    Rows
        class 1:  w_j·x^i >= t_j + ε - M^i (1 - u^i_j),    Σ_j v_j u^i_j >= θ (1 - e^i)
        class 0:  w_j·x^i <= t_j - ε + M^i u^i_j,          Σ_j v_j u^i_j <= θ - 1 + e^i (Σ v - θ + 1)

    One implication a row and neuron suffices since the gate is monotone: a class-1 row is never
    hurt by a neuron that is on without being counted, nor a class-0 row by one that is off.
    """

    name = "gates"

    def accepts(self, problem: Problem) -> Answer:
        architecture = problem.architecture
        if reason := refuses_programs(problem, self.name):
            return Answer(reason)
        if len(architecture.hidden) != 1:
            return Answer(
                f"formulation='gates' accepts one hidden layer; got hidden={architecture.hidden}. "
                f"Use formulation='tight'."
            )
        if architecture.hidden[0] > MAX_GATE_INPUTS:
            return Answer(
                f"formulation='gates' accepts up to {MAX_GATE_INPUTS} neurons; got hidden={architecture.hidden}. "
                f"Use formulation='tight'."
            )
        if architecture.threshold != "neuron":
            return Answer(
                f"formulation='gates' needs threshold='neuron', where neurons can be complemented freely; got "
                f"threshold={architecture.threshold!r}. Use formulation='tight'."
            )
        if problem.scenarios is not None and problem.scenarios.joint is not None:
            return Answer("formulation='gates' takes scenarios of rows. Use formulation='tight' for joint ones.")
        if not problem.has_plain_steps:
            return Answer(
                "formulation='gates' takes real weights, steps and misclassified rows of two classes. "
                "Use formulation='tight'."
            )
        return YES

    def encode(self, problem: Problem) -> list[Encoding]:
        rows = problem.scaling.apply(problem.dataset.X)
        return [GateEncoding(problem, rows, gate) for gate in gates(problem.architecture.hidden[0])]


@dataclass
class GateEncoding(Encoding):
    """The program of one gate."""

    problem: Problem
    rows: Floats
    gate: Gate
    margin: float = field(init=False)
    model: Model = field(init=False)
    weights: Variables = field(init=False)  # d_1 × n
    thresholds: Variables = field(init=False)  # d_1
    sides: Variables = field(init=False)  # m × d_1
    errors: Variables = field(init=False)  # m

    def __post_init__(self) -> None:
        self.formulation, self.name = Gates.name, f"{Gates.name}, {self.gate.name}"
        self._build()
        self.scope = Scope.of_margin(self.margin)

    def _build(self) -> None:
        model = ModelBuilder()
        m, n = self.rows.shape
        d = len(self.gate.weights)
        y, row_weights = self.problem.dataset.y, self.problem.dataset.weights / self.problem.accuracy.unit
        v, theta, total = np.array(self.gate.weights, dtype=float), self.gate.threshold, sum(self.gate.weights)
        big_m = np.abs(self.rows).sum(axis=1) + 1.0
        self.margin = safe_margin(float(big_m.max()))
        self.weights = model.add_columns("w", (d, n), -1, 1)
        self.thresholds = model.add_columns("t", d, -1, 1)
        self.sides = model.add_columns("u", (m, d), 0, 1, integer=True)
        scenarios = self.problem.scenarios
        if scenarios is not None:  # points of one owner share its e
            prices = scenarios.weights / self.problem.accuracy.unit
            self.errors = model.add_columns("e", len(prices), 0, 1, cost=prices, integer=True)[scenarios.owners]
        else:
            self.errors = model.add_columns("e", m, 0, 1, cost=row_weights, integer=True)
        for label in (1, 0):
            members = np.flatnonzero(y == label)
            if not members.size:
                continue
            sides, errors = self.sides[members], self.errors[members]
            big = np.repeat(big_m[members], d) + self.margin
            terms: list[Term] = [
                (np.tile(self.weights, (len(members), 1)), np.repeat(self.rows[members], d, axis=0)),
                (np.tile(self.thresholds, len(members)), -1.0),
                (sides.ravel(), -big),
            ]
            if label == 1:
                model.add_rows(terms, lower=self.margin - big)
                model.add_rows([(sides, v[None, :]), (errors, float(theta))], lower=theta)
            else:
                model.add_rows(terms, upper=-self.margin)
                model.add_rows([(sides, v[None, :]), (errors, theta - 1.0 - total)], upper=theta - 1)
        self.model = model.build()

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
