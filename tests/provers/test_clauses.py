"""Clauses: they say what the gate and the sum say, for every assignment of few rows."""

from itertools import permutations, product

import numpy as np
import pytest
from pysat.solvers import Solver

from stepnet.model.gates import gates
from stepnet.provers.clauses import Formula, spoilers


def can_hold(clauses, assumptions):
    with Solver(name="cadical195", bootstrap_with=clauses) as solver:
        return solver.solve(assumptions=assumptions)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_row_may_count_as_right_iff_the_gate_says_so(width):
    """More neurons that get it right never hurt, so it is enough if some of them are allowed to."""
    for gate in gates(width):
        for code in (0, 1):
            formula = Formula(gate, [code], [1], 1)
            for right in product([False, True], repeat=width):
                bits = np.array(right) == bool(code)  # a neuron that is right is on for class 1, off for class 0
                answer = int(np.dot(gate.weights, bits) >= gate.threshold)
                wrong = [-formula.right[0][j] for j, is_right in enumerate(right) if not is_right]
                assert can_hold(formula.clauses, [*wrong, -formula.wrong(0)]) == (answer == code)
            assert can_hold(formula.clauses, [formula.wrong(0)])


@pytest.mark.parametrize("width", [2, 3, 4])
def test_neurons_in_order_are_no_fewer_networks(width):
    """Whatever sets of rows neurons get right, some order of the neurons with fewer rows is allowed."""
    rng = np.random.default_rng(width)
    for gate in gates(width):
        codes = [0, 1, 0, 1]
        formula = Formula(gate, codes, [1] * 4, 4, ordering=[2, 3, 0])
        for _ in range(10):
            right = rng.random((4, width)) < 0.7
            bits = right == np.array(codes, dtype=bool)[:, None]
            is_wrong = (bits @ np.array(gate.weights) >= gate.threshold) != np.array(codes, dtype=bool)
            orders = [p for p in permutations(range(width)) if all(np.array(gate.weights)[list(p)] == gate.weights)]
            assert any(
                can_hold(
                    formula.clauses,
                    [-formula.right[i][j] for i in range(4) for j in range(width) if not right[i, order[j]]]
                    + [-formula.wrong(i) for i in range(4) if not is_wrong[i]],
                )
                for order in orders
            )


def test_spoilers_are_smallest():
    for gate in gates(4):
        for code in (0, 1):
            sets = [set(neurons) for neurons in spoilers(gate, code)]
            assert not any(a < b for a in sets for b in sets)


@pytest.mark.parametrize("weights", [(1, 1, 1, 1, 1), (3, 1, 2, 2), (7, 1), (2,), (0, 1, 5)])
def test_sums_hold_exactly_the_losses_up_to_the_limit(weights):
    for most in range(sum(weights) + 1):
        formula = Formula(gates(1)[0], [1] * len(weights), weights, most)
        for limit in range(most + 1):
            for wrong in product([False, True], repeat=len(weights)):
                literals = [formula.wrong(i) * (1 if is_wrong else -1) for i, is_wrong in enumerate(wrong)]
                assert can_hold(formula.clauses, literals + formula.at_most(limit)) == (np.dot(weights, wrong) <= limit)


def test_a_subsystem_forbids_every_neuron_to_be_right_on_all_of_it():
    formula = Formula(gates(2)[0], [0, 0, 1, 0], [1] * 4, 4)
    clauses = formula.of_subsystem((0, 2, 3))
    assert len(clauses) == 2
    assert not can_hold(clauses, [formula.right[row][1] for row in (0, 2, 3)])
    assert can_hold(clauses, [formula.right[row][1] for row in (0, 1, 2)])


@pytest.mark.parametrize("costs", [(1, 0, 1, 1), (3, 1, 2, 2), (0, 0, 5, 1)])
def test_limits_admit_exactly_the_errors_that_keep_them(costs):
    for most in range(sum(costs) + 1):
        formula = Formula(gates(1)[0], [1, 0, 1, 0], [1] * 4, 4, limits=[(costs, most), ((1, 1, 0, 0), 1)])
        for wrong in product([False, True], repeat=4):
            literals = [formula.wrong(i) * (1 if is_wrong else -1) for i, is_wrong in enumerate(wrong)]
            is_kept = np.dot(costs, wrong) <= most and not (wrong[0] and wrong[1])
            assert can_hold(formula.clauses, literals) == is_kept
