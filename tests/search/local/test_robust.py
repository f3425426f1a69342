"""Search for uncertain rows: lines are exact, what is built reaches its bound, and no step raises the worst case."""

from dataclasses import replace

import numpy as np
import pytest

from climbers import UNCERTAIN, Climbing, made
from conftest import make_problem
from stepnet import Ball, Polyhedron, StepClassifier, StepRegressor
from stepnet.bounds.overlaps import lightest_cover
from stepnet.constructions.literals import offer_literals
from stepnet.constructions.stable import StableNeurons
from stepnet.constructions.votes import offer_votes
from stepnet.datasets import make_paper_random
from stepnet.problem.constraint import Constraints
from stepnet.runtime.limits import Budget
from stepnet.search.local.climb import climb_once
from stepnet.search.local.local_search import accepts_search
from stepnet.search.local.robust_lines import sure_events, threshold_events_of
from stepnet.uncertainty.norms.along import DualNorm
from stepnet.uncertainty.norms.registry import NORMS

DUALS = {"l1": np.inf, "l2": 2, "linf": 1}


def levels_after(events, step):
    levels = events.first.copy()
    for place, row, after in zip(events.steps, events.rows, events.after, strict=True):
        if place < step:
            levels[row] = after
    return levels


@pytest.mark.parametrize("norm", DUALS)
def test_lines_know_where_rows_are_sure(norm):
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(1, 5))
        S = np.diag(rng.random(n) + 0.5)
        dual = DualNorm(NORMS[norm], S)
        X, r = rng.normal(size=(6, n)), rng.random(6)
        w, d, t, e = rng.normal(size=n), rng.normal(size=n), rng.normal(), rng.normal()
        events = sure_events(X @ w - t, X @ d - e, r, dual, w, d, 8.0)
        assert np.bincount(events.rows, minlength=6).max(initial=0) <= 4
        for step in rng.uniform(-8, 8, 20):
            values, reach = X @ (w + step * d) - (t + step * e), r * np.linalg.norm((w + step * d) @ S, DUALS[norm])
            true = np.where(values >= reach, 2, np.where(values < -reach, 0, 1))
            assert (levels_after(events, step) == true).all()


def test_along_a_threshold_rows_change_twice():
    values, down, up = np.array([0.0, 1.0, -2.0]), np.array([0.1, 0.5, 0.0]), np.array([0.2, 0.5, 0.3])
    events = threshold_events_of(values, down, up, 10.0)
    assert np.bincount(events.rows).max() == 2
    for step in np.linspace(-4, 4, 41) + 0.01:
        moved = values - step
        assert (levels_after(events, step) == np.where(moved >= down, 2, np.where(moved < -up, 0, 1))).all()


def uncertain(X, y, ball, hidden):
    return replace(make_problem(X, y, hidden), uncertainty=ball)


def offered(build, problem, seconds=20.0):
    losses = []
    build(
        problem,
        StableNeurons(problem),
        lightest_cover(problem),
        Budget(seconds),
        lambda n: losses.append(problem.evaluate(n)),
    )
    return losses


@pytest.mark.parametrize(("norm", "radius"), [("linf", 0.6), ("l1", 20.0), ("l2", 1.0)])
def test_votes_keep_all_rows_of_the_paper_s_data(norm, radius):
    X, y = make_paper_random(0, n_rows=20)
    assert min(offered(offer_votes, uncertain(X, y, Ball(norm, radius), (20,)))) == 0


def test_votes_give_up_few_rows_where_no_width_passes():
    X, y = make_paper_random(0, n_rows=20)
    problem = uncertain(X, y, Ball("linf", 0.85), (20,))
    assert 0 < min(offered(offer_votes, problem)) <= 3


@pytest.mark.parametrize(("norm", "radius"), [("linf", 0.8), ("linf", 4.0), ("l2", 3.0), ("l1", 30.0)])
@pytest.mark.parametrize("hidden", [(20, 20), (20, 20, 3)])
def test_two_hidden_layers_reach_the_cover(norm, radius, hidden):
    X, y = make_paper_random(2, n_rows=20)
    problem = uncertain(X, y, Ball(norm, radius), hidden)
    losses = offered(offer_literals, problem)
    assert losses == [lightest_cover(problem).value] * len(losses)
    assert len(losses) == 2


def test_layers_that_are_too_narrow_are_left_alone():
    X, y = make_paper_random(2, n_rows=20)
    assert offered(offer_literals, uncertain(X, y, Ball("linf", 0.8), (1, 1))) == []


@pytest.mark.parametrize(
    "uncertainty",
    [*(Ball(norm, 0.1) for norm in NORMS), Polyhedron(np.vstack([np.eye(2), -np.eye(2)]), [0.1, 0.2, 0.1, 0.2])],
)
@pytest.mark.parametrize("weights", ["real", "ternary"])
def test_the_search_finds_robust_networks_and_says_what_they_cost(uncertainty, weights):
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 9, (30, 2)) / 4.0
    y = (X[:, 0] + X[:, 1] > 0.3).astype(int)
    problem = replace(make_problem(X, y, (3,), weights=weights), uncertainty=uncertainty)
    network = climb_once(problem, [0, 0], Budget(20), 0.0, 400)
    assert problem.refuses(network) is None
    assert problem.evaluate(network) <= 0.4 * problem.dataset.total_weight
    start = climb_once(problem, [0, 1], Budget(20), 0.0, 100, None, network)
    assert problem.evaluate(start) <= problem.evaluate(network) + 1


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", UNCERTAIN)
def test_no_move_raises_the_bound_and_no_worst_case_is_above_it(name, norm):
    problem = made(name, uncertainty=Ball(norm, 0.1))
    climber, n_gains = Climbing(problem, 0), 0
    for number in range(110):
        before = climber.penalised
        gained = climber.move()
        assert climber.penalised <= before + 2 * climber.flat
        assert not gained or climber.penalised < before
        n_gains += gained
        if number % 40 == 39:
            climber.leave()
    assert n_gains
    assert problem.refuses(climber.network) is None
    assert problem.evaluate(climber.network) <= climber.loss + 1e-9 * problem.accuracy.scale


@pytest.mark.parametrize("threshold", ["layer", 0.5, 0.0])
def test_shared_and_fixed_thresholds_stay_so(threshold):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] - X[:, 1] > 0).astype(int)
    problem = replace(make_problem(X, y, (3,), threshold=threshold), uncertainty=Ball("linf", 0.1))
    network = climb_once(problem, [0, 0], Budget(20), 0.0, 600)
    assert problem.refuses(network) is None
    assert problem.evaluate(network) < 15


@pytest.mark.slow
def test_the_search_takes_several_classes_and_deep_networks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0.5).astype(int) + (X[:, 0] > -0.5)
    for options in ({"output": "one_hot"}, {"output": "ordinal"}, {"output": "one_vs_one"}, {"hidden": (3, 2)}):
        labels = y if "output" in options else (y > 0).astype(int)
        classifier = StepClassifier(
            **{"hidden": (3,), "method": "search", "time_limit": 2, "random_state": 0} | options,
            uncertainty=Ball("linf", 0.05),
        ).fit(X, labels)
        certificate = classifier.certificate_
        assert certificate.bound <= certificate.loss < 25
        assert certificate.nominal_loss <= certificate.loss
        assert certificate.nominal_loss == (classifier.predict(X) != labels).sum()


@pytest.mark.slow
def test_numbers_are_trained_for_the_worst_case():
    rng = np.random.default_rng(1)
    X = np.linspace(0, 4, 12)[:, None]
    y = (X[:, 0] > 2) * 3.0 + 0.01 * rng.normal(size=12)
    for loss in ("squared", "absolute"):
        model = StepRegressor(
            (2,), method="prove", loss=loss, uncertainty=Ball("l2", 0.1), time_limit=6, random_state=0
        ).fit(X, y)
        certificate = model.certificate_
        assert certificate.loss < 1.0
        assert certificate.bound <= certificate.loss + 1e-9
        grid = np.linspace(-0.1, 0.1, 201)
        errors = np.abs(model.predict((X + grid).reshape(-1, 1)).reshape(12, -1) - y[:, None]).max(axis=1)
        worst = (errors**2).sum() if loss == "squared" else errors.sum()
        assert worst <= certificate.loss + 1e-9


def test_refusals_name_the_way_out():
    X, y = np.zeros((4, 1)) + np.arange(4)[:, None], np.array([0, 1, 0, 1])
    problem = uncertain(X, y, Ball("linf", 0.1), (2,))
    constrained = replace(problem, constraints=Constraints.of(problem.architecture, 2, None, None))
    assert "method='exact'" in accepts_search(constrained).reason
    assert accepts_search(problem)
