"""The data that come along are the paper's."""

import numpy as np
from sklearn.model_selection import train_test_split

from stepnet.datasets import load_breast_cancer_wisconsin, make_paper_random


def test_breast_cancer_has_the_paper_s_rows_and_split():
    rows = load_breast_cancer_wisconsin()
    assert rows.data.shape == (699, 9)
    assert np.bincount(rows.target).tolist() == [458, 241]
    assert len(rows.feature_names) == 9
    assert (rows.data[-16:, 5] == 4).all()
    assert (np.diff(rows.data[:-16, 5]) >= 0).all()
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    _, _, _, y_test = train_test_split(X, y, test_size=0.2, random_state=42)
    assert np.bincount(y_test).tolist() == [97, 43]


def test_random_data_are_thirds():
    X, y = make_paper_random(0)
    assert X.shape == (200, 100)
    high, low = (X >= 0).all(axis=1), (X <= 0).all(axis=1)
    small = (np.abs(X) <= 1).all(axis=1)
    assert (high.sum(), low.sum(), small.sum()) == (66, 66, 68)
    assert (y[high] == 1).all()
    assert (y[low] == 0).all()
    assert set(y[small]) == {0, 1}
    assert np.array_equal(X, make_paper_random(0)[0])
    assert not np.array_equal(X, make_paper_random(1)[0])
