"""Rows that come and go: what was proven still holds, and the result is that of all rows."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from stepnet import Constraint, Exact, StepAutoencoder, StepClassifier, StepRegressor
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.provers.pool import Pool


def batches(seed, n_rows=24, n_batches=4):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_rows, 2)), rng.integers(0, 2, n_rows)
    parts = np.array_split(np.arange(n_rows), n_batches)
    return X, y, parts


def quick(**changes):
    return StepClassifier(**{"hidden": (1,), "method": "prove", "time_limit": 30, "random_state": 0} | changes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "method"), [(0, "prove"), (1, "prove"), (2, "prove"), (1, Exact(formulation="tight"))]
)
def test_batches_prove_what_one_fit_proves_and_no_bound_was_too_high(seed, method):
    X, y, parts = batches(seed)
    online = quick(method=method)
    for number, part in enumerate(parts, start=1):
        online.partial_fit(X[part], y[part], classes=[0, 1])
        so_far = np.concatenate(parts[:number])
        whole = quick(method=method).fit(X[so_far], y[so_far]) if len(set(y[so_far])) == 2 else online
        assert online.certificate_.status == whole.certificate_.status == "OPTIMAL"
        assert online.certificate_.loss == whole.certificate_.loss
        assert online.certificate_.fingerprint == whole.certificate_.fingerprint
        assert online.verify(X[so_far], y[so_far])


def test_a_bound_carries_over_and_says_so():
    X, y, _ = batches(1)
    first = quick().partial_fit(X, y)
    assert first.certificate_.bound > 0
    wrong = first.predict(X) != y
    again = clone(first).partial_fit(X, y).partial_fit(X[~wrong][:3], y[~wrong][:3])
    assert again.certificate_.loss == first.certificate_.loss
    assert again.certificate_.evidence.is_of_fewer_rows
    assert again.certificate_.status == "OPTIMAL"
    far = clone(first).partial_fit(X, y).partial_fit([[900.0, -900.0]], [int(first.predict([[900.0, -900.0]])[0])])
    assert far.certificate_.loss == first.certificate_.loss
    assert far.certificate_.scope.is_all or far.certificate_.scope.on_earlier_rows


def test_rows_join_a_fit_unless_someone_wrote_into_them():
    X, y, _ = batches(1)
    model = quick().fit(X, y)
    joined = model.partial_fit(X[:2] + 0.01, y[:2])
    both = quick().fit(np.vstack([X, X[:2] + 0.01]), np.append(y, y[:2]))
    assert joined.certificate_.loss == both.certificate_.loss
    X, y, _ = batches(1)
    model = quick().fit(X, y)
    X[:] = np.arange(len(X))[:, None]  # now the rows are easy
    model.partial_fit([[0.25, 0.25]], [y[0]])
    assert not model.certificate_.evidence.is_of_fewer_rows
    assert model.certificate_.bound <= model.certificate_.loss


def test_dropped_rows_leave_the_start_alone():
    X, y, _ = batches(2)
    model = quick().partial_fit(X, y)
    loss = model.certificate_.loss
    wrong = np.flatnonzero(model.predict(X) != y)
    model.forget(wrong)
    assert loss > 0
    assert (model.certificate_.loss, model.certificate_.status) == (0, "OPTIMAL")
    assert not model.certificate_.evidence.is_of_fewer_rows
    model.forget(np.arange(len(X) - len(wrong)) < 3)
    assert model.certificate_.n_rows == len(X) - len(wrong) - 3


@pytest.mark.parametrize("rows", [[99], np.ones(24, dtype=bool)])
def test_rows_that_are_not_there_cannot_be_dropped(rows):
    X, y, _ = batches(0)
    model = quick().partial_fit(X, y)
    certificate = model.certificate_
    with pytest.raises(InvalidInputError, match="forget"):
        model.forget(rows)
    assert model.certificate_ is certificate


def test_classes_come_first_and_unknown_ones_are_refused():
    model = quick(time_limit=5).partial_fit([[0.0], [1.0]], ["a", "a"], classes=["a", "b"])
    assert model.predict([[5.0]]).tolist() == ["a"]
    model.partial_fit([[2.0], [3.0]], ["b", "b"])
    assert model.predict([[0.0], [3.0]]).tolist() == ["a", "b"]
    with pytest.raises(InvalidInputError, match="classes= to the first partial_fit"):
        model.partial_fit([[4.0]], ["c"])
    assert model.certificate_.n_rows == 4
    with pytest.raises(InvalidInputError, match="one class only"):
        quick().partial_fit([[0.0]], ["a"])


def test_new_parameters_and_balanced_classes_carry_no_bound():
    X, y, _ = batches(1)
    model = quick().partial_fit(X, y)
    model.set_params(hidden=(2,)).partial_fit(X[:1], y[:1])
    assert model.network_.widths == (2, 1)
    assert not model.certificate_.evidence.is_of_fewer_rows
    balanced = quick(class_weight="balanced").partial_fit(X, y)
    balanced.partial_fit(X[:1], y[:1])
    assert not balanced.certificate_.evidence.is_of_fewer_rows


def test_pickles_keep_the_rows_of_partial_fit_but_not_of_fit():
    X, y, _ = batches(0)
    again = pickle.loads(pickle.dumps(quick().partial_fit(X, y)))
    assert again.partial_fit(X[:2] + 0.5, y[:2]).certificate_.n_rows == 26
    again = pickle.loads(pickle.dumps(quick().fit(X, y)))
    with pytest.raises(InvalidInputError, match="no rows to add to"):
        again.partial_fit(X[:2], y[:2])


@pytest.mark.slow
def test_several_classes_numbers_and_codes_go_on_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    votes = quick(hidden=(3,), time_limit=3)
    votes.partial_fit(X[:15], y[:15], classes=[0, 1, 2, 3]).partial_fit(X[15:], y[15:])
    assert votes.certificate_.n_rows == 30
    numbers = StepRegressor((2,), method="prove", time_limit=2, random_state=0)
    numbers.partial_fit(X[:15], X[:15, 0]).partial_fit(X[15:], X[15:, 0])
    assert numbers.certificate_.loss == numbers.problem(X, X[:, 0]).evaluate(numbers.network_)
    coder = StepAutoencoder(2, method="search", random_state=0, time_limit=2).partial_fit(X[:15]).partial_fit(X[15:])
    assert coder.certificate_.n_rows == 30


def test_odd_calls_are_named_or_harmless():
    X, y, _ = batches(0)
    with pytest.raises(NotFittedError):
        quick().forget([0])
    model = quick().partial_fit(X, y)
    assert model.forget([]).certificate_.n_rows == len(X)
    numbers = StepRegressor((1,), method="prove", time_limit=1, random_state=0).partial_fit(X, X[:, 0])
    with pytest.raises(InvalidInputError, match="same form"):
        numbers.partial_fit(X, X[:, :1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge", "hidden": (), "method": "search"}, "hidden layer"),
        ({"loss": "hinge", "weights": "ternary", "method": "search"}, "real weights"),
        ({"loss": "hinge", "threshold": 0.0, "method": "search"}, "learned threshold"),
    ],
)
def test_hinges_that_cannot_be_say_what_can(options, message):
    X, y, _ = batches(0)
    with pytest.raises(NotAcceptedError, match=message):
        quick(**options).fit(X, y)


def test_constraints_may_ask_for_more_than_the_default_limit():
    X, y = np.arange(6.0)[:, None], [0.0, 0, 3, 3, 3, 3]
    far = Constraint({(2, 0, 0): 1.0}, lower=100.0)
    model = StepRegressor((1,), constraints=[far], method="exact", time_limit=10, random_state=0).fit(X, y)
    assert model.network_.layers[1].weights[0, 0] >= 100 * (1 - 1e-8)
    assert model.certificate_.status == "OPTIMAL"


def test_what_no_neuron_gets_right_together_is_known_to_later_fits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 6)), rng.integers(0, 2, 30)
    online = quick(method=Exact(formulation="sat", search_share=0)).partial_fit(X[:24], y[:24])
    earlier = online.result_.subsystems
    online.partial_fit(X[24:], y[24:])
    assert len(online.result_.subsystems) >= len(earlier) > 0
    old = StepClassifier(hidden=(1,)).problem(X[:24], y[:24]).dataset
    new = StepClassifier(hidden=(1,)).problem(X, y).dataset
    moved = Pool(earlier).moved(old, new)
    assert len(moved) == len(earlier)
    assert online.result_.subsystems[: len(moved)] == tuple(moved.subsystems)
    assert Pool(online.result_.subsystems).is_true(new)
    online.forget([0])
    left = StepClassifier(hidden=(1,)).problem(X[1:], y[1:]).dataset
    assert Pool(online.result_.subsystems).is_true(left)
