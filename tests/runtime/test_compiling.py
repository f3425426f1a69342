"""Kernels compile in a thread of their own: nobody waits for them beyond a limit."""

import threading

import numpy as np
import pytest

from conftest import make_problem, solve
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.provers.sat import Sat
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.limits import Budget


@pytest.fixture(name="gate")
def _gate():
    """Opened at the end, so that no thread is left waiting."""
    gate = threading.Event()
    yield gate
    gate.set()


def test_work_begins_when_it_is_asked_for_and_once():
    calls = []
    kernels = Compiling(lambda: calls.append(1))
    assert not calls
    assert kernels.is_done(60)
    assert kernels.is_done(60)
    assert calls == [1]


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
    assert run.compiles(Compiling(gate.wait))
    assert stages == ["compiling, once per installation"]
    assert run.stage == "search"


def test_a_limit_is_kept_where_kernels_take_longer(gate, monkeypatch):
    monkeypatch.setattr(Sat, "kernels", Compiling(gate.wait))
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(40, 6)), rng.integers(0, 2, 40), (2,))
    certificate, result = solve(problem, Exact(formulation="sat", search_share=0), time_limit=1.0)
    assert (certificate.status, certificate.stop_reason) == ("FEASIBLE", "time")
    assert problem.evaluate(result.network) == certificate.loss


def test_who_stops_the_fit_stops_the_waiting(gate):
    assert not begun(lambda progress: True).compiles(Compiling(gate.wait))
