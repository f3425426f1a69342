"""Rows of the experiments: the paper's split, and no test row among the training rows."""

import numpy as np
import pytest

from stepnet.experiments.cell import N_FOLDS, Cell, rows_of


def cell(data, seed, n_rows=None):
    return Cell("split", data, seed, n_rows, 25, "prove", 1.0)


def test_the_papers_split_has_97_benign_and_43_malignant_test_rows():
    rows = rows_of(cell("breast_cancer", 42))
    assert np.bincount(rows.y_test).tolist() == [97, 43]
    assert len(rows.y_train) == 559


def test_the_choice_between_methods_looks_at_training_rows_alone():
    whole = rows_of(cell("breast_cancer", 42))
    folds = [rows_of(cell("folds", number)) for number in range(N_FOLDS)]
    assert sum(len(fold.y_test) for fold in folds) == 559
    for fold in folds:
        both = np.concatenate([fold.X_train, fold.X_test])
        assert sorted(map(tuple, both)) == sorted(map(tuple, whole.X_train))


@pytest.mark.parametrize("n_rows", [20, 160])
def test_random_rows_are_tested_with_forty_others(n_rows):
    rows = rows_of(cell("random", 3, n_rows))
    assert rows.X_train.shape == (n_rows, 100)
    assert rows.X_test.shape == (40, 100)
    assert not set(map(tuple, rows.X_train)) & set(map(tuple, rows.X_test))


def test_distinct_cells_have_distinct_names():
    names = {Cell("e", "random", s, m, 20, k, t, r).name for s in (0, 1) for m in (20, 40) for k in ("prove", "learn")
             for t in (5.0, 60.0) for r in (0.0, 0.1)}  # fmt: skip
    assert len(names) == 32
