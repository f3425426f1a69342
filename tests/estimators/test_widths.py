"""The fewest neurons: proven from both sides, as a curve, a table and a picture."""

import numpy as np
import pytest

from stepnet import smallest_width
from stepnet.errors import Answer, InvalidInputError
from stepnet.provers.branches import Branches

ALTERNATING = np.arange(8.0)[:, None], np.arange(8) % 2


def test_alternating_rows_on_a_line():
    """With k thresholds there are k + 1 pieces of the line; a piece of 2j or 2j + 1 rows has j of them wrong."""
    found = smallest_width(*ALTERNATING, loss=2, time_limit=120)
    assert [(one.loss, one.bound) for one in found.curve] == [(3, 3), (3, 3), (2, 2)]
    assert found.smallest == found.enough == found.needed == 3
    assert "3 neurons reach loss 2, and no fewer do" in str(found)


def test_networks_of_the_curve_have_their_losses():
    X, y = ALTERNATING
    for one in smallest_width(X, y, most=3, time_limit=120).curve:
        assert one.network.widths == (one.width, 1)
        assert (one.network.predict(X) != y).sum() == one.loss == one.bound


def test_a_loss_that_is_out_of_reach_says_how_many_are_needed():
    found = smallest_width(*ALTERNATING, most=2, time_limit=60)
    assert found.enough is None
    assert found.smallest is None
    assert found.needed == 3
    assert "was not reached with 2 neurons; at least 3 are needed" in str(found)


def test_contradicting_rows_leave_no_width():
    found = smallest_width([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert not found.is_possible
    assert (found.least, found.needed, found.enough, found.smallest) == (1, None, None, None)
    assert len(found.curve) == 1  # no use in trying others
    assert "No width reaches loss 0: equal rows have different classes" in found.answer
    assert "Give a loss of 1 or more" in found.answer
    assert smallest_width([[0.0], [0.0], [1.0]], [0, 1, 1], loss=1).smallest == 1


@pytest.mark.slow
def test_an_open_bound_leaves_the_answer_open(monkeypatch):
    monkeypatch.setattr(Branches, "accepts", lambda *_: Answer("a test, in which a single neuron stays open"))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 2, 60)
    told = []
    found = smallest_width(X, y, loss=9, most=2, time_limit=4, show=told.append)
    assert tuple(told) == found.curve
    assert found.curve[0].bound <= 9 < found.curve[0].loss  # one neuron: open
    assert (found.needed, found.enough, found.smallest) == (1, 2, None)
    assert "2 neurons reach loss 9; at least 1 is needed." in str(found)
    assert all(one.bound <= one.loss for one in found.curve)


def test_weights_count():
    X, y = ALTERNATING
    found = smallest_width(X, y, loss=3, sample_weight=[9, 1, 9, 1, 9, 1, 1, 1], most=2, time_limit=60)
    assert found.smallest == 1
    assert found.curve[0].loss <= 3


def test_the_curve_is_drawn(tmp_path):
    smallest_width(*ALTERNATING, most=2, time_limit=60).plot(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 5_000


@pytest.mark.parametrize("options", [{"loss": -1}, {"loss": "few"}, {"most": 0}, {"most": 1.5}, {"time_limit": 0}])
def test_bad_input_is_named(options):
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        smallest_width(*ALTERNATING, **options)
