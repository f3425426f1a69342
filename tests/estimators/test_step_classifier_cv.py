"""StepClassifierCV: the smallest network that is as good as the best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepnet import StepClassifierCV
from stepnet.errors import InvalidInputError

SMALL = StepClassifierCV(widths=[(), (2,)], cv=2, random_state=0)


@pytest.mark.slow
@parametrize_with_checks([SMALL])
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_single_neuron_is_chosen_where_it_is_enough_and_not_where_it_is_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(240, 2))
    linear = X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=240) > 0
    checkered = (X[:, 0] > 0) != (X[:, 1] > 0)
    chosen = StepClassifierCV(widths=[(10,), ()], cv=3, random_state=0)
    assert chosen.fit(X, linear).best_.hidden == ()
    assert chosen.fit(X, checkered).best_.hidden == (10,)
    assert [one.hidden for one in chosen.candidates_] == [(), (10,)]
    assert chosen.best_estimator_.hidden == (10,)
    assert chosen.certificate_.total_weight == 240
    assert chosen.score(X, checkered) > 0.8


def test_methods_and_strengths_are_tried_too_and_jobs_change_nothing() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, "b", "a")
    tried = StepClassifierCV(widths=[(2,)], strengths=(0.1, 1.0), cv=3, random_state=0).fit(X, y)
    assert [one.strength for one in tried.candidates_] == [1.0, 0.1]
    assert "held-out errors" in str(tried.best_)
    both = StepClassifierCV(widths=[(2,)], strengths=(0.1, 1.0), cv=3, random_state=0, n_jobs=2).fit(X, y)
    assert both.candidates_ == tried.candidates_
    assert tried.predict_proba(X).shape == (120, 2)


def test_nothing_to_try_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least one entry"):
        StepClassifierCV(widths=[]).fit([[0.0], [1.0]], [0, 1])
