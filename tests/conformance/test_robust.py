"""Uncertain rows: the optimum equals enumeration, whatever the formulation, and bounds never pass it."""

from dataclasses import replace

import numpy as np
import pytest

from brute_force import best_robust_loss_on_a_line, best_robust_neuron
from conftest import make_problem, random_network, solve
from stepnet import Ball, Exact, Polyhedron, Prove
from stepnet.problem.dataset import Dataset

ALONE = {"free_bounds": False, "search_share": 0.0}  # nothing but column-and-constraint generation


def uncertain(X, y, radii, weights, norm, hidden):
    problem = make_problem(X, y, hidden)
    dataset = Dataset.from_rows(X, y, weights, np.asarray(radii, dtype=float))
    return replace(problem, dataset=dataset, uncertainty=Ball(norm))


def check_rounds(result):
    bounds = [one.bound for one in result.rounds]
    assert all(one.bound <= one.loss for one in result.rounds)
    assert bounds == sorted(bounds)
    scenarios = [one.scenarios for one in result.rounds]
    assert scenarios == sorted(scenarios)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["gates", "tight"])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_generation_equals_enumeration_on_a_line(seed, d, formulation):
    rng = np.random.default_rng(seed)
    m = 12 if formulation == "gates" or d == 1 else 8
    x, y = rng.permutation(40)[:m] / 4.0, rng.integers(0, 2, m)
    radii, weights = rng.choice([0.0, 0.3, 0.6], m), rng.integers(1, 4, m).astype(float)
    best = best_robust_loss_on_a_line(x, y, radii, weights, d)
    problem = uncertain(x[:, None], y, radii, weights, rng.choice(["l1", "l2", "linf"]), (d,))
    certificate, result = solve(problem, Exact(formulation=formulation, **ALONE), time_limit=60)
    assert (certificate.status, certificate.loss) == ("OPTIMAL", best)
    check_rounds(result)
    assert certificate.rounds == len(result.rounds) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_one_neuron_equals_enumeration(seed, n, norm):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(9, n)), rng.integers(0, 2, 9)
    radii, weights = rng.choice([0.1, 0.3], 9), rng.integers(1, 3, 9).astype(float)
    best = best_robust_neuron(X, y, radii, weights, norm)
    problem = uncertain(X, y, radii, weights, norm, (1,))
    for method in (Exact(**ALONE), Exact(formulation="tight", **ALONE), Prove()):
        certificate, result = solve(problem, method, time_limit=60)
        assert (certificate.status, certificate.loss) == ("OPTIMAL", best)
        check_rounds(result)


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_two_neurons_in_the_plane_agree_and_no_random_network_is_better(norm):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(12, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    problem = uncertain(X, y, np.full(12, 0.25), np.ones(12), norm, (2,))
    losses = set()
    for method in (Exact(**ALONE), Prove()):
        certificate, result = solve(problem, method, time_limit=100)
        assert certificate.status == "OPTIMAL"
        check_rounds(result)
        losses.add(certificate.loss)
    assert len(losses) == 1
    assert min(problem.evaluate(random_network(rng, 2, (2,))) for _ in range(200)) >= losses.pop()


def test_joint_scenarios_and_the_paper_s_formulation_find_the_same():
    x, y = np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 0, 1, 1])
    problem = uncertain(x[:, None], y, np.full(5, 0.3), np.ones(5), "linf", (1,))
    best = best_robust_loss_on_a_line(x, y, np.full(5, 0.3), np.ones(5), 1)
    for formulation in ("tight", "paper"):
        method = Exact(formulation=formulation, scenarios="joint", **ALONE)
        certificate, result = solve(problem, method, time_limit=60)
        check_rounds(result)
        if formulation == "tight":
            assert (certificate.status, certificate.loss) == ("OPTIMAL", best)
        assert certificate.bound <= best <= certificate.loss  # the paper's program claims what is not so


def test_a_box_is_a_polyhedron():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(10, 2)), rng.integers(0, 2, 10)
    problem = make_problem(X, y, (1,))
    box = Polyhedron(np.vstack([np.eye(2), -np.eye(2)]), [0.2, 0.4, 0.2, 0.4])
    ball = Ball("linf", 0.2, scale=(1.0, 2.0))
    losses = [solve(replace(problem, uncertainty=one), Exact(**ALONE), time_limit=60)[0] for one in (box, ball)]
    assert [one.status for one in losses] == ["OPTIMAL", "OPTIMAL"]
    assert losses[0].loss == losses[1].loss
