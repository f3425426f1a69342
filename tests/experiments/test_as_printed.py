"""The paper's methods as printed: the solver's claims are recorded, and checked by an exact forward pass."""

import numpy as np
import pytest

from stepnet import StepClassifier, datasets
from stepnet.experiments.as_printed import alternate, solve_exactly
from stepnet.experiments.cell import Cell, CellRows
from stepnet.experiments.contenders import CONTENDERS


def small_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 2)) * 10
    y = rng.integers(0, 2, 10)
    return CellRows(X, y, X, y)


def test_the_solvers_claims_are_judged_by_the_network_it_returned():
    verdicts = []
    for seed in range(3):
        rows = small_rows(seed)
        fitted = CONTENDERS["exact"].fit(rows, Cell("split", "random", seed, 10, 2, "exact", 10.0))
        facts = fitted.facts
        wrong = (fitted.predict(rows.X_train) != rows.y_train).sum()
        assert facts["loss"] == wrong
        assert facts["claim_is_true"] == (wrong <= facts["claimed_loss"] + 1e-6)
        assert facts["bound"] <= facts["loss"]
        verdicts.append(facts["claim_is_true"])
    assert not all(verdicts)  # so no claim can be trusted


@pytest.mark.parametrize("threshold", ["layer", 0.0])
def test_algorithm_1_ends_by_itself_and_its_network_has_the_threshold_it_should(threshold):
    X, y = datasets.make_paper_random(0, n_rows=12, n_features=5)
    problem = StepClassifier((3,), threshold=threshold).problem(X, y)
    claimed = alternate(problem, 20.0, 0)
    assert claimed.is_finished
    assert claimed.loss <= 12
    for layer in claimed.network.layers:
        assert len(set(layer.thresholds.tolist())) == 1
        assert threshold == "layer" or not layer.thresholds.any()


def test_a_limit_that_is_too_short_leaves_no_network_and_says_so():
    X, y = datasets.make_paper_random(0)
    problem = StepClassifier((20,), threshold="layer").problem(X, y)
    claimed = solve_exactly(problem, 0.3)
    assert claimed.network is None
    assert not claimed.is_finished
    fitted = CONTENDERS["exact"].fit(CellRows(X, y, X, y), Cell("split", "random", 0, 200, 20, "exact", 0.3))
    assert fitted.predict is None
    assert fitted.note == "HiGHS found no solution within 0.3 s"
    assert "loss" not in fitted.facts
