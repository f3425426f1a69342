"""Pairs of cones: what they prove of two neurons holds, in rationals too; what cannot be decided stays open."""

from itertools import product

import numpy as np
import pytest

from conftest import make_problem, solve
from few_rows import noisy, rows_of
from pair_referee import Referee
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.provers.cones import Cones
from stepnet.provers.fan import vectors_of
from stepnet.provers.flats import Flats
from stepnet.provers.oracle import Neuron, Oracle, integer_rows
from stepnet.provers.pair_search import GateSearch
from stepnet.runtime.limits import Budget


def least_loss(X, on, weights):
    """Of two neurons below AND or OR, by asking about every set of rows in exact arithmetic."""
    oracle = Oracle(X, on)
    masks = np.array(list(product([False, True], repeat=len(X))))
    right = np.array([mask for mask in masks if isinstance(oracle.ask(np.flatnonzero(mask)), Neuron)])
    both, either = right[:, None] & right, right[:, None] | right
    losses = [~np.where(is_either, both, either) @ weights for is_either in (on, ~on)]
    return int(min(loss.min() for loss in losses))


def proven(X, on, weights, target, **options):
    search = GateSearch(vectors_of(integer_rows(X), on), on, weights, target, **options)
    while not (search.is_proven or search.is_stuck):
        search.advance(lambda: False)
    return search


@pytest.mark.parametrize("seed", [*range(15), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(15, 100))])
def test_a_target_is_proven_exactly_if_no_pair_loses_less(seed):
    X, on, weights = rows_of(seed, n_rows=8)
    best = least_loss(X, on, weights)
    search = proven(X, on, weights, best + 1)
    assert search.is_proven
    assert search.target == best
    assert proven(X, on, weights, best).is_proven
    climbing = proven(X, on, weights, int(weights.sum()))
    assert climbing.is_proven
    assert climbing.target == best


@pytest.mark.parametrize("seed", range(10))
def test_rows_that_meet_only_up_to_rounding_may_stay_open_but_nothing_false_is_proven(seed):
    X, on, weights = rows_of(seed, n_rows=8, base=10.0)
    best = least_loss(X, on, weights)
    search = proven(X, on, weights, best + 1)
    assert search.target >= best
    assert search.target == best or not search.is_proven


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 30))])
def test_every_pruning_holds_in_rationals(seed):
    """The trees are repeated with exact corners; the referee has multipliers of its own."""
    X, on, weights = rows_of(seed, n_rows=8)
    target = proven(X, on, weights, int(weights.sum()) + 1).target
    again = proven(X, on, weights, target, is_logged=True)
    assert again.is_proven
    assert again.target == target
    vectors = vectors_of(integer_rows(X), on)
    for search in again.searches:
        fan, entries = search.fan, search.log.entries().tolist()
        on_axes = [[vector[axis] for axis in fan.axes] for vector in vectors]
        Referee(on_axes, search.is_either, weights, fan.rays, entries, target).check()


def test_the_referee_refuses_a_tree_of_a_larger_target():
    X, on, weights = rows_of(0, n_rows=10)
    target = proven(X, on, weights, int(weights.sum()) + 1).target
    first = proven(X, on, weights, target, is_logged=True).searches[0]
    vectors = [[vector[axis] for axis in first.fan.axes] for vector in vectors_of(integer_rows(X), on)]
    with pytest.raises(AssertionError):
        Referee(vectors, on, weights, first.fan.rays, first.log.entries().tolist(), int(weights.sum())).check()


@pytest.mark.parametrize("seed", range(6))
def test_flats_are_the_rows_in_what_some_rows_span(seed):
    X, on, _ = rows_of(seed)
    vectors = vectors_of(integer_rows(X), on)
    flats, rank = Flats(vectors), np.linalg.matrix_rank
    unit = np.array([[float(value) for value in column] for column in zip(*vectors, strict=True)])
    unit = (unit / np.maximum(np.abs(unit).max(axis=1, keepdims=True), 1)).T
    for rows in np.random.default_rng(seed).integers(0, len(X), (20, 2)):
        chosen = np.unique(rows)
        spanned = rank(unit[chosen])
        assert not flats.add(chosen, int(spanned) - 1)
        assert flats.add(chosen, int(spanned))
        together = [rank(np.concatenate([unit[chosen], unit[[row]]])) == spanned for row in range(len(X))]
        assert flats.members[-1].tolist() == together
        assert flats.ranks[-1] == spanned


def test_rows_on_a_plane_do_not_keep_cones_from_ending():
    """Forty rows on one plane, all of which meet in a ray: cones around it are never decided by dividing."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, (60, 2)), np.repeat([0, 0, 1], 20)]).astype(float)
    problem = make_problem(X, rng.integers(0, 2, 60))
    certificate, _ = solve(problem, Exact(formulation="cones", search_share=0), time_limit=100)
    other, _ = solve(problem, Exact(formulation="cells"), time_limit=100)
    assert certificate.status == other.status == "OPTIMAL"
    assert certificate.loss == other.loss


def test_bounds_climb_to_the_optimum_of_two_neurons():
    problem = make_problem(*noisy(), (2,))
    certificate, result = solve(problem, Exact(formulation="cones", search_share=0), time_limit=100)
    other, _ = solve(problem, Exact(formulation="cells"), time_limit=100)
    assert certificate.status == other.status == "OPTIMAL"
    assert certificate.loss == other.loss
    bounds = [progress.bound for progress in result.trace]
    assert bounds == sorted(bounds)


def test_a_turn_of_two_neurons_continues_where_the_last_one_ended():
    run = Run(make_problem(*noisy(50, 3), (2,)), Budget())
    begin(run, None, bounds=False)
    prover, seen = Cones(), []
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


def test_two_neurons_are_accepted_for_few_dimensions_and_refused_with_a_way_out():
    X, y = noisy(40, 3)
    wide = np.column_stack([X, 2 * X, np.ones(40)])
    assert Cones().accepts(make_problem(wide, y, (2,)))
    assert Cones().kernels_for(make_problem(wide, y, (2,))) is not Cones().kernels
    answer = Cones().accepts(make_problem(np.random.default_rng(0).normal(size=(40, 5)), y, (2,)))
    assert "up to 4 features for two neurons" in answer.reason
    assert "formulation='sat'" in answer.reason
