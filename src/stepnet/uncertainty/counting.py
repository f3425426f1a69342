"""An attack by whole steps as a program of whole numbers, for CP-SAT.

    min   k                                       or: any, if only one k is asked for
    s.t.  Σ_l w_jl s_l m_l >= t_j - w_j·x         for each first-layer bit b_j = 1 that is in reach,
          Σ_l w_jl s_l m_l <  t_j - w_j·x         for each b_j = 0
          S_i b >= t_i where b_i = 1, and < t_i where b_i = 0, for each bit above that is not settled
          c_r·b >= d_r for one rival r
          the size of m is k units, lowest <= m <= highest

Whole weights are taken as they are; others are rounded to a fine grid, and their conditions loosened by what that may
change in a sum. So a program without solutions shows that there is no attack, on the word of CP-SAT; what it finds is a
candidate, which an exact forward pass confirms.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from stepnet.model.arithmetic import Floats, Ints, exact_dot
from stepnet.solvers.backends.base import run_stoppable
from stepnet.uncertainty.circuit import Circuit
from stepnet.uncertainty.hyperplanes import Sides
from stepnet.uncertainty.lattice import Lattice

_FINE = 1 << 22  # the largest weight of a row that is rounded to whole numbers
_LARGE = 1 << 40  # whole weights up to here are taken as they are
_LONGEST = 1e9  # seconds


class Counted(NamedTuple):
    """Moves, if there are some, and the number of units below which CP-SAT claims that there are none."""

    moves: Ints | None
    least: float


class Counting:
    """The program for one row; bits are settled outside of ``ranges``, and moves have at most ``most`` units."""

    title = "CP-SAT"

    @classmethod
    def available(cls) -> type[Counting] | None:
        return cls if importlib.util.find_spec("ortools") is not None else None

    def __init__(
        self,
        circuit: Circuit,
        lattice: Lattice,
        W: Floats,
        T: Floats,
        ranges: tuple[Sides, Sides],
        most: int,
        answer: int,
    ) -> None:
        from ortools.sat.python import cp_model

        self.circuit, self.lattice, self.most = circuit, lattice, most
        self.cp, self.model = cp_model, cp_model.CpModel()
        self.low, self.high = ranges
        self.bits = [
            self.model.new_bool_var("") if low < high else int(low)
            for low, high in zip(self.low.tolist(), self.high.tolist(), strict=True)
        ]
        self.W, self.T, self.answer = W, T, answer

    def solve(self, low: Ints, high: Ints, least: int, should_stop: Callable[[], bool]) -> Counted:
        """Look for moves of at least ``least`` units."""
        loose = np.flatnonzero(self.low[: len(self.T)] < self.high[: len(self.T)])
        moved = np.flatnonzero((self.W[loose] != 0).any(axis=0) & (low < high))
        moves = {int(one): self.model.new_int_var(int(low[one]), int(high[one]), "") for one in moved}
        for group in self.lattice.groups:
            for feature in group.tolist():
                if feature not in moves:
                    moves[feature] = self.model.new_int_var(int(low[feature]), int(high[feature]), "")
            self.model.add(sum(moves[feature] for feature in group.tolist()) == 0)
        self._first(loose, moves)
        for k in range(len(self.circuit.sums)):
            self._above(k)
        if not self._rivals():
            return Counted(None, np.inf)
        size = self._size(moves, least)
        solver, status = self._run(should_stop)
        names = solver.status_name(status)
        if names == "INFEASIBLE":
            return Counted(None, self.most + 1)
        if names not in ("OPTIMAL", "FEASIBLE"):
            return Counted(None, max(least, int(np.ceil(solver.best_objective_bound))) if size is not None else least)
        found = np.zeros(len(self.lattice.row), dtype=np.int64)
        for feature, move in moves.items():
            found[feature] = solver.value(move)
        bound = least if size is None else max(least, int(np.ceil(solver.best_objective_bound - 1e-6)))
        return Counted(found, bound)

    def _run(self, should_stop: Callable[[], bool]) -> tuple[Any, Any]:
        solver = self.cp.CpSolver()
        solver.parameters.num_workers = max(1, min(8, os.cpu_count() or 1))
        solver.parameters.catch_sigint_signal = False
        answers: list[Any] = []
        task: Any = SimpleNamespace(time_limit=_LONGEST, should_stop=should_stop)
        run_stoppable(lambda: answers.append(solver.solve(self.model)), solver.stop_search, task)
        return solver, answers[0]

    def _first(self, loose: Ints, moves: dict[int, Any]) -> None:
        lattice = self.lattice
        features = np.array(sorted(moves), dtype=np.int64)
        largest = np.maximum(*np.abs(lattice.limits(self.most)))[features]
        for j in loose.tolist():
            weights = self.W[j, features] * lattice.steps[features]
            used = np.flatnonzero(weights)
            whole, factor, slack = _whole(weights[used], largest[used])
            total = self.cp.LinearExpr.weighted_sum([moves[int(features[one])] for one in used], whole.tolist())
            goal = (Fraction(self.T[j]) - exact_dot(lattice.row, self.W[j])) * Fraction(factor)
            reached, missed = math.ceil(goal), math.ceil(goal) - 1
            if slack:
                reached, missed = math.ceil(goal - Fraction(slack)), math.floor(goal + Fraction(slack))
            self.model.add(total >= reached).only_enforce_if(self.bits[j])
            self.model.add(total <= missed).only_enforce_if(~self.bits[j])

    def _above(self, k: int) -> None:
        sums, below, own = self.circuit.sums[k], self.circuit.part(k), self.circuit.part(k + 1)
        matrix = sparse.csr_array(sums.matrix)
        bits = self.bits[below]
        for i, bit in enumerate(self.bits[own]):
            if isinstance(bit, int):
                continue
            total, slack = self._sum(matrix[[i]].toarray()[0], bits)
            whole, factor = total
            self.model.add(whole >= int(np.ceil((sums.least[i] - sums.sizes[i]) * factor - slack))).only_enforce_if(bit)
            most = int(np.floor((sums.most[i] + sums.sizes[i]) * factor + slack))
            self.model.add(whole <= most).only_enforce_if(~bit)

    def _sum(self, weights: Floats, bits: list[Any]) -> tuple[tuple[Any, float], float]:
        whole, factor, slack = _whole(weights, np.ones(len(weights), dtype=np.int64))
        used = np.flatnonzero(whole)
        constant = sum(int(whole[one]) * bits[one] for one in used.tolist() if isinstance(bits[one], int))
        free = [one for one in used.tolist() if not isinstance(bits[one], int)]
        total = (
            self.cp.LinearExpr.weighted_sum([bits[one] for one in free], [int(whole[one]) for one in free]) + constant
        )
        return (total, factor), slack

    def _rivals(self) -> bool:
        """At least one rival has what it needs."""
        bits, choices = self.bits[self.circuit.part(len(self.circuit.hidden) - 1)], []
        for rival in self.circuit.rivals(self.answer) or []:
            (total, factor), slack = self._sum(rival.coefficients, bits)
            choice = self.model.new_bool_var("")
            self.model.add(total >= int(np.ceil(rival.least * factor - slack))).only_enforce_if(choice)
            choices.append(choice)
        if choices:
            self.model.add_bool_or(choices)
        return bool(choices)

    def _size(self, moves: dict[int, Any], least: int) -> Any:
        """The number of units as a variable to be minimised; None in ℓ∞, where the limits of moves say it all."""
        lattice, model = self.lattice, self.model
        if lattice.norm == "linf":
            return None
        terms, costs = [], []
        for feature, move in moves.items():
            low, high = int(lattice.lowest[feature]), int(lattice.highest[feature])
            if lattice.in_group[feature] and high <= 0:
                continue  # of a group that moves, the new category counts
            largest = min(max(-low, high), self.most)
            if lattice.norm == "l0":
                term = model.new_bool_var("")
                model.add(move == 0).only_enforce_if(~term)
                cost = 1
            else:
                term, cost = model.new_int_var(0, largest, ""), int(lattice.costs[feature])
                model.add_abs_equality(term, move)
                if lattice.norm == "l2":
                    square = model.new_int_var(0, largest * largest, "")
                    model.add_multiplication_equality(square, [term, term])
                    term, cost = square, cost * cost
            terms.append(term)
            costs.append(cost)
        size = self.cp.LinearExpr.weighted_sum(terms, costs)
        model.add(size >= least)
        model.add(size <= self.most)
        model.minimize(size)
        return size


def _whole(weights: Floats, largest: Ints) -> tuple[Ints, float, float]:
    """Weights as whole numbers, the factor, and how far a sum may be off for it."""
    if (weights == np.round(weights)).all() and np.abs(weights).max(initial=0.0) < _LARGE:
        return weights.astype(np.int64), 1.0, 0.0
    factor = 2.0 ** np.floor(np.log2(_FINE / np.abs(weights).max()))
    scaled = weights * factor
    whole = np.round(scaled)
    slack = float(np.abs(scaled - whole) @ largest)
    return whole.astype(np.int64), float(factor), slack * (1 + 1e-9)
