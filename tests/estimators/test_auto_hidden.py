"""hidden="auto": the width by held-out rows, within the limits of a fit."""

from __future__ import annotations

import numpy as np
import pytest

from stepnet import Raises, StepClassifier, StepRegressor, load, save
from stepnet.errors import InvalidInputError
from stepnet.estimators.auto_hidden import _smallest_good
from stepnet.methods.learn import Learn
from stepnet.runtime.limits import Budget

WIDTHS = ((), (2,), (5,), (10,))


@pytest.fixture(autouse=True)
def few_widths(monkeypatch):
    """The others take as long as all of these together."""
    monkeypatch.setattr("stepnet.estimators.auto_hidden.WIDTHS", WIDTHS)


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(300, 3))


def auto(**parameters) -> StepClassifier:
    return StepClassifier("auto", **{"method": Learn(epochs=20), "random_state": 0, "time_limit": None} | parameters)


def test_a_noisy_line_needs_few_neurons(rows):
    flipped = np.random.default_rng(1).random(300) < 0.2
    clf = auto().fit(rows, (rows @ [1.0, 2.0, -1.0] > 0.3) ^ flipped)
    assert sum(clf.hidden_) <= 5
    assert clf.network_.widths == (*clf.hidden_, 1)
    assert [one.hidden for one in clf.held_out_] == list(WIDTHS)


def test_a_parity_needs_several(rows):
    clf = auto(method=Learn(epochs=60)).fit(rows, (rows[:, 0] > 0) ^ (rows[:, 1] > 0))
    assert sum(clf.hidden_) >= 2
    losses = {one.hidden: one.loss for one in clf.held_out_}
    assert losses[clf.hidden_] < losses[()] - 0.2


def test_numbers(rows):
    steps = np.floor(3 * rows[:, 0]) + np.floor(2 * rows[:, 1])
    regressor = StepRegressor("auto", method=Learn(epochs=60), random_state=0, time_limit=None).fit(rows, steps)
    assert regressor.hidden_ != ()  # a hidden layer is required
    assert regressor.held_out_[0].hidden == (2,)
    assert sum(regressor.hidden_) > 2


def test_the_rule_of_one_standard_error():
    rng = np.random.default_rng(0)
    noise = rng.random(400)
    losses = {(): noise + 1.0, (2,): noise + rng.normal(0, 0.5, 400), (5,): noise - 1e-3, (10,): noise}
    chosen, table = _smallest_good(losses, np.ones(400))
    assert chosen == (2,)
    assert [one.hidden for one in table] == list(losses)
    # A difference that is small but the same in every row is a difference.
    assert _smallest_good({(): noise + 2e-3, (5,): noise + 1e-3, (10,): noise}, np.ones(400))[0] == (10,)
    # Row weights count: only the first ten rows matter, and there a single neuron is best.
    losses[()] = np.where(np.arange(400) < 10, -5.0, 1.0)
    assert _smallest_good(losses, (np.arange(400) < 10).astype(float))[0] == ()


def test_the_choice_does_not_depend_on_earlier_fits_and_is_repeatable(rows):
    y = (rows[:, 0] > 0) ^ (rows[:, 1] > 0)
    first = auto().fit(rows, rows[:, 0] > 0).fit(rows, y)
    second = auto().fit(rows, y)
    assert first.held_out_ == second.held_out_
    assert first.network_.to_dict() == second.network_.to_dict()


def test_no_time_left_still_gives_a_network(rows):
    clf = auto(time_limit=1e-6).fit(rows, rows[:, 0] > 0)
    assert clf.hidden_ in WIDTHS
    assert clf.certificate_.loss <= 300


def test_half_of_the_time_is_left_for_the_fit(rows, monkeypatch):
    """A clock that advances by one second per look: the folds stop in time."""
    clock = iter(range(10**9))
    monkeypatch.setattr("stepnet.runtime.limits.time.perf_counter", lambda: next(clock))
    seen = []
    solve = StepClassifier._solve

    def spied(self, problem, budget, *others, **named):
        seen.append((self.hidden, budget.remaining))
        solve(self, problem, budget, *others, **named)

    monkeypatch.setattr(StepClassifier, "_solve", spied)
    auto(time_limit=2_000.0).fit(rows, rows[:, 0] > 0)
    *choosing, last = seen
    assert last[0] == "auto"
    assert last[1] > 500
    assert 1 <= len(choosing) <= 5 * len(WIDTHS)


def test_widths_that_other_parameters_do_not_admit_are_left_out(rows):
    clf = auto(weights=("real", "real")).fit(rows, rows[:, 0] > 0)
    assert () not in [one.hidden for one in clf.held_out_]
    with pytest.raises(InvalidInputError, match="weights"):
        auto(weights=("real", "real", "real")).fit(rows, rows[:, 0] > 0)


def test_names_weights_and_radii_reach_the_folds(rows):
    import pandas as pd

    from stepnet import Ball, Search

    table = pd.DataFrame(rows[:60], columns=["age", "dose", "site"])
    clf = auto(method=Search(moves=50, starts=1), constraints=[Raises("age")], class_weight="balanced")
    clf.fit(table, rows[:60, 0] > 0, np.ones(60))
    assert all(clf.network_.layers[0].weights[:, 0] >= 0) or clf.hidden_
    robust = auto(method=Search(moves=20, starts=1), uncertainty=Ball("linf"), time_limit=2)
    assert robust.fit(table, rows[:60, 0] > 0, radius=np.full(60, 0.01)).hidden_ in WIDTHS


def test_files_keep_the_choice(rows, tmp_path):
    y = rows[:, 0] > 0
    clf = auto().fit(rows, y)
    save(clf, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.hidden == "auto"
    assert again.hidden_ == clf.hidden_
    assert again.verify(rows, y)


def test_rows_that_come_later_keep_the_width(rows):
    clf = auto().partial_fit(rows[:200], rows[:200, 0] > 0)
    chosen = clf.hidden_
    clf.partial_fit(rows[200:], rows[200:, 0] > 0)
    assert clf.hidden_ == chosen
    assert "300 rows in 2 batches" in clf.certificate_.remark


def test_what_auto_does_not_go_with(rows, tmp_path):
    y = rows[:, 0] > 0
    with pytest.raises(InvalidInputError, match="checkpoint"):
        auto(method="prove").fit(rows, y, checkpoint=tmp_path / "kept.json")
    with pytest.raises(InvalidInputError, match="start"):
        auto().fit(rows, y, start=auto().fit(rows, y).network_)
    with pytest.raises(InvalidInputError, match="chosen by fit"):
        auto().problem(rows, y)


def test_few_rows():
    assert auto().fit([[0.0], [1.0]], [0, 1]).hidden_ in WIDTHS
    several = auto().fit(np.arange(9.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1, 2])
    assert several.hidden_ in WIDTHS


def test_an_interrupt_ends_the_choice(rows):
    """The first fold is interrupted; the fit still ends with a network of a width that was tried."""
    clf = auto()
    budgets = []
    solve = StepClassifier._solve

    class Interrupted(StepClassifier):
        def _solve(self, problem, budget, *others, **named):
            budgets.append(budget)
            if len(budgets) == 2:
                budget.stop("interrupted")
            solve(self, problem, budget, *others, **named)

    clf = Interrupted("auto", method=Learn(epochs=60), random_state=0, on_interrupt="keep").fit(rows, rows[:, 0] > 0)
    assert len(budgets) == 3
    assert isinstance(budgets[-1], Budget)
    assert clf.certificate_.stop_reason == "interrupted"
    assert clf.hidden_ in WIDTHS[:2]
