"""Kernels are compiled by a process of their own: nobody waits for them beyond a limit, and none is compiled twice."""

import importlib
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from numba import config
from numba.core import caching

from conftest import make_problem, solve
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.provers.sat import Sat
from stepnet.runtime import compiling, interpreter
from stepnet.runtime.compiling import Compiling, kernel
from stepnet.runtime.limits import Budget
from stepnet.runtime.locks import is_held

# A module with one kernel, which writes a line whenever it is about to be compiled, and may take its time.
KERNELS = """
import os, time
from stepnet.runtime.compiling import Compiling, kernel


@kernel()
def double(x):
    return 2 * x

def work():
    if not double.signatures:
        time.sleep(float(os.environ.get("SLOWLY", 0)))
    double(1)

GROUP = Compiling("{name}", work, __name__, double)
"""


@pytest.fixture(name="gate")
def _gate():
    """Opened at the end, so that no thread is left waiting."""
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture(autouse=True)
def _same_groups(monkeypatch):
    monkeypatch.setattr(compiling, "_GROUPS", dict(compiling._GROUPS))


@pytest.fixture(name="toy")
def _toy(tmp_path, monkeypatch):
    """A fresh module with a group of one kernel, and an empty cache."""
    name = f"toy_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(KERNELS.format(name=name))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    yield importlib.import_module(name)
    del sys.modules[name]


@pytest.fixture(name="starts")
def _starts(monkeypatch):
    """The processes that are started to compile."""
    started = []

    class Counted(subprocess.Popen):
        def __init__(self, command, **options):
            super().__init__(command, **options)
            if compiling._CODE in command:
                started.append(self)

    monkeypatch.setattr(compiling.subprocess, "Popen", Counted)
    return started


def in_another(toy, code, **environment):
    """A process that has the toy and its cache."""
    settings = interpreter.environment() | environment
    command = [sys.executable, "-c", f"import {toy.__name__} as toy\n{textwrap.dedent(code)}"]
    return subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, text=True)


def until(condition):
    """Wait for what must come; the limit of the test is the limit."""
    while not condition():
        time.sleep(0.01)


def data_files(toy):
    return sorted(toy.GROUP.folder.glob("*.nbc"))


def test_a_process_compiles_and_this_one_loads(toy, starts):
    assert not toy.GROUP.is_cached()
    assert toy.GROUP.is_done(100)
    assert [process.returncode for process in starts] == [0]
    assert len(data_files(toy)) == 1
    assert sum(toy.double.stats.cache_hits.values()) == 1


def test_no_process_is_started_for_kernels_in_the_cache(toy, starts):
    toy.GROUP.compile()
    again = importlib.reload(toy)
    assert again.GROUP.is_compiled
    assert starts == []
    assert again.double.stats.cache_misses == {}


@pytest.mark.slow
def test_a_compilation_ends_in_the_cache_though_its_fit_has_ended(toy):
    assert in_another(toy, "toy.GROUP.begin(); toy.GROUP.is_done(0.0)", SLOWLY="1").wait() == 0
    until(lambda: data_files(toy) and not is_held(toy.GROUP._lock_file))
    assert toy.GROUP.is_cached()


@pytest.mark.slow
def test_who_comes_second_waits_for_the_first_and_starts_nothing(toy, starts):
    first = in_another(toy, "toy.GROUP.compile()", SLOWLY="2")
    until(lambda: is_held(toy.GROUP._lock_file))
    assert not toy.GROUP.is_done(0.0)
    assert toy.GROUP.is_done(100)
    assert first.wait() == 0
    assert starts == []
    assert len(data_files(toy)) == 1


def test_a_holder_that_is_killed_blocks_nobody(toy):
    first = in_another(toy, "toy.GROUP.compile()", SLOWLY="100")
    until(lambda: is_held(toy.GROUP._lock_file))
    first.kill()
    first.wait()
    assert toy.GROUP.is_done(100)
    assert len(data_files(toy)) == 1


@pytest.mark.parametrize("trouble", ["no process", "a process that fails", "a frozen application"])
def test_a_thread_compiles_where_no_process_can(toy, monkeypatch, trouble):
    def refused(*arguments, **options):
        raise PermissionError("not in this sandbox")

    if trouble == "no process":
        monkeypatch.setattr(compiling.subprocess, "Popen", refused)
    elif trouble == "a process that fails":
        monkeypatch.setattr(compiling, "_CODE", "raise SystemExit(1)")
    else:
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert toy.GROUP.is_done(100)
    assert toy.double.signatures
    assert len(data_files(toy)) == 1


def test_kernels_work_where_nothing_can_be_cached(monkeypatch, starts):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])

    @kernel(nogil=True)
    def double(x):
        return 2 * x

    group = Compiling("nowhere", lambda: double(1), __name__, double)
    assert group.folder is None
    assert group.is_done(100)
    assert starts == []
    assert double(2) == 4


def test_nothing_is_compiled_where_numba_is_told_not_to(toy):
    code = "print(toy.GROUP.is_done(100), toy.GROUP.is_compiled, toy.double(2), toy.GROUP.folder)"
    process = in_another(toy, code, NUMBA_DISABLE_JIT="1")
    assert process.communicate()[0] == "True False 4 None\n"


def test_work_begins_when_it_is_asked_for():
    calls = []
    kernels = Compiling("calls", lambda: calls.append(1))
    assert not calls
    assert kernels.is_done(60)
    assert kernels.is_done(60)
    assert calls == [1]


def compiling_until(gate):
    """Kernels that are not in the cache, and ready when the gate is open."""

    def work():
        if threading.current_thread() is threading.main_thread() or gate.is_set():
            return
        compiling._HERE.add("gate")
        gate.wait()
        compiling._HERE.discard("gate")

    return Compiling("gate", work)


def begun(callback):
    """A fit that has a network to report, and tells a callback from now on."""
    run = Run(make_problem([[0.0], [1.0], [2.0]], [0, 1, 0], (1,)), Budget(60.0))
    begin(run, None, separate=False)
    run.stage, run.journal.callbacks = "search", (callback,)
    return run


def test_who_waits_is_told_and_goes_on_where_it_was(gate):
    stages = []

    def seen(progress):
        stages.append(progress.stage)
        gate.set()

    run = begun(seen)
    assert run.compiles(compiling_until(gate))
    assert stages == ["compiling, once per installation"]
    assert run.stage == "search"


def test_a_limit_is_kept_where_kernels_take_longer(gate, monkeypatch):
    monkeypatch.setattr(Sat, "kernels", compiling_until(gate))
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(40, 6)), rng.integers(0, 2, 40), (2,))
    certificate, result = solve(problem, Exact(formulation="sat", search_share=0), time_limit=1.0)
    assert (certificate.status, certificate.stop_reason) == ("FEASIBLE", "time")
    assert problem.evaluate(result.network) == certificate.loss


def test_a_search_goes_on_while_a_prover_waits(gate, monkeypatch):
    monkeypatch.setattr(Sat, "kernels", compiling_until(gate))
    problem = make_problem([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0], (2,))
    certificate, _ = solve(problem, Exact(formulation="sat", search_share=0))
    assert (certificate.loss, certificate.found_by) == (0, "local search")


def test_who_stops_the_fit_stops_the_waiting(gate):
    assert not begun(lambda progress: True).compiles(compiling_until(gate))


FORKED = """
import os, threading
from stepnet.runtime import compiling, interpreter

def for_ever():
    if threading.current_thread() is not threading.main_thread():
        compiling._HERE.add("forked")
        threading.Event().wait()

group = compiling.Compiling("forked", for_ever)
assert not group.is_done(0.0)
child = os.fork()
if child == 0:
    group._work = lambda: None
    os._exit(0 if group.is_done(60) else 1)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_begins_anew():
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=100)
