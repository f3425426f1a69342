"""A proven network that is likely to be worse on new rows than a learned one says so."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from stepnet import Ball, Integers, Raises, Search, StepClassifier, StepRegressor
from stepnet.certificate.certificate import Certificate
from stepnet.report import Report, to_markdown

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 5))
NOISE = RNG.integers(0, 2, 60)
BRIEF = Search(moves=50, starts=1)


def test_few_rows_per_weight_are_named_with_the_way_out():
    clf = StepClassifier((10,), method=BRIEF, random_state=0).fit(ROWS, NOISE)
    certificate = clf.certificate_
    assert certificate.remark.startswith(f"{60 / certificate.n_weights:.1f} rows per weight")
    assert "method='learn'" in certificate.remark
    assert str(certificate).splitlines()[-1] == f"  remark   {certificate.remark}"
    assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate


def test_numbers_too():
    numbers = StepRegressor((10,), method=BRIEF, random_state=0).fit(ROWS, ROWS[:, 0])
    assert "rows per weight" in numbers.certificate_.remark


@pytest.mark.parametrize(
    "parameters",
    [
        {"hidden": (1,)},  # ten rows per weight
        {"hidden": (10,), "method": "learn"},
        {"hidden": (10,), "weights": Integers(2)},  # has no learned counterpart
        {"hidden": (10,), "constraints": [Raises(0)]},
        {"hidden": (2,), "uncertainty": Ball("linf", 0.01)},
    ],
    ids=["few weights", "learned", "integers", "constraints", "uncertain"],
)
def test_others_are_left_alone(parameters):
    clf = StepClassifier(**{"method": BRIEF, "random_state": 0} | parameters).fit(ROWS, NOISE)
    assert clf.certificate_.remark == ""
    assert "remark" not in str(clf.certificate_)


def test_a_handful_of_rows_is_no_sample():
    clf = StepClassifier((10,), method=BRIEF, random_state=0).fit(ROWS[:20], NOISE[:20])
    assert clf.certificate_.remark == ""


def test_a_report_says_it():
    clf = StepClassifier((10,), method=BRIEF, random_state=0).fit(ROWS, NOISE)
    assert "rows per weight: on new rows" in to_markdown(Report.of(clf, (ROWS, NOISE)))
    clf.certificate_ = replace(clf.certificate_, remark="")
    assert "rows per weight" not in to_markdown(Report.of(clf, (ROWS, NOISE)))
