"""What goes wrong in the middle of a fit: a clear error or the best verified network, and no hang."""

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from joblib.externals.loky import reusable_executor

from stepnet import Learn, Search, StepClassifier, StepEnsembleClassifier
from stepnet.errors import SolverError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(200, 4)), RNG.integers(0, 2, 200)

SLOW_FIT = """
import numpy as np
from stepnet import Learn, Search, StepClassifier, StepEnsembleClassifier
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
print("started", flush=True)
model = {model}.set_params(on_interrupt="keep").fit(X, y)
print("loss", model.certificate_.loss == (model.predict(X) != y).sum(), model.certificate_.stop_reason)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_callback_is_raised_and_the_model_is_not_fitted(n_jobs):
    calls = []

    def complain(progress):
        calls.append(progress.loss)
        if progress.stage == "local search":
            raise RuntimeError("the callback's own error")

    classifier = StepClassifier((5,), method=Search(moves=500), n_jobs=n_jobs, random_state=0, time_limit=30)
    with pytest.raises(RuntimeError, match="the callback's own error"):
        classifier.fit(X, Y, on_incumbent=complain)
    assert calls
    assert not hasattr(classifier, "network_")
    assert classifier.fit(X, Y, on_incumbent=lambda progress: True).certificate_.stop_reason == "callback"


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        "StepClassifier((5,), method=Search(), n_jobs=2, random_state=0, time_limit=100)",
        "StepEnsembleClassifier(50, hidden=(300,), method=Learn(epochs=3000), n_jobs=2, time_limit=100)",
    ],
)
def test_ctrl_c_in_a_parallel_fit_gives_the_best_network(model):
    command = [sys.executable, "-c", SLOW_FIT.format(model=model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out == "loss True interrupted\n"


def test_workers_that_die_in_a_fit_are_a_clear_error():
    def kill_workers():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            processes = getattr(reusable_executor._executor, "_processes", None) or {}
            if processes:
                time.sleep(1)
                for pid in list(processes):
                    os.kill(pid, signal.SIGKILL)
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill_workers)
    ensemble = StepEnsembleClassifier(
        50, hidden=(300,), method=Learn(epochs=3000), n_jobs=2, random_state=0, time_limit=60
    )
    with joblib.parallel_config(backend="loky"):
        killer.start()
        with pytest.raises(SolverError, match="a worker process died"):
            ensemble.fit(X, Y)
    killer.join()
