"""The learner of scorecards has a card at any time."""

from itertools import count

import numpy as np
import pytest

from stepnet.problem.dataset import Dataset
from stepnet.scores.cuts import CutPoints
from stepnet.scores.form import Form
from stepnet.scores.learner import ScoreLearner


@pytest.mark.parametrize("looks", [1, 2, 5, 20])
def test_a_good_card_is_there_after_the_first_look_at_the_clock(looks):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    data = Dataset.from_rows(X, (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=200) > 0).astype(int))
    learner, asked = ScoreLearner.of(Form(3, 5, 3), CutPoints(), data, 0), count()
    card = learner.work(lambda: next(asked) >= looks)
    assert card.rules
    assert (card.network(4).predict(data.X) != data.y).mean() < 0.3
