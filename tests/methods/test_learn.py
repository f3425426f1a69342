"""Learn: accurate on new rows, deterministic, at any depth, and honest about its loss."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from climbers import CASES, made
from conftest import make_problem, solve
from stepnet import (
    Ball,
    Constraint,
    Hinge,
    Learn,
    Polyhedron,
    Search,
    StepAutoencoder,
    StepClassifier,
    StepEnsembleClassifier,
    StepRegressor,
)
from stepnet.certificate.certificate import Certificate
from stepnet.methods.registry import METHODS, method_of
from stepnet.search.descent.descent import shared_thresholds

# Descent rounds weights one by one, and does not know how to keep what several of them must satisfy together.
SEARCHED = {"weights": "ternary", "constraints": Constraint({(1, 0, 0): 1.0, (1, 0, 1): -1.0}, lower=0.0)}

X, Y = make_classification(600, 6, n_informative=4, flip_y=0.05, random_state=1)


@pytest.mark.parametrize("hidden", [(), (10,), (10, 5), (8, 8, 4)])
def test_learns_at_any_depth(hidden):
    X_train, X_test, y_train, y_test = train_test_split(X, Y, random_state=0)
    classifier = StepClassifier(hidden=hidden, method="learn", random_state=0).fit(X_train, y_train)
    assert classifier.score(X_test, y_test) > 0.7
    assert classifier.certificate_.status == "LEARNED"
    assert classifier.certificate_.loss == (classifier.predict(X_train) != y_train).sum()
    assert classifier.certificate_.stop_reason == "finished"


def test_its_certificate_says_that_it_is_for_new_rows_and_what_is_verified():
    learned = StepClassifier((2,), random_state=0).fit(X, Y)
    certificate = learned.certificate_
    headline = f"LEARNED for new rows: training loss {certificate.loss:g} of 600, verified; bound 0 for all networks"
    assert str(certificate).splitlines()[0] == headline
    assert "gap" not in str(certificate)
    assert "FEASIBLE" not in str(certificate)
    assert certificate.gap == 1.0  # for programs that read it
    assert certificate.found_by == "learning"
    assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate
    numbers = StepRegressor((2,), random_state=0).fit(X, X[:, 0])
    assert str(numbers.certificate_).startswith("LEARNED for new rows: training squared error ")
    assert "verified; bound 0 for all networks" in str(numbers.certificate_)


def test_a_learned_network_that_meets_its_bound_is_optimal():
    certificate = StepClassifier((2,), random_state=0).fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]).certificate_
    assert (certificate.status, certificate.loss, certificate.found_by) == ("OPTIMAL", 0, "learning")
    assert str(certificate).startswith("OPTIMAL for all networks: loss 0 of 4, bound 0, gap 0 %")


def test_votes_of_learned_networks_are_learned_and_those_of_searches_are_not():
    labels = np.digitize(X[:, 0] + X[:, 1] * Y, [-0.5, 0.5])
    rows = np.round(X)
    votes = StepClassifier((2,), output="one_vs_one", random_state=0)
    assert votes.fit(rows, labels).certificate_.status == "LEARNED"
    assert StepEnsembleClassifier(3, hidden=(2,), random_state=0).fit(rows, labels).certificate_.status == "LEARNED"
    searched = StepClassifier((1,), random_state=0, time_limit=2, **SEARCHED).fit(rows, labels)
    assert searched.certificate_.status == "FEASIBLE"


def test_its_progress_shows_no_gap(capsys):
    start = StepClassifier((2,), random_state=1).fit(X, Y).network_
    StepClassifier((2,), random_state=0, verbose=1).fit(X, Y, start=start)
    votes = StepClassifier((2,), output="one_vs_one", random_state=0, verbose=1)
    votes.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    shown = capsys.readouterr().err
    assert "bound 0  (learning)" in shown
    assert "loss -  bound -  (3 of 3 pairs, 100% done)" in shown
    assert "gap" not in shown
    StepClassifier((2,), method=Search(moves=10, starts=1), random_state=0, verbose=1).fit(X, Y)
    assert "gap" in capsys.readouterr().err


def test_the_same_seed_gives_the_same_network_and_another_another():
    one, two, three = (StepClassifier((5,), method="learn", random_state=s).fit(X, Y).network_ for s in (0, 0, 1))
    assert one == two
    assert one != three


def test_shared_thresholds_answer_the_same():
    neuron = StepClassifier((8, 4), method="learn", random_state=0).fit(X, Y)
    layer = StepClassifier((8, 4), method="learn", threshold="layer", random_state=0).fit(X, Y)
    assert (neuron.predict(X) == layer.predict(X)).all()
    assert all((part.thresholds == part.thresholds[0]).all() for part in layer.network_.layers)
    assert (shared_thresholds(neuron.network_).predict(X) == neuron.predict(X)).all()


def test_row_weights_move_the_boundary():
    plain = StepClassifier((5,), method="learn", random_state=0).fit(X, Y)
    weighted = StepClassifier((5,), method="learn", random_state=0).fit(X, Y, np.where(Y == 1, 20.0, 1.0))
    assert (weighted.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_constant_and_huge_features_do_no_harm():
    rows = np.column_stack([X, np.full(len(X), 7.0), X[:, 0] * 1e9])
    assert StepClassifier((5,), method="learn", random_state=0).fit(rows, Y).score(rows, Y) > 0.75


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (SEARCHED, "descent keeps constraints that combine weights only if these are real"),
        ({"sparsity": "fewest"}, "descent keeps limits on the number of weights, and sparsity='fewest' is none"),
        (
            {"uncertainty": Polyhedron(np.vstack([np.eye(6), -np.eye(6)]), [0.1] * 12)},
            "descent knows the worst case of balls in l1, l2, linf without a transform",
        ),
        ({"loss": Hinge(bound=0.5)}, "descent takes hinge without a bound"),
    ],
)
def test_what_descent_does_not_take_is_searched_and_the_plan_says_why(parameters, reason):
    rows, labels = np.round(X[:30]), Y[:30]
    classifier = StepClassifier((2,), random_state=0, time_limit=4, **parameters).fit(rows, labels)
    plan, certificate = classifier.result_.plan, classifier.certificate_
    assert plan.refused[0] == ("descent", reason)
    assert f"  not descent: {reason}" in str(plan).splitlines()
    assert any(stage.startswith("local search, until ") for stage in plan.stages)
    assert (certificate.status == "OPTIMAL") == (certificate.loss == certificate.bound)
    assert certificate.found_by != "learning"
    assert classifier.verify(rows, labels)


def test_what_the_search_does_not_take_either_is_proven():
    rows = np.column_stack([np.arange(6.0), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]])
    total = Constraint({(2, 0, 0): 1.0, (2, 0, 1): 1.0}, lower=1.0)
    numbers = StepRegressor((2,), constraints=total, random_state=0, time_limit=20).fit(rows, [0, 0, 0, 5, 5, 5])
    plan = numbers.result_.plan
    reason = "descent keeps constraints that combine weights only if weights of 0 satisfy them"
    assert plan.refused[0] == ("descent", reason)
    assert [way.name for way in plan.ways] == ["tight"]
    assert numbers.certificate_.status == "OPTIMAL"


def test_a_search_takes_a_share_of_the_time_and_says_so(monkeypatch):
    rows = np.round(X)
    classifier = StepClassifier((4,), time_limit=4, random_state=0, **SEARCHED)
    monkeypatch.setattr("stepnet.methods.learn._MOVES", 10**9)
    certificate = classifier.fit(rows, Y).certificate_
    assert certificate.stop_reason == "time"
    assert certificate.loss == (classifier.predict(rows) != Y).sum()


def test_a_callback_ends_the_search_too():
    seen = []
    classifier = StepClassifier((4,), random_state=0, **SEARCHED)
    classifier.fit(np.round(X), Y, on_incumbent=lambda now: bool(seen.append(now)) or now.stage == "local search")
    assert classifier.certificate_.stop_reason == "callback"
    assert sum(progress.stage == "local search" for progress in seen) == 1


def test_any_problem_that_a_method_takes_is_taken_by_the_default():
    uncertain = [made(name, uncertainty=Ball("linf", 0.1)) for name in CASES]
    for problem in (*map(made, CASES), *uncertain):
        taken = [method for method in METHODS if method_of(method).accepts(problem)]
        assert "learn" in taken or not taken, problem


@pytest.mark.parametrize("estimator", [StepClassifier, StepRegressor, StepAutoencoder])
def test_it_is_the_default(estimator):
    assert estimator().method == "learn"


def test_the_fewest_weights_are_few_without_a_proof_too():
    some = StepClassifier((3,), weights="real", sparsity="fewest", random_state=0).fit(X[:80], Y[:80])
    many = StepClassifier((3,), method=Search(moves=2_000, starts=2), random_state=0).fit(X[:80], Y[:80])
    assert some.certificate_.loss <= many.certificate_.loss
    assert some.certificate_.n_weights < many.certificate_.n_weights
    assert some.certificate_.weights_bound == 0


def test_the_time_limit_ends_it_early():
    StepClassifier((2,), method="learn").fit(X, Y)  # compiled before the clock starts
    classifier = StepClassifier((2000,), method=Learn(epochs=5000), time_limit=2, random_state=0).fit(X, Y)
    assert classifier.certificate_.stop_reason == "time"


def test_the_search_alone_finds_but_does_not_prove():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.uniform(-1, 1, (20, 3)), rng.integers(0, 2, 20), (2,))
    certificate, _ = solve(problem, Search(moves=5000, starts=3))
    assert (certificate.loss, certificate.bound, certificate.status) == (1, 0, "FEASIBLE")
    parallel = StepClassifier((2,), method=Search(moves=2000, starts=2), n_jobs=2, random_state=0, time_limit=60)
    single = StepClassifier((2,), method=Search(moves=2000, starts=2), n_jobs=1, random_state=0, time_limit=60)
    data = problem.dataset
    assert parallel.fit(data.X, data.y).network_ == single.fit(data.X, data.y).network_
