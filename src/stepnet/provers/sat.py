"""Sat: which rows can the neurons of a hidden layer get right together? A SAT solver and the oracle decide it in turn.

The solver knows the gate, the limit on the loss and the subsystems so far. If it finds sets of rows that satisfy them,
the oracle returns neurons for these sets, or subsystems of them, which the solver learns. There are no weights,
margins or big-M: a bound holds for all networks.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Refutations
from stepnet.errors import Answer
from stepnet.model.gates import Gate, gates
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, Offer, Prover, accepts_correct_sets, width_of
from stepnet.provers.clauses import Formula
from stepnet.provers.learning import learn, ordering_rows
from stepnet.provers.oracle import Oracle
from stepnet.provers.pool import Pool
from stepnet.provers.row_weights import MOST_SUMS, RowWeights
from stepnet.provers.sat_solver import SOLVER, TITLE, answer_of, delete
from stepnet.runtime.limits import Budget

_FIRST_PACKINGS = 10
_FIRST_TURN = 1.0  # seconds
_DIRECT = 2 / 3  # of a turn: to look for a better network; the rest is for raising the bound from below


class Sat(Prover):
    """Correct sets by SAT, gate by gate; the gates share the subsystems, the best loss and the time."""

    name = "sat"

    def accepts(self, problem: Problem) -> Answer:
        return accepts_correct_sets(problem, self.name)

    def reason(self, problem: Problem) -> str:
        width = width_of(problem)
        return f"the output of {width} neurons is one of {len(gates(width))} gates"

    def work(self, host: Host, offer: Offer) -> None:
        problem = host.problem
        row_weights = problem.dataset.weights
        if host.loss > MOST_SUMS * row_weights[row_weights > 0].mean():
            return  # a loss of so many rows is out of reach
        weights, heavy = RowWeights.of(problem.dataset.weights, host.loss), list[list[int]]()
        oracle, pool = Oracle(problem.dataset.X, problem.dataset.y == 1, host.seed), host.pool
        everything = np.arange(problem.dataset.n_rows)
        for _ in range(_FIRST_PACKINGS):
            for subsystem in oracle.packing(everything, host.must_stop)[0]:
                pool.add(subsystem)
        most = max(0, weights.limit_below(host.loss))
        with ThreadPoolExecutor(1) as worker:
            turns = [
                GateDecision(problem, gate, weights, most, oracle, pool, worker, heavy)
                for gate in gates(width_of(problem))
            ]
            try:
                self._take_turns(host, offer, turns)
            finally:
                for decision in turns:
                    decision.close()

    def _take_turns(self, host: Host, offer: Offer, decisions: list[GateDecision]) -> None:
        """Each open gate gets some time, then twice as much, and so on: many are closed immediately."""
        still_open, seconds = decisions, _FIRST_TURN
        while still_open and not host.must_stop():
            for decision in still_open:
                decision.work(host, offer, host.budget.until(host.budget.elapsed + seconds))
                self._raise_bound(host, decisions)
                if host.is_over:
                    return
            still_open = [decision for decision in still_open if not decision.is_closed(host.loss)]
            seconds *= 2

    def _raise_bound(self, host: Host, decisions: list[GateDecision]) -> None:
        weights, pool = decisions[0].weights, decisions[0].pool
        resolution = 0.0 if weights.is_exact else weights.loss_of(weights.grain)
        least = weights.loss_of(min(decision.lower for decision in decisions))
        evidence = Refutations(len(pool), len(decisions), TITLE, resolution)
        host.raise_bound(Bound(min(host.loss, max(least, weights.round_up(least))), evidence=evidence))


class GateDecision:
    """Decides whether a network of one gate has at most a given loss."""

    def __init__(
        self,
        problem: Problem,
        gate: Gate,
        weights: RowWeights,
        most: int,
        oracle: Oracle,
        pool: Pool,
        worker: ThreadPoolExecutor,
        heavy: list[list[int]],
    ) -> None:
        self.problem, self.gate, self.weights, self.oracle, self.pool = problem, gate, weights, oracle, pool
        self.lower = 0  # no network of this gate loses less, in units of the weights
        self.most = most
        self._is_stuck = False  # nothing more can be learned because of rounding
        self._worker = worker  # off the main thread, python-sat does not intercept Ctrl-C
        self._solver: Any = None
        self._n_told = 0
        self.heavy = heavy  # sets of rows too heavy to be misclassified together, for all gates
        self._n_heavy_told = 0
        self.impossible: list[list[int]] = []  # sets of rows that break a limit on errors if misclassified together
        self._n_impossible_told = 0

    @cached_property
    def ordering(self) -> list[int]:
        return ordering_rows(self.pool, self.problem.dataset.y.tolist())

    @cached_property
    def formula(self) -> Formula:
        """Written in the first turn: many gates are never reached."""
        codes, weights = self.problem.dataset.y.tolist(), self.weights
        limits = [(one.coefficients.tolist(), one.most) for one in self.problem.constraints.inequalities]
        return Formula(self.gate, codes, weights.integers, self.most, self.ordering, weights.grain, limits)

    def close(self) -> None:
        if self._solver is not None:
            delete(self._solver, self._worker)

    def is_closed(self, loss: float) -> bool:
        """Whether no network of this gate is better than the best one known, or nothing is left to try."""
        return self._is_stuck or self.lower > self.weights.limit_below(loss)

    def work(self, host: Host, offer: Offer, budget: Budget) -> None:
        """Look for a network better than the best one; if that takes too long, raise the bound from below."""
        part = budget.until(budget.elapsed + _DIRECT * budget.remaining)
        while not self.is_closed(host.loss) and part.stop_reason is None:
            self._ask(self.weights.limit_below(host.loss), part, host, offer)
        while not self.is_closed(host.loss) and budget.stop_reason is None:
            self._ask(self.lower, budget, host, offer)

    def _ask(self, limit: int, budget: Budget, host: Host, offer: Offer) -> None:
        """Decide a limit; a network that is no better is excluded."""
        before = host.loss
        network = self.decide(limit, budget, offer)
        if isinstance(network, Network) and self.problem.price(network) >= before:
            self._is_stuck = not self.forbid(network, self.weights.limit_below(host.loss))

    def forbid(self, network: Network, limit: int) -> bool:
        """Exclude this network and all that get the same rows wrong: sums may be distinguished only roughly.

        False if these rows weigh no more than the limit and break no other one.
        """
        data = self.problem.dataset
        wrong = network.predict(data.X) != data.y
        for one in self.problem.constraints.inequalities:
            if rows := one.smallest_violation(wrong):
                self.impossible.append(rows)
                return True
        rows = self.weights.heavy(np.flatnonzero(wrong).tolist(), limit)
        if rows:
            self.heavy.append(rows)
        return bool(rows)

    def decide(self, limit: int, budget: Budget, offer: Offer) -> Network | bool | None:
        """A network that loses at most ``limit`` in units of the weights; False if there is none, None if that is open.

        Other networks that are found are offered, too.
        """
        from pysat.solvers import Solver

        assert limit <= self.most
        formula = self.formula
        if self._solver is None:
            self._solver = Solver(name=SOLVER, bootstrap_with=formula.clauses)
        while True:
            self._tell(formula)
            answer = answer_of(self._solver, self._worker, budget.is_used_up, formula.at_most(limit))
            if answer is None:
                return None
            if not answer:
                # Networks that were excluded one by one lose the weight of their rows.
                weighs = [sum(self.weights.integers[row] for row in rows) for rows in self.heavy]
                self.lower = max(self.lower, min([formula.next_limit(limit), *weighs]))
                return False
            is_true = np.array([0, *self._solver.get_model()]) > 0
            right = np.array(formula.right)
            sets = np.where(right > 0, is_true[np.abs(right)], ~is_true[np.abs(right)])
            network, n_new = learn(self.problem, self.gate, self.oracle, self.pool, sets, budget.is_used_up)
            if network is not None:
                offer(network)
            if not n_new:
                self._is_stuck = network is None and budget.stop_reason is None
                return network

    def _tell(self, formula: Formula) -> None:
        """Tell the solver what is new in the pool."""
        for subsystem in self.pool.subsystems[self._n_told :]:
            self._solver.append_formula(formula.of_subsystem(subsystem.rows))
        self._n_told = len(self.pool)
        for rows in self.heavy[self._n_heavy_told :]:
            self._solver.add_clause(formula.of_heavy(rows))
        self._n_heavy_told = len(self.heavy)
        for rows in self.impossible[self._n_impossible_told :]:
            self._solver.add_clause(formula.of_heavy(rows))
        self._n_impossible_told = len(self.impossible)
