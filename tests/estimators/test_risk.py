"""Bounds on errors on new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepnet import StepClassifier, attack, load, save
from stepnet.errors import InvalidInputError
from stepnet.problem.row_prints import RowPrints


@pytest.fixture(scope="module")
def model() -> tuple[StepClassifier, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = np.where(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=160) > 0, "yes", "no")
    return StepClassifier(hidden=(2,), random_state=0).fit(X[:80], y[:80]), X[80:], y[80:]


def test_shares_and_bounds_are_those_of_a_recount(model: Any) -> None:
    clf, X, y = model
    risk, answers = clf.risk(X, y), clf.predict(X)
    assert (risk.error.count, risk.error.total) == ((answers != y).sum(), 80)
    assert [one.total for one in risk.recall] == [(y == "no").sum(), (y == "yes").sum()]
    assert [one.total for one in risk.precision] == [(answers == "no").sum(), (answers == "yes").sum()]
    assert risk.recall[1].count == risk.precision[1].count == ((answers == "yes") & (y == "yes")).sum()
    assert risk.error.share < risk.error.bound < 1
    assert all(one.bound <= one.share for one in (*risk.recall, *risk.precision))
    assert clf.risk(X, y, 0.99).error.bound > risk.error.bound


def test_the_error_of_each_group_and_the_certified_share_are_bounded(model: Any) -> None:
    clf, X, y = model
    groups = np.where(np.arange(80) % 3, "a", "b")
    risk = clf.risk(X, y, groups=groups, radius=0.05)
    assert [one.name for one in risk.groups] == ["errors in a", "errors in b"]
    assert sum(one.count for one in risk.groups) == risk.error.count
    codes = np.searchsorted(clf.classes_, y)
    assert risk.certified.count == (attack(clf.network_, X, codes).radii > 0.05).sum()
    assert "right within 0.05 in linf" in str(risk)


def test_training_rows_are_refused_dropped_or_kept_also_from_a_file(model: Any, tmp_path: Path) -> None:
    clf, X, y = model
    rng = np.random.default_rng(0)
    known = rng.normal(size=(160, 3))[:5]  # as in training
    both, labels = np.vstack([X, known]), np.append(y, y[:5])
    save(clf, tmp_path / "model.json")
    for one in (clf, load(tmp_path / "model.json")):
        with pytest.raises(InvalidInputError, match="5 of 85 rows equal training rows"):
            one.risk(both, labels)
        assert one.risk(both, labels, repeated="drop").error == one.risk(X, y).error
        assert one.risk(both, labels, repeated="keep").error.total == 85


def test_a_kept_bound_is_a_line_of_the_certificate(model: Any, tmp_path: Path) -> None:
    clf, X, y = model
    assert clf.certificate_.new_rows == ""
    copy = load_again(clf, tmp_path)
    risk = copy.risk(X, y, keep=True)
    assert f"  new rows {risk.sentence}" in str(copy.certificate_)
    assert "(95 % confidence, 80 held-out rows)" in risk.sentence
    assert load_again(copy, tmp_path).certificate_ == copy.certificate_


def load_again(clf: Any, folder: Path) -> Any:
    save(clf, folder / "model.json")
    return load(folder / "model.json")


def test_wrong_rows_are_refused_in_words(model: Any) -> None:
    clf, X, y = model
    with pytest.raises(InvalidInputError, match=r"confidence=1.5 must be"):
        clf.risk(X, y, 1.5)
    with pytest.raises(InvalidInputError, match="label 'perhaps'"):
        clf.risk(X, np.where(np.arange(80), y, "perhaps"))
    with pytest.raises(InvalidInputError, match="groups must have one entry per row"):
        clf.risk(X, y, groups=["a"])
    with pytest.raises(InvalidInputError, match="repeated='hide' is not known"):
        clf.risk(X, y, repeated="hide")


def test_a_model_knows_the_rows_of_all_batches() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    clf = StepClassifier(hidden=(2,), random_state=0).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert clf.row_prints_.know(X).all()
    assert not clf.row_prints_.know(X + 1).any()


def test_of_many_rows_the_smallest_hashes_are_kept_and_no_other_row_is_called_known() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60_000, 2))
    prints = RowPrints.of(rows)
    assert len(prints.hashes) == 20_000
    assert 0.2 < prints.know(rows).mean() < 0.5
    assert prints.know(rng.normal(size=(10_000, 2))).mean() < 0.001
    again = RowPrints.from_dict(prints.to_dict())
    assert np.array_equal(again.know(rows), prints.know(rows))
