"""Clauses: they say what the gate and the sum say, for every assignment of few rows."""

from itertools import product

import numpy as np
import pytest
from pysat.solvers import Solver

from stepnet.gates import gates
from stepnet.proofs.clauses import Numbering, gate_clauses, spoilers, subsystem_clauses, sum_clauses


def can_hold(clauses, assumptions):
    with Solver(name="cadical195", bootstrap_with=clauses) as solver:
        return solver.solve(assumptions=assumptions)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_row_may_count_as_right_iff_the_gate_says_so(width):
    for gate in gates(width):
        for code in (0, 1):
            numbers = Numbering(1, width)
            clauses = list(gate_clauses(gate, [code], numbers))
            for right in product([False, True], repeat=width):
                bits = np.array(right) == bool(code)  # a neuron that is right is on for class 1, off for class 0
                answer = int(np.dot(gate.weights, bits) >= gate.threshold)
                literals = [numbers.right(0, j) * (1 if is_right else -1) for j, is_right in enumerate(right)]
                assert can_hold(clauses, [*literals, -numbers.wrong(0)]) == (answer == code)


def test_spoilers_are_smallest():
    for gate in gates(4):
        for code in (0, 1):
            sets = [set(neurons) for neurons in spoilers(gate, code)]
            assert not any(a < b for a in sets for b in sets)


@pytest.mark.parametrize("weights", [(1, 1, 1, 1, 1), (3, 1, 2, 2), (7, 1), (2,), (0, 1, 5)])
def test_sums_hold_exactly_the_losses_up_to_the_limit(weights):
    for most in range(sum(weights) + 1):
        numbers = Numbering(len(weights), 1)
        clauses, sums = sum_clauses(weights, most, numbers)
        for limit in range(most + 1):
            bounds = [-variable for total, variable in sums.items() if total > limit]
            for wrong in product([False, True], repeat=len(weights)):
                literals = [numbers.wrong(i) * (1 if is_wrong else -1) for i, is_wrong in enumerate(wrong)]
                assert can_hold(clauses, [*literals, *bounds]) == (np.dot(weights, wrong) <= limit)


def test_a_subsystem_forbids_every_neuron_to_be_right_on_all_of_it():
    numbers = Numbering(4, 2)
    clauses = list(subsystem_clauses((0, 2, 3), numbers))
    assert len(clauses) == 2
    assert not can_hold(clauses, [numbers.right(row, 1) for row in (0, 2, 3)])
    assert can_hold(clauses, [numbers.right(row, 1) for row in (0, 1, 2)])
