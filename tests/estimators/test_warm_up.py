"""The first fits after an installation, and how to have everything compiled before them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from stepnet import StepClassifier, StepRegressor, warm_up
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.locks import is_held

FIT = """
import json, sys
import numpy as np
from stepnet import StepClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 7))
y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=150) > 0).astype(int)
model = StepClassifier(hidden=(3,), method=sys.argv[1], time_limit=2, random_state=0).fit(X, y)
print(json.dumps([model.certificate_.loss, model.certificate_.found_by, int((model.predict(X) != y).sum())]))
"""


def processed(code, *arguments, **environment):
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=True).stdout


@pytest.fixture(name="no_kernels")
def _no_kernels(monkeypatch):
    monkeypatch.setattr(Compiling, "is_compiled", False)


def test_a_second_warm_up_finds_everything_in_the_cache():
    groups = warm_up()
    told = []
    assert warm_up(told.append) == tuple(told)
    assert {group.name for group in groups} == {group.name for group in told}
    assert {group.seconds for group in told} == {0.0}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["learn", "prove"])
def test_a_fit_on_warm_kernels_starts_no_process(method):
    code = f"""
import os, subprocess
def told(*arguments, **options):
    os._exit(3)
subprocess.Popen = told
{FIT}"""
    assert json.loads(processed(code, method))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["learn", "search", "prove"])
def test_without_kernels_a_fit_does_what_it_does_with_them(method, no_kernels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (np.abs(X[:, 0]) < 0.6).astype(int)
    model = StepClassifier(hidden=(3,), method=method, time_limit=20, random_state=0).fit(X, y)
    assert model.certificate_.loss == (model.predict(X) != y).sum()
    assert model.score(X, y) > 0.9
    if method != "learn":
        assert model.certificate_.loss == 0


def test_without_kernels_numbers_are_learned(no_kernels):
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert (
        StepRegressor(hidden=(5,), method="learn", random_state=0).fit(X, np.sign(X[:, 0])).score(X, np.sign(X[:, 0]))
        > 0.6
    )


@pytest.mark.slow
def test_numba_may_be_told_not_to_compile():
    loss, _, errors = json.loads(processed(FIT, "learn", NUMBA_DISABLE_JIT="1"))
    assert loss == errors


@pytest.mark.slow  # the kernels are compiled anew
def test_a_fit_works_where_nothing_can_be_cached():
    nowhere = "from numba.core.caching import CacheImpl\nCacheImpl._locator_classes = []\n"
    for method in ("learn", "search"):
        loss, _, errors = json.loads(processed(nowhere + FIT, method))
        assert loss == errors


@pytest.mark.slow
@pytest.mark.timeout(600)  # all kernels of a method are compiled, perhaps on a busy machine
@pytest.mark.parametrize("method", ["learn", "search"])
def test_a_first_fit_within_a_short_limit_leaves_kernels_for_the_next_process(method, tmp_path):
    loss, found_by, errors = json.loads(processed(FIT, method, NUMBA_CACHE_DIR=str(tmp_path)))
    assert loss == errors
    assert found_by == {"learn": "learning", "search": "local search"}[method]
    while not list(Path(tmp_path).rglob("*.nbc")) or any(map(is_held, Path(tmp_path).rglob("*.lock"))):
        time.sleep(0.1)
    before = sorted(Path(tmp_path).rglob("*.nbc"))
    assert json.loads(processed(FIT, method, NUMBA_CACHE_DIR=str(tmp_path)))
    assert sorted(Path(tmp_path).rglob("*.nbc")) == before
