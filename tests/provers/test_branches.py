"""Branches: what they prove is the least loss of all sets of rows; every clause that they keep holds in rationals."""

from itertools import product

import numpy as np
import pytest

from conftest import make_problem, solve
from few_rows import noisy, rows_of
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.model.arithmetic import quantum
from stepnet.provers.branch_search import BranchSearch, Learned
from stepnet.provers.branches import Branches
from stepnet.provers.fan import Fan, vectors_of
from stepnet.provers.limits import Limit
from stepnet.provers.oracle import gordan, integer_rows
from stepnet.runtime.limits import Budget


def fan_of(X, on):
    return Fan.of(vectors_of(integer_rows(X), on))


def least_loss(X, on, weights):
    """Of all neurons, also those that floats cannot represent: by asking about every set of rows, in rationals."""
    vectors, best = vectors_of(integer_rows(X), on), int(weights.sum())
    for bits in product([False, True], repeat=len(X)):
        lost = int(weights[~np.array(bits)].sum())
        if lost < best and gordan([v for v, bit in zip(vectors, bits, strict=True) if bit], lambda: False)[0] is None:
            best = lost
    return best


def least_with(X, on, weights, limits):
    """The least loss of neurons that keep limits, in the same way; the sum of all weights if there are none."""
    vectors, best = vectors_of(integer_rows(X), on), int(weights.sum()) + 1
    for bits in product([False, True], repeat=len(X)):
        right = np.array(bits)
        lost = int(weights[~right].sum())
        is_better = lost < best and all(one.holds(~right) for one in limits)
        columns = [vectors[i] for i in np.flatnonzero(right)]
        if is_better and (not columns or gordan(columns, lambda: False)[0] is None):
            best = lost
    return best


def proven(search):
    while not search.is_proven:
        search.advance(lambda: False)
    return search


@pytest.mark.parametrize("seed", [*range(25), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(25, 100))])
@pytest.mark.parametrize("base", [8.0, 10.0])
def test_every_target_falls_to_the_least_loss_and_no_further(seed, base):
    X, on, weights = rows_of(seed, n_rows=8, base=base)
    best = least_loss(X, on, weights)
    learned = Learned.of(fan_of(X, on))
    for target in (best, best + 1, int(weights.sum())):  # what one search learns is used by the next
        assert proven(BranchSearch(fan_of(X, on), weights, target, learned)).target == min(target, best)


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 80))])
def test_the_least_loss_among_neurons_that_keep_limits(seed):
    X, on, weights = rows_of(seed, n_rows=8)
    rng = np.random.default_rng(seed)
    weights = weights * (rng.random(len(X)) < 0.8)  # rows that cost nothing may count for a limit
    counts = [on.astype(np.int64), rng.integers(0, 3, len(X)), (~on).astype(np.int64)][: 1 + seed % 3]
    limits = [Limit(count, int(rng.integers(0, 1 + count.sum() // 2))) for count in counts]
    target = int(weights.sum()) + 1
    search = proven(BranchSearch(fan_of(X, on), weights, target, limits=limits))
    assert search.target == least_with(X, on, weights, limits)


def wide(seed, m=24, n=6):
    rng = np.random.default_rng(seed)
    kinds = [rng.normal(size=(m, n)), rng.integers(-2, 3, (m, n)) / 4, rng.normal(size=(m, n)).round(1)]
    return kinds[seed % 3], rng.random(m) < 0.5, rng.integers(1, 4, m)


@pytest.mark.parametrize("seed", range(6))
def test_no_neuron_gets_all_rows_of_a_clause_right(seed):
    X, on, weights = wide(seed)
    fan = fan_of(X, on)
    clauses = proven(BranchSearch(fan, weights, int(weights.sum()))).learned.clauses
    assert clauses.counters[0] > 0
    for c in range(clauses.counters[0]):
        rows, sides = (part[c, : clauses.sizes[c]] for part in (clauses.rows, clauses.sides))
        assert (sides > 0).any()
        assert len(set(rows.tolist())) == len(rows)
        # With one more coordinate that is 1 where a row must be right: its multiplier cannot be positive.
        columns = [
            [*(int(side) * value for value in fan.products[row][:-1]), 0] for row, side in zip(rows, sides, strict=True)
        ]
        strict = [column[:-1] for column, side in zip(columns, sides, strict=True) if side > 0]
        wrong = [column[:-1] for column, side in zip(columns, sides, strict=True) if side < 0]
        assert is_clause(strict, wrong)


def is_clause(strict, wrong):
    """Whether no x has positive products with some vectors and none below 0 with others, by projecting these out.

    A vector that may be 0 is moved towards all strict ones by less than anything: then Gordan's theorem decides.
    """
    towards = [sum(values) for values in zip(*strict, strict=True)]
    scale = 10**60
    moved = [[scale * value + small for value, small in zip(column, towards, strict=True)] for column in wrong]
    return gordan([*strict, *moved], lambda: False)[0] is not None


@pytest.mark.parametrize("seed", range(6))
def test_branches_agree_with_the_other_provers(seed):
    X, on, weights = wide(seed, m=20, n=2 + seed % 4)
    problem = make_problem(X, on.astype(int), (1,), sample_weight=weights / 3)
    certificate, result = solve(problem, Exact(formulation="branches", search_share=0))
    other, _ = solve(problem, Exact(formulation="cells"))
    assert certificate.status == other.status == "OPTIMAL"
    assert certificate.loss == pytest.approx(other.loss)
    assert problem.evaluate(result.network) == certificate.loss


def test_many_rows_at_few_points_on_a_line_end():
    X = np.column_stack([np.arange(60) % 4, np.arange(60) % 3, np.ones(60)]).astype(float)
    y = (np.arange(60) * 7 % 11 < 5).astype(int)
    certificate, _ = solve(make_problem(X, y, (1,)), Exact(formulation="branches", search_share=0))
    other, _ = solve(make_problem(X, y, (1,)), Exact(formulation="cells"))
    assert (certificate.status, certificate.loss) == ("OPTIMAL", other.loss)


def test_a_turn_continues_where_the_last_one_ended():
    run = Run(make_problem(*noisy(120, 6), (1,)), Budget())
    begin(run, None, bounds=False)
    prover, seen = Branches(), []
    assert prover.seconds_left(run) is None
    for _ in range(10_000):
        looks = iter(range(2))
        with run.within(1.0, is_enough=lambda looks=looks: next(looks, None) is None):
            prover.work(run, run.offer)
        climb = run.kept["branches"]
        seen.append(climb.n_cones + (climb.search.n_cones if climb.search else 0))
        if run.is_proven:
            break
    assert run.is_proven
    assert len(seen) > 1
    assert prover.seconds_left(run) >= 0


def test_branches_say_what_they_accept():
    y = np.arange(40) % 2
    rng = np.random.default_rng(0)
    assert Branches().accepts(make_problem(rng.normal(size=(40, 30)), y, (1,)))
    answer = Branches().accepts(make_problem(rng.normal(size=(40, 31)), y, (1,)))
    assert answer.reason == (
        "formulation='branches' accepts up to 30 features, not counting those that follow from others; got 31. "
        "Use formulation='one_neuron'."
    )
    assert "hidden=(2,)" in Branches().accepts(make_problem(rng.normal(size=(40, 3)), y, (2,))).reason


def test_doubts_of_floats_are_settled_by_rationals():
    """Points on a grid: most clauses have fewer rows than coordinates, which floats cannot be certain of."""
    rng = np.random.default_rng(1)
    X, on = rng.integers(0, 2, (40, 8)).astype(float), rng.random(40) < 0.5
    X, first = np.unique(X, axis=0, return_index=True)
    on = on[first]
    assert {quantum(column) for column in X.T} == {0}
    search = proven(BranchSearch(fan_of(X, on), np.ones(len(X), dtype=np.int64), len(X)))
    assert any(answer is not None for answer in search.learned.answers.values())
    certificate, _ = solve(make_problem(X, on.astype(int), (1,)), Exact(formulation="one_neuron"))
    assert search.target == certificate.bound == certificate.loss
