"""Calibration: probabilities that agree with the answers, and the fit with the smallest log loss."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.model.calibration import Calibration

NUMBERS = st.floats(-1e300, 1e300)


@given(st.floats(1e-12, 1e12), st.lists(NUMBERS, min_size=1, max_size=5))
def test_without_an_offset_one_half_is_the_threshold(slope, values):
    values = np.array([*values, 5e-324, 0.0])
    probabilities = Calibration(slope).probabilities(values)
    assert (probabilities.argmax(axis=1) == (values > 0)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@given(st.floats(1e-6, 1e6), st.lists(st.tuples(*[st.floats(-100, 100)] * 3), min_size=1, max_size=5))
def test_without_offsets_the_largest_value_is_the_most_probable(slope, values):
    probabilities = Calibration(slope, (0.0,) * 3).probabilities(values)
    largest = np.take_along_axis(probabilities, np.argmax(values, axis=1)[:, None], axis=1)[:, 0]
    assert (largest == probabilities.max(axis=1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_log_probabilities_are_finite_where_probabilities_are_nought():
    logs = Calibration(1.0).log_probabilities([-1e6, 1e6])
    np.testing.assert_allclose(logs, [[0.0, -1e6], [-1e6, 0.0]])


def drawn(slope, offset, n=40_000):
    rng = np.random.default_rng(0)
    values = rng.normal(size=n) * 1e4
    return values, (rng.random(n) < 1 / (1 + np.exp(-(slope * values + offset)))).astype(int)


def test_the_fit_finds_the_slope_and_offset_that_classes_were_drawn_with():
    values, codes = drawn(3e-4, -1.0)
    found = Calibration.fitted(values, codes, np.ones(len(codes)), with_offsets=True)
    assert found.slope == pytest.approx(3e-4, rel=0.05)
    assert found.offsets[0] == pytest.approx(-1.0, abs=0.05)
    assert Calibration.fitted(values, codes, np.ones(len(codes))).keeps_answers


def test_several_outputs_have_one_slope_and_an_offset_each():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2_000, 4)) * 7
    truth = Calibration(0.4, (0.5, -0.5, 0.0, 0.0))
    codes = np.array([rng.choice(4, p=row) for row in truth.probabilities(values)])
    plain = Calibration.fitted(values, codes, np.ones(2_000))
    free = Calibration.fitted(values, codes, np.ones(2_000), with_offsets=True)
    assert plain.slope == pytest.approx(0.4, rel=0.1)
    np.testing.assert_allclose(free.offsets, truth.offsets, atol=0.2)
    assert log_loss(codes, free.probabilities(values)) < log_loss(codes, plain.probabilities(values))


def test_classes_that_values_tell_apart_give_a_finite_slope():
    found = Calibration.fitted([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], np.ones(4))
    assert 0 < found.slope < 10


def test_values_that_mislead_give_nearly_even_chances():
    found = Calibration.fitted([2.0, 1.0, -1.0, -2.0], [0, 0, 1, 1], np.ones(4), with_offsets=True)
    assert found.probabilities([2.0])[0, 1] == pytest.approx(0.5, abs=1e-3)


def test_a_weight_is_so_many_rows():
    values, codes = drawn(1e-4, 0.5, 500)
    weights = np.random.default_rng(2).integers(1, 4, 500)
    weighted = Calibration.fitted(values, codes, weights, with_offsets=True)
    repeated = Calibration.fitted(
        np.repeat(values, weights), np.repeat(codes, weights), np.ones(weights.sum()), with_offsets=True
    )
    assert weighted.slope == pytest.approx(repeated.slope, rel=1e-3)
    assert weighted.offsets == pytest.approx(repeated.offsets, rel=1e-3)


def test_it_has_the_log_loss_of_a_logistic_regression():
    values, codes = drawn(1e-4, 0.5, 2_000)
    usual = LogisticRegression(C=1e6).fit(values[:, None] / 1e4, codes).predict_proba(values[:, None] / 1e4)
    own = Calibration.fitted(values, codes, np.ones(2_000), with_offsets=True).probabilities(values)
    assert log_loss(codes, own) == pytest.approx(log_loss(codes, usual), abs=1e-5)


def test_a_moved_threshold_leaves_probabilities_as_they_are():
    calibration, values = Calibration(0.3), np.linspace(-5, 5, 11)
    np.testing.assert_allclose(calibration.moved(2.0).probabilities(values - 2.0), calibration.probabilities(values))


def test_it_comes_back_from_json_and_damage_is_noticed():
    calibration = Calibration(0.25, (0.0, 1.5, -1.5))
    assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration
    for damage in (
        {},
        {"slope": -1.0, "offsets": [0.0]},
        {"slope": math.nan, "offsets": [0.0]},
        {"slope": "a", "offsets": []},
        None,
    ):
        with pytest.raises(ModelFileError, match="calibration"):
            Calibration.from_dict(damage)


def test_another_number_of_outputs_is_refused():
    with pytest.raises(InvalidInputError, match="for 1 values per row; got 3"):
        Calibration(1.0).probabilities(np.zeros((2, 3)))
