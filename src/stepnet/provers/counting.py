"""Counting: which rows can neurons get right together? Decided by a solver that adds up and divides constraints.

As for clauses, the solver knows the gate, a limit on the loss and the subsystems so far, and the oracle returns neurons
or subsystems for the sets of rows that it finds. But the limit is a single constraint,

    Σ weight_i · e_i <= limit + (Σ weight_i - limit) (1 - a)   with a bit a that is assumed to be 1,

and what follows from it and from subsystems, such as that two disjoint ones cost two rows, follows by addition. Limits
climb from below until one is met: each that cannot be met is a bound. How long they take grows exponentially, so that
those before the last cost little, and what was learned remains. For one neuron, the linear relaxation of the set cover
finds subsystems first, which make this several times faster.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Refutations
from stepnet.errors import Answer, SolverFailure
from stepnet.model.gates import Gate, gates
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, Offer, Prover, accepts_correct_sets, width_of
from stepnet.provers.clauses import GateClauses
from stepnet.provers.cones import MOST_DIMENSIONS
from stepnet.provers.counting_solver import EXTRA, PACKAGE, CountingSolver, title
from stepnet.provers.learning import learn, ordering_rows
from stepnet.provers.merged_rows import Units, dimension
from stepnet.provers.one_neuron import Cover
from stepnet.provers.oracle import Oracle

_FIRST_PACKINGS = 10
_GROWTHS = 2.0, 8.0  # from target to target, at least and at most
_SHORT = 1e-3  # seconds
_MANY = 50.0  # targets, after which time seems infinite


class Counting(Prover):
    """Correct sets by constraints on sums, gate by gate; the gates share the subsystems and the best loss."""

    name = "counting"
    package, extra = PACKAGE, EXTRA
    resumes = True

    def accepts(self, problem: Problem) -> Answer:
        return accepts_correct_sets(problem, self.name)

    def reason(self, problem: Problem) -> str:
        return "the limit on the loss is one constraint for a solver that adds up"

    def is_promising(self, problem: Problem) -> bool:
        """For a single neuron of many features; more neurons were faster by clauses, fewer features by cones."""
        is_wide = dimension(problem.dataset, MOST_DIMENSIONS + 1) > MOST_DIMENSIONS
        return self.is_available() and width_of(problem) == 1 and is_wide

    def seconds_left(self, host: Host) -> float | None:
        climb: _Climb | None = host.kept.get(self.name)
        return None if climb is None else climb.seconds_left

    def work(self, host: Host, offer: Offer) -> None:
        climb: _Climb | None = host.kept.get(self.name)
        if climb is None or not climb.units.are_fine_for(host.loss):
            units = Units.of(host.problem, host.loss)
            if units is None:
                return
            if climb is not None:
                climb.close()
            climb = host.kept[self.name] = _Climb(host, units)
            if width_of(host.problem) == 1:
                Cover(host, offer).relax()
        try:
            if not climb.is_stuck:
                climb.work(offer)
        except SolverFailure:
            climb.is_stuck = True

    def release(self, host: Host) -> None:
        climb: _Climb | None = host.kept.pop(self.name, None)
        if climb is not None:
            climb.close()


class _Climb:
    """Targets of one problem, in units of the row weights: losses below a target are refuted gate by gate."""

    def __init__(self, host: Host, units: Units) -> None:
        self.host, self.units = host, units
        self.step = max(1, int(units.integers[units.integers > 0].mean()))
        self.refuted = 0  # no network loses less
        self.least = math.inf  # what a network loses that floats may be unable to represent
        self.is_stuck = False
        self.seconds = [0.0]  # for each target, the present one last
        oracle = Oracle(host.problem.dataset.X, np.asarray(host.problem.dataset.y == 1), host.seed)
        everything = np.arange(host.problem.dataset.n_rows)
        for _ in range(_FIRST_PACKINGS):
            for subsystem in oracle.packing(everything, host.must_stop)[0]:
                host.pool.add(subsystem)
        self.gates = [_GateCounting(host, gate, units, oracle) for gate in gates(width_of(host.problem))]

    @property
    def last(self) -> int:
        """The target that proves the best loss."""
        return int(min(self.least, self.units.below(self.host.loss) + 1))

    @property
    def seconds_left(self) -> float:
        """Until the last target is refuted, if the time for each one grows as it did."""
        if len(self.seconds) < 3:
            return math.inf
        before, last, now = self.seconds[-3:]
        growth = min(max(last / max(before, _SHORT), _GROWTHS[0]), _GROWTHS[1])
        n_left = (self.last - self.refuted) / self.step
        return max(last, now) * growth ** min(n_left, _MANY) if n_left > 0 else 0.0

    def close(self) -> None:
        for gate in self.gates:
            gate.close()

    def work(self, offer: Offer) -> None:
        host = self.host
        while not host.is_over and self.refuted < self.last:
            begin = host.budget.elapsed
            is_done = all(self._is_refuted(gate, self.refuted + self.step, offer) for gate in self.gates)
            self.seconds[-1] += host.budget.elapsed - begin
            if not is_done:
                return
            self.seconds.append(0.0)
            self.refuted = min(gate.refuted for gate in self.gates)
            loss = self.units.loss_of(self.refuted, host.loss)
            host.raise_bound(Bound(loss, evidence=Refutations(len(host.pool), len(self.gates), title())))
        self.is_stuck = not host.must_stop()

    def _is_refuted(self, gate: _GateCounting, target: int, offer: Offer) -> bool:
        """Work until no network of a gate loses less than a target, or than what was found; False if time is up."""
        while gate.refuted < min(target, self.last):
            lost = gate.decide(min(target, self.last) - 1, offer)
            if lost is None:
                return False
            self.least = min(self.least, lost)
        return True


class _GateCounting:
    """Decides whether a network of one gate has at most a given loss."""

    def __init__(self, host: Host, gate: Gate, units: Units, oracle: Oracle) -> None:
        self.host, self.gate, self.oracle = host, gate, oracle
        self.weights: list[int] = units.integers.tolist()
        self.refuted = 0  # no network of this gate loses less, in units
        self._limits: dict[int, int] = {}  # the bit that states a limit
        self._n_told = 0
        self._solver: CountingSolver | None = None

    @cached_property
    def _clauses(self) -> GateClauses:
        codes = self.host.problem.dataset.y.tolist()
        return GateClauses(self.gate, codes, ordering_rows(self.host.pool, codes))

    def close(self) -> None:
        if self._solver is not None:
            self._solver.close()

    def decide(self, limit: int, offer: Offer) -> float | None:
        """What a network of sets of rows loses, in units, if that is at most a limit; None if the time is up.

        Infinite if there is no such network. The networks of neurons that are found are offered.
        """
        host, right = self.host, np.array(self._clauses.right)
        while True:
            solver = self._told()
            answer = solver.answer(host.must_stop, self._bit_of(limit))
            if answer is None:
                return None
            if not answer:
                self.refuted = limit + 1
                return math.inf
            is_true = np.array([0, *solver.values]) > 0
            sets = np.where(right > 0, is_true[np.abs(right)], ~is_true[np.abs(right)])
            network, n_new = learn(host.problem, self.gate, self.oracle, host.pool, sets, host.must_stop)
            if host.must_stop():
                return None
            if network is not None:
                offer(network)
            if not n_new:
                return sum(weight for weight, lost in zip(self.weights, is_true[1:], strict=False) if lost)

    def _told(self) -> CountingSolver:
        """The solver, which knows the gate, the limits on errors and the subsystems in the pool."""
        clauses, pool = self._clauses, self.host.pool
        if self._solver is None:
            self._solver = CountingSolver()
            for clause in clauses.clauses:
                self._solver.add_clause(clause)
            for one in self.host.problem.constraints.inequalities:
                costs = one.coefficients.tolist()
                self._solver.add(clauses.correct(costs), sum(costs) - one.most)
        for subsystem in pool.subsystems[self._n_told :]:
            for clause in clauses.of_subsystem(subsystem.rows):
                self._solver.add_clause(clause)
        self._n_told = len(pool)
        return self._solver

    def _bit_of(self, limit: int) -> int:
        if limit not in self._limits:
            bit = self._limits[limit] = self._clauses.top + 1 + len(self._limits)
            needed = sum(self.weights) - limit
            self._told().add([*self._clauses.correct(self.weights), (needed, -bit)], needed)
        return self._limits[limit]
