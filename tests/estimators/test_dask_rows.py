"""Rows of Dask: the same numbers as without it, whoever computes them, and collections of Dask as answers."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from stepnet import Learn, Rows, StepClassifier, StepRegressor
from stepnet.errors import InvalidInputError
from stepnet.estimators import dask_rows

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

QUICK = {"hidden": (4,), "method": Learn(epochs=1), "random_state": 0}


def made(n_rows=5_000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3)).round(1)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    y[rng.random(n_rows) < 0.1] = 0
    return X, y, rng.integers(0, 3, n_rows) / 2


def collections(X, y, weights, size):
    return [da.from_array(one, chunks=(size, *one.shape[1:])) for one in (X, y, weights)]


def test_dask_and_blocks_give_the_same_network_certificate_and_answers():
    X, y, weights = made()
    alone = StepClassifier(**QUICK).fit(Rows.from_blocks(lambda i: (X, y, weights), 1))
    DX, Dy, Dw = collections(X, y, weights, 777)
    cluster = StepClassifier(**QUICK).fit(DX, Dy, Dw)
    assert cluster.network_ == alone.network_
    for name in ("loss", "bound", "gap", "status", "fingerprint", "n_rows", "total_weight"):
        assert getattr(cluster.certificate_, name) == getattr(alone.certificate_, name)
    assert alone.certificate_.bound > 0
    assert cluster.verify(*collections(X, y, weights, 1_024))
    for method in ("predict", "decision_function", "predict_proba"):
        answers = getattr(cluster, method)(DX)
        assert isinstance(answers, da.Array)
        assert np.array_equal(answers.compute(), getattr(alone, method)(X))


def test_data_frames_keep_names_and_index():
    X, y, _ = made(600)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"], index=np.arange(600) * 2).assign(y=y)
    table = dd.from_pandas(frame, npartitions=4)
    clf = StepClassifier(**QUICK).fit(table[["a", "b", "c"]], table["y"])
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]
    answers = clf.predict(table).compute()  # other columns do not matter
    assert answers.index.equals(frame.index)
    assert np.array_equal(answers, clf.predict(frame[["a", "b", "c"]]))
    assert clf.predict_proba(table).compute().shape == (600, 2)


def test_statistics_are_the_same_in_whatever_partitions():
    X, y, weights = made()
    found = []
    for size in (5_000, 1_024, 1_000, 100):
        rows = dask_rows.DaskRows.of(*collections(X, y, weights, size), is_number=False)
        found.append(dask_rows.survey_of(rows, 0, 1_000)[0].moments())
    for one in found[1:]:
        assert np.array_equal(one.mean, found[0].mean)
        assert np.array_equal(one.squares, found[0].squares)


def test_many_rows_are_learned_in_several_places(monkeypatch):
    monkeypatch.setattr(dask_rows, "_TOGETHER", 1_000)
    monkeypatch.setattr(dask_rows, "_ROUNDS", 4)
    X, y, weights = made()
    parts = collections(X, y, weights, 500)
    one, two = StepClassifier(**QUICK).fit(*parts), StepClassifier(**QUICK).fit(*parts)
    assert one.network_ == two.network_
    assert one.verify(*parts)
    assert one.score(X, y, weights) > 0.7
    numbers = da.from_array(X[:, 0] * 1000.0, chunks=500)
    regressor = StepRegressor(**QUICK).fit(parts[0], numbers)
    assert regressor.score(X, X[:, 0] * 1000.0) > 0.5


def test_collections_that_do_not_fit_together_are_an_error():
    X, y, _ = made(600)
    DX = da.from_array(X, chunks=(100, 3))
    with pytest.raises(InvalidInputError, match="with the same partitions; they have 6 and 2"):
        StepClassifier(**QUICK).fit(DX, da.from_array(y, chunks=300))
    with pytest.raises(InvalidInputError, match="must all be Dask collections"):
        StepClassifier(**QUICK).fit(DX, y)


def test_partial_fit_works_inside_incremental():
    wrappers = pytest.importorskip("dask_ml.wrappers")
    X, y, _ = made(2_000)
    online = wrappers.Incremental(StepClassifier(hidden=(4,), random_state=0), assume_equal_chunks=True)
    online.fit(da.from_array(X, chunks=(500, 3)), da.from_array(y, chunks=500), classes=[0, 1])
    assert online.estimator_.score(X, y) > 0.6


@pytest.mark.slow
def test_the_number_of_workers_and_a_lost_one_do_not_change_the_network(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(dask_rows, "_TOGETHER", 1_000)
    monkeypatch.setattr(dask_rows, "_ROUNDS", 4)
    X, y, weights = made()
    networks = []
    for n_workers, is_killed in ((1, False), (2, True)):
        with (
            distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            victim = next(iter(client.run(os.getpid).values()))
            stages = []

            def watch(progress, victim=victim, is_killed=is_killed, stages=stages):
                stages.append(progress.stage)
                if is_killed and progress.stage == "learning" and stages.count("learning") == 1:
                    threading.Thread(target=_kill, args=(victim,)).start()

            clf = StepClassifier(**QUICK).fit(*collections(X, y, weights, 500), on_incumbent=watch)
            networks.append(clf.network_)
            if is_killed:
                assert "learning" in stages
    assert networks[0] == networks[1]


def _kill(victim):
    time.sleep(0.05)
    os.kill(victim, signal.SIGKILL)
