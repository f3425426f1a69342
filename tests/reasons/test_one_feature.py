"""Changes of one feature are exact, down to the last float."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reasons.test_counterfactual import model_of, random_network
from stepnet import StepClassifier, importance
from stepnet.reasons.one_feature import OneFeature


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(("step", "argmax", "staircase")), st.booleans())
def test_no_float_between_the_row_and_a_change_has_that_answer(seed, kind, is_integer):
    rng = np.random.default_rng(seed)
    model = model_of(random_network(rng, 3, (5,), kind, is_integer=is_integer))
    row = rng.integers(0, 5, 3).astype(float)
    scan = OneFeature(model, np.full(3, -9.0), np.full(3, 9.0), np.zeros(3, dtype=bool))
    changes = scan.changes(row)
    for i in range(3):
        numbers = np.linspace(-9, 9, 145)
        points = np.repeat(row[None], len(numbers), axis=0)
        points[:, i] = numbers
        seen = set(model.network.predict(points).tolist()) - set(model.network.predict(row[None]).tolist())
        assert seen <= {change.code for change in changes if change.feature == i}
    for change in changes:
        towards = row[change.feature]
        point = row.copy()
        point[change.feature] = change.number
        assert model.network.predict(point[None])[0] == change.code
        point[change.feature] = math.nextafter(change.number, towards)
        assert model.network.predict(point[None])[0] != change.code or point[change.feature] == towards


def test_importance_is_the_share_of_rows_that_a_feature_alone_can_change():
    X = np.array([[a, b] for a in range(4) for b in range(4)], dtype=float)
    y = (X[:, 0] >= 2).astype(int)
    clf = StepClassifier(1, method="prove").fit(X, y)
    found = importance(clf, X, integer="all")
    for i, row in enumerate(X):
        for j in range(2):
            points = np.repeat(row[None], 4, axis=0)
            points[:, j] = range(4)
            assert found.can_change[i, j] == (len(set(clf.predict(points))) > 1)
    assert found.shares.tolist() == found.can_change.mean(axis=0).tolist()
    assert "can change the answer (16 rows)" in str(found)
