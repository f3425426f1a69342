"""Learn: accurate on new rows, deterministic, at any depth, and honest about its loss."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from conftest import make_problem, solve
from stepnet import Learn, Search, StepClassifier
from stepnet.errors import NotAcceptedError
from stepnet.search.descent.descent import shared_thresholds

X, Y = make_classification(600, 6, n_informative=4, flip_y=0.05, random_state=1)


@pytest.mark.parametrize("hidden", [(), (10,), (10, 5), (8, 8, 4)])
def test_learns_at_any_depth(hidden):
    X_train, X_test, y_train, y_test = train_test_split(X, Y, random_state=0)
    classifier = StepClassifier(hidden=hidden, method="learn", random_state=0).fit(X_train, y_train)
    assert classifier.score(X_test, y_test) > 0.7
    assert classifier.certificate_.status == "FEASIBLE"
    assert classifier.certificate_.loss == (classifier.predict(X_train) != y_train).sum()
    assert classifier.certificate_.stop_reason == "finished"


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
    ("parameters", "message"), [({"threshold": 0.0}, "'neuron' or 'layer'"), ({"weights": "ternary"}, "real")]
)
def test_what_it_cannot_learn_is_refused_with_a_reason(parameters, message):
    with pytest.raises(NotAcceptedError, match=message):
        StepClassifier((5,), method="learn", **parameters).fit(np.round(X), Y)


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
