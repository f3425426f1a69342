"""Column-and-constraint generation: limits, interrupts, refusals."""

import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest

from conftest import make_problem, solve
from stepnet import Ball, Exact, StepClassifier
from stepnet.bounds.evidence import Conflicts
from stepnet.datasets import make_paper_random
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.formulations.registry import FORMULATIONS
from stepnet.methods.generation import master_problem, nominal_master


def paper_problem(radius, hidden=(5,)):
    X, y = make_paper_random(0, n_rows=20)
    return replace(make_problem(X, y, hidden), uncertainty=Ball("linf", radius))


@pytest.mark.slow
def test_the_time_limit_ends_with_a_verified_network_and_a_bound():
    certificate, result = solve(paper_problem(0.8), Exact(free_bounds=False, search_share=0.1), time_limit=4)
    assert certificate.runtime < 8
    assert certificate.bound <= certificate.loss <= 10
    assert all(one.bound <= one.loss for one in result.rounds)
    assert certificate.stop_reason in ("time", "program too large for the time", "proven")


def test_ctrl_c_keeps_the_best_network():
    X, y = make_paper_random(2, n_rows=20)
    options = {"time_limit": 60, "random_state": 0, "on_interrupt": "keep"}
    classifier = StepClassifier((20,), method="prove", uncertainty=Ball("linf", 0.8), **options)
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    classifier.fit(X, y)
    timer.cancel()
    certificate = classifier.certificate_
    assert certificate.stop_reason in ("interrupted", "proven")
    assert certificate.runtime < 30
    assert certificate.loss == classifier.problem(X, y).evaluate(classifier.network_)


def test_a_gap_is_enough():
    X, y = np.arange(8.0)[:, None], [0, 1, 0, 1, 1, 0, 1, 1]
    options = {"uncertainty": Ball("linf", 0.1), "method": Exact(free_bounds=False, search_share=0), "time_limit": 60}
    certificate = StepClassifier((1,), gap=0.9, **options).fit(X, y).certificate_
    assert certificate.gap <= 0.9
    assert certificate.stop_reason in ("gap", "proven")


def test_masters_have_the_points_of_their_rows():
    problem = paper_problem(0.5)
    X = problem.dataset.X
    block = np.full_like(X, np.nan)
    block[3] = X[3] + 0.25
    master = master_problem(problem, [X, block])
    assert master.dataset.n_rows == 21
    assert master.scenarios.owners[-1] == 3
    network = StepClassifier((5,), method="prove", random_state=0, time_limit=5).fit(X, problem.dataset.y).network_
    wrong = network.predict(X) != problem.dataset.y
    wrong[3] |= network.predict(block[3:4])[0] != problem.dataset.y[3]
    assert master.evaluate(network) == wrong.sum()
    for name in ("gates", "tight", "paper"):
        for encoding in FORMULATIONS[name].encode(master):
            point = encoding.start(network)
            if point is not None:
                assert encoding.model.objective(point) == pytest.approx(wrong.sum())
    joint = master_problem(problem, [X, X + 0.1], joint=True)
    both = [(network.predict(X + shift) != problem.dataset.y).sum() for shift in (0.0, 0.1)]
    assert joint.evaluate(network) == max(both)
    encoding = FORMULATIONS["tight"].encode(joint)[0]
    assert encoding.model.objective(encoding.start(network)) == pytest.approx(max(both))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: FORMULATIONS["tight"].accepts(p).reason, None, "finitely many points"),
        (lambda p: FORMULATIONS["gates"].accepts(p).reason, None, "Exact\\(formulation='gates'\\)"),
        (lambda p: FORMULATIONS["gates"].accepts(nominal_master(p, joint=True)).reason, None, "formulation='tight'"),
        (lambda p: solve(p, Exact(scenarios="all")), InvalidInputError, "'rows' or 'joint'"),
        (lambda p: solve(p, Exact(formulation="gates", scenarios="joint")), NotAcceptedError, "tight"),
    ],
)
def test_what_is_not_taken_is_named(call, error, message):
    problem = paper_problem(0.1, (2,))
    if error is None:
        assert __import__("re").search(message, call(problem))
        return
    with pytest.raises(error, match=message):
        call(problem)


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"uncertainty": "linf"}, {}, "Ball"),
        ({"uncertainty": Ball("linf", 0.1, scale=(1.0, 2.0, 3.0))}, {}, "2 features"),
        ({"uncertainty": Ball()}, {"radius": [0.1]}, "4 rows"),
        ({"uncertainty": Ball()}, {"radius": [0.1, -1, 0, 0]}, "not negative"),
        ({"uncertainty": Ball()}, {"radius": [0.1, np.nan, 0, 0]}, "finite"),
        ({}, {"radius": 0.1}, "uncertainty=Ball"),
        ({"uncertainty": Ball("linf", 0.1), "method": "alternating"}, {}, "method='prove'"),
        ({"uncertainty": Ball("linf", 0.1), "method": "exact", "weights": "ternary"}, {}, "method='search'"),
        ({"uncertainty": Ball("linf", 0.1), "sparsity": "fewest"}, {}, "number of non-zero"),
    ],
)
def test_bad_uncertainty_is_named_and_nothing_is_fitted(options, fit, message):
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    classifier = StepClassifier(**{"hidden": (2,), "method": "prove", "time_limit": 5} | options)
    with pytest.raises((InvalidInputError, NotAcceptedError), match=message):
        classifier.fit(X, y, **fit)
    assert not hasattr(classifier, "network_")


def test_overlapping_balls_are_no_error_but_a_bound():
    X, y = [[0.0], [1.0], [5.0]], [0, 1, 1]
    certificate = (
        StepClassifier((1,), method="prove", uncertainty=Ball("linf", 0.7), random_state=0).fit(X, y).certificate_
    )
    assert (certificate.status, certificate.loss, certificate.bound) == ("OPTIMAL", 1.0, 1.0)
    assert certificate.evidence == Conflicts(is_perturbed=True)
    assert "worst-case loss 1 of 3" in str(certificate)
    assert "linf ball of radius 0.7" in str(certificate)


def test_radii_of_rows_count_and_belong_to_the_data():
    X, y = np.array([[0.0], [1.0], [5.0]]), [0, 1, 1]
    classifier = StepClassifier((1,), method="prove", uncertainty=Ball("linf"), random_state=0)
    classifier.fit(X, y, radius=[0.7, 0.1, 0.1])
    assert classifier.certificate_.loss == 0
    assert classifier.verify(X, y, radius=[0.7, 0.1, 0.1])
    with pytest.raises(InvalidInputError, match="not the data of the certificate"):
        classifier.verify(X, y)
    with pytest.raises(InvalidInputError, match="after a fit with radius="):
        classifier.partial_fit([[2.0]], [1])
    assert classifier.fit(X, y, radius=0.7).certificate_.loss == 1
    same = StepClassifier((1,), method="prove", uncertainty=Ball("linf", 0.2), random_state=0).partial_fit(X, y)
    assert same.partial_fit([[0.3]], [1]).certificate_.loss == 1


@pytest.mark.parametrize(("width", "radius"), [(1, 0.1), (1, 0.3), (2, 0.3)])
def test_generation_alone_finishes_the_paper_s_data(width, radius):
    """With linear programs, free bounds and search switched off."""
    method = Exact(free_bounds=False, search_share=0.0)
    certificate, result = solve(paper_problem(radius, (width,)), method, time_limit=60)
    assert (certificate.status, certificate.loss) == ("OPTIMAL", 0)
    assert 1 <= len(result.rounds) <= 40


def test_the_plan_of_a_master_counts_its_points():
    classifier = StepClassifier(hidden=(2,), method="prove", uncertainty=Ball("linf", 0.1))
    problem = classifier.problem([[0.0], [1.0], [2.0]], [0, 1, 0])
    plan, rows = Exact().plan(problem), problem.dataset.X
    nominal = plan.for_master(nominal_master(problem))
    grown = plan.for_master(master_problem(problem, [rows, rows + 0.1, rows - 0.1]))
    assert plan.entries == nominal.entries
    assert grown.entries == 3 * nominal.entries
    assert [way.name for way in plan.ways] == ["cells", "cones", "sat", "gates", "cones", "sat"]
    assert [way.name for way in grown.ways] == ["gates"]
