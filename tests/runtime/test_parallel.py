"""Independent pieces of work: in order, in threads, on a cluster, and without a hang when a worker dies."""

import math
import os
import pickle

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification

from stepnet import StepEnsembleClassifier
from stepnet.errors import SolverError
from stepnet.runtime.limits import Budget
from stepnet.runtime.parallel import as_finished, in_order

X, Y = make_classification(150, 4, random_state=0)


def square(number):
    return number * number


def fail(number):
    raise ZeroDivisionError("on purpose")


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_results_come_in_order(n_jobs):
    assert list(in_order(square, [(i,) for i in range(20)], n_jobs)) == [i * i for i in range(20)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_of_the_work_are_raised(n_jobs):
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        list(in_order(fail, [(1,), (2,)], n_jobs))


def test_reading_only_some_results_is_fine():
    results = in_order(square, ((i,) for i in range(10**6)), 2)
    assert [next(results) for _ in range(5)] == [0, 1, 4, 9, 16]
    results.close()


def test_a_worker_that_dies_is_a_clear_error():
    with joblib.parallel_config(backend="loky"), pytest.raises(SolverError, match="try fewer jobs"):
        list(in_order(os._exit, [(1,), (2,)], 2))


def test_a_budget_travels_with_the_time_that_is_left():
    budget = Budget(100.0)
    part = pickle.loads(pickle.dumps(budget.until(50.0)))
    assert 40 < part.remaining <= 50
    assert pickle.loads(pickle.dumps(budget)).remaining <= 100


def test_a_part_of_a_budget_ends_with_the_whole_but_not_the_other_way_round():
    budget = Budget(100.0)
    part = budget.until(1e-9)
    assert part.stop_reason == "time"
    assert budget.stop_reason is None
    other = budget.until(50.0)
    budget.stop("interrupted")
    assert other.stop_reason == "interrupted"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_as_they_are_finished(n_jobs):
    assert sorted(as_finished(square, [(i,) for i in range(20)], n_jobs)) == [i * i for i in range(20)]


@pytest.mark.slow
def test_what_a_dask_cluster_does_is_the_same():
    distributed = pytest.importorskip("distributed")
    here = StepEnsembleClassifier(3, hidden=(4,), random_state=0).fit(X, Y)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        there = StepEnsembleClassifier(3, hidden=(4,), random_state=0, n_jobs=-1).fit(X, Y)
        squares = sorted(as_finished(math.sqrt, [(i,) for i in range(5)], None, prefer="processes"))
    assert squares == [math.sqrt(i) for i in range(5)]
    assert there.network_ == here.network_
    assert np.array_equal(there.predict(X), here.predict(X))
