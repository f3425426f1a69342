"""Sums of weights: exact, few, and never more than the rows weigh."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import make_problem, solve
from stepnet.methods.prove import Prove
from stepnet.model.gates import gates
from stepnet.provers.clauses import Formula
from stepnet.provers.row_weights import MOST_SUMS, RowWeights, few, spaced, sums_of


def weighed(weights, rows):
    return sum((Fraction(weights[row]) for row in rows), Fraction(0))


def subsets(n_rows):
    return itertools.chain.from_iterable(itertools.combinations(range(n_rows), k) for k in range(n_rows + 1))


def test_multiples_of_one_number_are_counted_in_it():
    found = RowWeights.of(np.array([0.75, 1.5, 3.0]), 2.25)
    assert (found.integers, found.unit, found.grain) == ((1, 2, 4), Fraction(3, 4), 0)
    assert found.sums == (0, 1, 2)
    assert (found.limit_below(2.25), found.limit_below(2.0), found.loss_of(3)) == (2, 2, 2.25)


def test_weights_of_classes_have_few_sums_whatever_their_digits():
    """559 / (2 · 364) and 559 / (2 · 195), some rows several times."""
    weights = np.array([0.7678571428571429, 1.4333333333333333] * 100) * np.tile([1, 2, 3, 1], 50)
    found = RowWeights.of(weights, 7.0)
    assert found.is_exact
    pairs = itertools.product(range(10), range(5))
    assert len(found.sums) == sum(i * weights[0] + j * weights[1] / 2 < 7 for i, j in pairs)
    best = 2 * weights[0] + weights[1]
    assert found.loss_of(found.limit_below(best)) < best
    assert found.round_up(best - 1e-6) == pytest.approx(best, rel=1e-10)
    assert found.round_up(6.9999) == 7.0


@pytest.mark.parametrize(("weight", "count"), [(0.1, 3), (1 / 3, 6), (0.7, 5), (0.001, 9)])
def test_a_loss_that_was_rounded_up_is_not_the_next_one(weight, count):
    loss = math.fsum([weight] * count)
    found = RowWeights.of(np.full(20, weight), loss)
    assert found.limit_below(loss) == count - 1
    assert found.round_up(loss) == loss


def test_many_different_sums_are_told_apart_roughly():
    weights = np.random.default_rng(0).uniform(0.5, 1.5, 200)
    found = RowWeights.of(weights, 9.0)
    assert not found.is_exact
    assert len(found.sums) <= MOST_SUMS
    assert found.loss_of(found.grain) < 0.3


@given(
    st.lists(st.floats(1e-3, 1e3) | st.sampled_from([0.1, 0.3, 1 / 3]), min_size=1, max_size=7),
    st.floats(0.01, 1e3),
)
def test_a_set_of_rows_that_weighs_less_is_within_the_limit(weights, loss):
    found = RowWeights.of(np.array(weights), loss)
    for rows in subsets(len(weights)):
        total, weight = sum(found.integers[row] for row in rows), weighed(weights, rows)
        assert total * found.unit == weight
        if weight < Fraction(loss) * (1 - Fraction(1, 2**30)):
            assert total <= found.limit_below(loss)
        heavy = found.heavy(rows, found.limit_below(loss))
        assert set(heavy) <= set(rows)
        assert bool(heavy) == (total > found.limit_below(loss) and bool(rows))
        assert not heavy or weighed(weights, heavy) >= Fraction(loss) * (1 - Fraction(1, 2**30))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=7), st.integers(0, 150), st.integers(0, 12))
def test_sums_lose_at_most_a_grain_a_number(values, most, grain):
    found = sums_of(values, most, grain, 10_000)
    everything = {sum(values[i] for i in rows) for rows in subsets(len(values))}
    for total in everything:
        if total <= most:
            assert any(total - grain * len(values) <= one <= total for one in found)
    assert grain or found == sorted(total for total in everything if total <= most)
    assert sums_of(values, most, grain, len(found) - 1) is None or len(found) == 1


@given(st.sets(st.integers(0, 99)), st.integers(0, 9))
def test_spaced_numbers_count_as_one_that_is_not_larger(totals, grain):
    counted_as = spaced(totals, grain)
    assert all(0 <= total - counted_as[total] <= grain for total in totals)
    assert all(b - a > grain for a, b in itertools.pairwise(sorted(set(counted_as.values()))))


@settings(max_examples=30)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 60), st.integers(0, 9), st.data())
def test_clauses_about_sums_allow_all_rows_within_the_limit(weights, most, grain, data):
    from pysat.solvers import Solver

    formula = Formula(gates(1)[0], [1] * len(weights), weights, most, grain=grain)
    limit = data.draw(st.integers(0, most))
    with Solver(name="cadical195", bootstrap_with=formula.clauses) as solver:
        for rows in subsets(len(weights)):
            chosen = [formula.wrong(row) * (1 if row in rows else -1) for row in range(len(weights))]
            is_allowed = solver.solve(assumptions=[*chosen, *formula.at_most(limit)])
            total = sum(weights[row] for row in rows)
            assert is_allowed or total > limit
            assert not is_allowed or total <= limit + grain * 8
            assert is_allowed or total >= formula.next_limit(limit)


@given(st.sets(st.integers(0, 10_000)), st.integers(0, 9), st.integers(1, 50))
def test_few_numbers_are_left_of_any_and_none_grows(totals, grain, limit):
    counted_as = few(totals, grain, limit)
    assert counted_as.keys() == totals
    assert len(set(counted_as.values())) <= limit
    assert all(counted_as[total] <= total for total in totals)


def test_clauses_do_not_grow_without_end():
    """Powers of two have as many sums as there are sets; counted roughly, sums stay few and none counts as more."""
    from pysat.solvers import Solver

    weights = [2**k for k in range(22)]
    formula = Formula(gates(1)[0], [1] * 22, weights, 2**22)
    assert len(formula.clauses) < 22 * 200**2
    with Solver(name="cadical195", bootstrap_with=formula.clauses) as solver:
        for rows in ([21], [20, 19, 18], [*range(21)]):
            chosen = [formula.wrong(row) * (1 if row in rows else -1) for row in range(22)]
            total = sum(weights[row] for row in rows)
            assert solver.solve(assumptions=[*chosen, *formula.at_most(total)])
            assert not solver.solve(assumptions=[*chosen, *formula.at_most(total // 2)])


def test_weights_that_differ_a_little_are_no_trouble():
    rng = np.random.default_rng(14)
    X = rng.normal(size=(300, 6))
    y = (X[:, 0] > 0) ^ (rng.random(300) < 0.2)
    weights = rng.integers(1, 4, 300) * (1 + rng.random(300) * 2.0**-25)
    certificate, _ = solve(make_problem(X, y.astype(int), (2,), sample_weight=weights), Prove(), time_limit=1.5)
    assert 0 <= certificate.bound <= certificate.loss
