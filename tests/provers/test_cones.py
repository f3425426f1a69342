"""Cones: what they prove holds, in rationals too; targets climb; turns continue where the last one ended."""

from fractions import Fraction

import numpy as np
import pytest

from conftest import make_problem, solve
from few_rows import least_loss, noisy, rows_of
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.proof_files.cone_files import _tree
from stepnet.proof_files.cone_trees import Rows, check_trees
from stepnet.provers.climb import Pace
from stepnet.provers.cone_search import ConeSearch
from stepnet.provers.cones import Cones
from stepnet.provers.fan import Fan, middle_of, vectors_of
from stepnet.provers.oracle import integer_rows
from stepnet.runtime.limits import Budget


def proven(X, on, weights, target, **options):
    search = ConeSearch(vectors_of(integer_rows(X), on), weights, target, **options)
    while not (search.is_proven or search.is_stuck):
        search.advance(lambda: False)
    return search


@pytest.mark.parametrize("seed", [*range(15), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(15, 60))])
def test_a_target_is_proven_exactly_if_no_neuron_loses_less(seed):
    X, on, weights = rows_of(seed, n_rows=8)
    best = least_loss(X, on, weights)
    search = proven(X, on, weights, best + 1)
    assert search.is_proven
    assert search.target == best


@pytest.mark.parametrize("seed", range(10))
def test_rows_that_meet_only_up_to_rounding_may_stay_open_but_nothing_false_is_proven(seed):
    X, on, weights = rows_of(seed, n_rows=8, base=10.0)
    best = least_loss(X, on, weights)
    search = proven(X, on, weights, best + 1)
    assert search.target >= best
    assert search.target == best or not search.is_proven


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 14))])
def test_every_pruning_holds_in_rationals(seed):
    """The tree is repeated with exact corners; the referee has multipliers of its own."""
    X, on, weights = rows_of(seed, n_rows=11)
    search = proven(X, on, weights, int(weights.sum()) + 1)
    again = proven(X, on, weights, search.target, is_logged=True)
    assert again.is_proven
    assert again.target == search.target
    points = integer_rows(X)
    trees = [_tree(one, middle_of(points), _shifts(X)) for one in (*again.known.searches, again)]
    rows = Rows(X.tolist(), np.where(on, 1, -1).tolist(), weights.tolist())
    assert check_trees(rows, trees, is_exact=True) >= len(trees[-1].entries) // 2
    assert check_trees(rows, trees) > 0


def _shifts(X):
    from stepnet.model.arithmetic import quantum

    return [quantum(column) for column in X.T]


@pytest.mark.parametrize("seed", range(6))
def test_rays_surround_all_neurons_and_values_are_rounded_once(seed):
    X, on, _ = rows_of(seed)
    fan = Fan.of(vectors_of(integer_rows(X), on))
    assert all(sum(column) == 0 for column in zip(*fan.rays, strict=True))
    assert len(fan.rays) == len(fan.axes) + 1
    matrix = np.array([[float(Fraction(value, 1 << 200)) for value in ray] for ray in fan.rays[:-1]])
    assert np.linalg.matrix_rank(matrix / np.abs(matrix).max(axis=0)) == len(fan.axes)
    for row, values in zip(fan.products, fan.values.T.tolist(), strict=True):
        scale = 1 << max(map(abs, row)).bit_length()
        assert all(
            abs(Fraction(a, scale) - Fraction(b)) <= Fraction(1, 2**53) for a, b in zip(row, values, strict=True)
        )


def test_bounds_climb_to_the_optimum():
    problem = make_problem(*noisy(), (1,))
    certificate, result = solve(problem, Exact(formulation="cones", search_share=0))
    other, _ = solve(problem, Exact(formulation="cells"))
    assert certificate.status == other.status == "OPTIMAL"
    assert certificate.loss == other.loss
    assert "cones of neurons" in str(certificate.proof)
    bounds = [progress.bound for progress in result.trace]
    assert bounds == sorted(bounds)
    assert any(0 < bound < certificate.loss for bound in bounds)


def test_a_turn_continues_where_the_last_one_ended():
    run = Run(make_problem(*noisy(80, 4), (1,)), Budget())
    begin(run, None, bounds=False)
    prover, seen = Cones(), []
    assert prover.seconds_left(run) is None
    for _ in range(10_000):
        looks = iter(range(2))
        with run.within(1.0, is_enough=lambda looks=looks: next(looks, None) is None):
            prover.work(run, run.offer)
        climb = run.kept["cones"]
        seen.append(climb.n_cones + (climb.search.n_cones if climb.search else 0))
        if run.is_proven:
            break
    assert run.is_proven
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert prover.seconds_left(run) >= 0


def test_dimensions_count_not_features():
    X, y = noisy(40, 3)
    wide = np.column_stack([X, 2 * X, X[:, :2].sum(axis=1).round(0) * 0, np.ones(40)])
    assert Cones().accepts(make_problem(wide, y, (1,)))
    answer = Cones().accepts(make_problem(np.random.default_rng(0).normal(size=(40, 8)), y, (1,)))
    assert "up to 7 features" in answer.reason
    assert "hidden=(3,)" in Cones().accepts(make_problem(X, y, (3,))).reason
    certificate, _ = solve(make_problem(wide, y, (1,)), Exact(formulation="cones"))
    assert certificate.status == "OPTIMAL"


def test_the_pace_of_targets_doubles_the_work_and_ends_with_the_last_one():
    pace, last, targets = Pace(0.2), 60, []
    while not targets or targets[-1] < last:
        targets.append(pace.next_target(last))
        pace.add(targets[-1], int(10 * np.exp(0.15 * targets[-1])))
    assert targets == sorted(set(targets))
    work = [10 * np.exp(0.15 * target) for target in targets]
    assert sum(work) < 4 * work[-1]
