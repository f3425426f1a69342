"""One neuron: the lightest set of rows to give up so that no infeasible subsystem is left.

    min Σ weight_i · e_i   subject to   Σ_{i in S} e_i >= 1 for every subsystem S,   e_i in {0, 1}

Limits on errors, Σ a_i e_i <= b with a_i >= 0, are further rows.

Rounds of the linear relaxation find most of the subsystems that matter; then the program itself is solved and the
oracle is asked about the rows that it keeps, until there is a neuron for them. Weights are capped at the best loss
known and scaled, so that a solver's tolerances are small in comparison; their possible sum is subtracted from a bound,
which is then rounded up to the next loss that any rows have. Each bound holds for all neurons.
"""

from __future__ import annotations

import math

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import SetCover
from stepnet.errors import Answer, SolverFailure
from stepnet.model.arithmetic import Floats
from stepnet.model.gates import gates
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, Offer, Prover, accepts_correct_sets, network_of
from stepnet.provers.oracle import Indices, Oracle
from stepnet.provers.row_weights import RowWeights
from stepnet.solvers.backends.base import Outcome, Task
from stepnet.solvers.backends.registry import named_backend
from stepnet.solvers.model import Model, ModelBuilder

_FIRST_PACKINGS = 10
_ROUNDS = 60  # of the relaxation at most
_IDLE_ROUNDS = 5  # without progress, at most
_SCALE = 1e4  # the best loss in units of the program, at most
_TOLERANCE = 2e-7  # of reduced costs; the solver's own is 1e-7
_THRESHOLDS = (1e-6, 0.1, 0.2, 0.34, 0.5)  # the oracle is asked about the rows that the relaxation gives up by no more


class OneNeuron(Prover):
    """Correct sets for a single neuron, by a set cover over infeasible subsystems."""

    name = "one_neuron"

    def accepts(self, problem: Problem) -> Answer:
        if problem.architecture.hidden not in ((), (1,)):
            return Answer(
                f"formulation='one_neuron' accepts hidden=(1,) or (); got hidden={problem.architecture.hidden}. "
                f"Use formulation='sat'."
            )
        return accepts_correct_sets(problem, self.name)

    def reason(self, problem: Problem) -> str:
        return "for a single neuron a set cover is easier than clauses"

    def work(self, host: Host, offer: Offer) -> None:
        Cover(host, offer).work()


class Cover:
    """The subsystems of one problem, and the programs over them."""

    def __init__(self, host: Host, offer: Offer) -> None:
        self.host, self.offer, self.problem = host, offer, host.problem
        dataset = host.problem.dataset
        self.weights = RowWeights.of(dataset.weights, host.loss)
        # No better network gives up a row that is heavier than the loss. Small integers are kept as they are.
        self.unit = host.problem.accuracy.step
        if not self.unit or host.loss / self.unit > _SCALE:
            self.unit = host.loss / _SCALE
        self.costs = np.minimum(dataset.weights, host.loss) / self.unit
        # The sum of all reduced costs being wrong by the solver's tolerance.
        self.safety = _TOLERANCE * dataset.n_rows
        self.oracle, self.pool = Oracle(dataset.X, dataset.y == 1, host.seed), host.pool
        self.backend = named_backend("highs")
        self.everything: Indices = np.arange(dataset.n_rows)

    def work(self) -> None:
        self.relax()
        if len(self.pool):
            self._solve_integers()

    def relax(self) -> None:
        """Look for subsystems until the linear relaxation is covered, or makes no more progress."""
        for _ in range(_FIRST_PACKINGS):
            self._ask(self.everything)
        if not len(self.pool):
            return  # one neuron gets all rows right
        best, idle = -1.0, 0
        for _ in range(_ROUNDS):
            outcome = self._solve(is_integer=False)
            if outcome is None or outcome.point is None:
                break
            self._raise_bound(outcome.bound, is_relaxed=True)
            idle = 0 if outcome.bound > best + 1e-6 else idle + 1
            best = max(best, outcome.bound)
            if self.host.is_over or idle > _IDLE_ROUNDS or not self._cut(outcome.point):
                break

    def _solve_integers(self) -> None:
        while not self.host.is_over:
            outcome = self._solve(is_integer=True)
            if outcome is None:
                return
            self._raise_bound(outcome.bound, is_relaxed=False)
            if outcome.point is None or outcome.status == "stopped":
                return
            if not self._ask(np.flatnonzero(outcome.point < 0.5)):
                return  # there is a neuron for the rows that are kept, and it was offered

    def _ask(self, rows: Indices) -> int:
        """Add subsystems of the rows to the pool, and offer the neuron of the remaining rows; how many are new."""
        found, neuron = self.oracle.packing(rows, self.host.must_stop)
        if neuron is not None:
            self.offer(network_of(self.problem, gates(1)[0], [neuron]))
        return sum(self.pool.add(subsystem) for subsystem in found)

    def _cut(self, point: Floats) -> int:
        """Look for subsystems that a point does not cover among rows that it hardly gives up; how many are new."""
        return sum(self._ask(np.flatnonzero(point <= threshold)) for threshold in _THRESHOLDS)

    def _solve(self, *, is_integer: bool) -> Outcome | None:
        model = self._model(is_integer=is_integer)
        if self.host.must_stop():
            return None
        task = Task(model, time_limit=self.host.budget.remaining, should_stop=self.host.must_stop)
        try:
            return self.backend.solve(task)
        except SolverFailure:
            return None

    def _model(self, *, is_integer: bool) -> Model:
        builder = ModelBuilder()
        columns = builder.add_columns("e", len(self.everything), 0.0, 1.0, integer=is_integer, cost=self.costs)
        for size in sorted({len(subsystem.rows) for subsystem in self.pool.subsystems}):
            rows = np.array([subsystem.rows for subsystem in self.pool.subsystems if len(subsystem.rows) == size])
            builder.add_rows([(columns[rows], 1.0)], lower=1.0)
        for one in self.problem.constraints.inequalities:
            coefficients, most = one.scaled(_SCALE)
            if (used := np.flatnonzero(coefficients)).size:
                builder.add_rows([(columns[None, used], coefficients[None, used])], upper=most)
        return builder.build()

    def _raise_bound(self, value: float, *, is_relaxed: bool) -> None:
        if math.isfinite(value):
            loss = (value - self.safety) * self.unit
            loss = max(loss, self.weights.round_up(loss), self.problem.accuracy.round_up(loss))
            evidence = SetCover(len(self.pool), f"{self.backend.title} {self.backend.version()}", is_relaxed)
            self.host.raise_bound(Bound(min(self.host.loss, loss), evidence=evidence))
