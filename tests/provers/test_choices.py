"""Choices: the best sets, one a neuron, below every gate."""

from itertools import product

import numpy as np
import pytest

from stepnet.model.gates import gates
from stepnet.provers.bits import packed
from stepnet.provers.choices import best_sets
from stepnet.provers.clauses import spoilers


@pytest.mark.parametrize(("width", "n_sets"), [(1, 9), (2, 9), (3, 7), (4, 5), (5, 4)])
def test_the_best_choice_is_that_of_trying_them_all(width, n_sets):
    rng = np.random.default_rng(width)
    m = 70
    sets, on, weights = rng.random((n_sets, m)) < 0.7, rng.random(m) < 0.5, rng.integers(1, 6, m)
    planes = packed(np.array([weights >> bit & 1 for bit in range(3)], dtype=bool))
    all_chosen = np.array(list(product(range(n_sets), repeat=width)))
    bits = on == sets[all_chosen]  # choices × neurons × rows
    for gate in gates(width):
        answers = np.einsum("j,cjr->cr", np.array(gate.weights), bits.astype(np.int64)) >= gate.threshold
        costs = dict(zip(map(tuple, all_chosen.tolist()), ((answers != on) @ weights).tolist(), strict=True))
        best = min(costs.values())
        rules = [[sum(1 << j for j in neurons) for neurons in spoilers(gate, code)] for code in (0, 1)]
        arguments = packed(sets), packed(np.array([~on, on])), planes, gate.weights, rules
        found, is_done = best_sets(*arguments, best, lambda: False)
        assert is_done
        assert costs[found] == best
        assert costs[best_sets(*arguments, int(weights.sum()), lambda: False)[0]] == best
        assert best_sets(*arguments, best - 1, lambda: False) == (None, True)
        assert best_sets(*arguments, best, lambda: True) == (None, False)


@pytest.mark.parametrize(("width", "n_sets"), [(1, 9), (2, 9), (3, 6)])
def test_with_limits_it_is_the_best_of_those_that_keep_them(width, n_sets):
    rng = np.random.default_rng(width)
    m = 70
    sets, on, weights = rng.random((n_sets, m)) < 0.7, rng.random(m) < 0.5, rng.integers(1, 6, m)
    planes = packed(np.array([weights >> bit & 1 for bit in range(3)], dtype=bool))
    all_chosen = np.array(list(product(range(n_sets), repeat=width)))
    bits = on == sets[all_chosen]
    for gate in gates(width):
        answers = np.einsum("j,cjr->cr", np.array(gate.weights), bits.astype(np.int64)) >= gate.threshold
        wrong = answers != on
        counts = np.column_stack([wrong[:, on].sum(axis=1), 2 * wrong[:, ~on].sum(axis=1)])
        rules = [[sum(1 << j for j in neurons) for neurons in spoilers(gate, code)] for code in (0, 1)]
        arguments = packed(sets), packed(np.array([~on, on])), planes, gate.weights, rules
        for most in np.quantile(counts, [0.0, 0.2, 0.6], axis=0).astype(int).tolist():
            kept = (counts <= most).all(axis=1)
            limits = list(zip((packed(on[None]), packed(np.array([np.zeros(m, bool), ~on]))), most, strict=True))
            found, is_done = best_sets(*arguments, int(weights.sum()), lambda: False, limits)
            assert is_done
            if not kept.any():
                assert found is None
                continue
            place = all_chosen.tolist().index(list(found))
            assert kept[place]
            assert wrong[place] @ weights == (wrong[kept] @ weights).min()
