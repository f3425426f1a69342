"""A second process works on some ways of a plan, and both tell each other what they find."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from conftest import make_problem
from stepnet.methods import partner
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.partner import close_in_two, shared_out
from stepnet.methods.plan import Plan, Way, ways_of
from stepnet.methods.run import Run
from stepnet.provers.registry import PROVERS
from stepnet.provers.sat import Sat
from stepnet.runtime import interpreter
from stepnet.runtime.limits import Budget

RNG = np.random.default_rng(3)
NOISY = make_problem(RNG.normal(size=(70, 3)), RNG.integers(0, 2, 70), (1,))  # for clauses alone a matter of hours


def way(name):
    return Way("a test", prover=PROVERS[name])


class GivesUp(Sat):
    def work(self, host, offer):
        pass


def run_of(*names, problem=NOISY, seconds=60.0, n_jobs=2):
    """A run that has begun, with these provers as its plan."""
    run = Run(problem, Budget(seconds), n_jobs=n_jobs, plan=Plan("a test", ways=tuple(map(way, names))))
    begin(run, None)
    return run


def names(ways):
    return [way.name for way in ways]


@pytest.fixture(name="processes")
def _processes(monkeypatch):
    """Partners begin at once; those that were started."""
    found = []

    def start(*arguments, **options):
        found.append(interpreter.started(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(partner, "started", start)
    monkeypatch.setattr(partner, "_PATIENCE", -1.0)
    return found


def test_ways_are_shared_out_so_that_each_is_tried_once_and_the_last_has_all_the_time():
    ways = [Way("a test", prover=PROVERS[name], share=0.5) for name in ("cells", "cones", "one_neuron", "sat")]
    mine, theirs = shared_out(ways)
    assert (names(mine), names(theirs)) == (["cells", "one_neuron"], ["cones", "sat"])
    assert [way.share for way in mine] == [way.share for way in theirs] == [0.5, 1.0]


def test_the_problem_without_its_restrictions_is_the_partners():
    problem = make_problem(RNG.integers(0, 5, (70, 3)), NOISY.dataset.y, (1,), weights="ternary")
    mine, theirs = shared_out(ways_of("auto", problem, "auto", problem.free)[0])
    assert not any(way.is_free for way in mine)
    assert all(way.is_free for way in theirs)
    assert len(set(names(theirs))) == len(theirs) > 0


def test_a_proof_of_the_partner_ends_the_run(processes):
    run = run_of("sat", "cells")
    close_in_two(run, Exact()._close_here)
    assert run.is_proven
    assert run.budget.stop_reason is None
    assert any("cells" in line and "second process" in line for line in run.journal.reached)
    assert [process.poll() is not None for process in processes] == [True]


def test_both_prove_the_same_as_one(processes):
    alone, together = run_of("cells", n_jobs=1), run_of("cones", "one_neuron")
    for run in (alone, together):
        close_in_two(run, Exact()._close_here)
    assert together.is_proven
    assert alone.loss == together.loss == NOISY.price(together.network)
    assert len(processes) == 1


def test_what_is_done_in_a_moment_needs_no_process():
    run = run_of("cells", "sat")
    close_in_two(run, Exact()._close_here)
    assert run.is_proven
    assert not any("second process" in line for line in run.journal.ways)


@pytest.mark.parametrize("trouble", ["none can be started", "it dies"])
def test_without_a_partner_its_ways_are_tried_here(monkeypatch, trouble):
    code = None if trouble == "none can be started" else "raise SystemExit(1)"
    monkeypatch.setattr(partner, "_PATIENCE", -1.0)
    monkeypatch.setattr(
        partner, "started", lambda _, **options: None if code is None else interpreter.started(code, **options)
    )
    run = run_of("sat", "cells", seconds=3_000.0)
    run.plan = replace(run.plan, ways=(Way("a test", prover=GivesUp()), way("cells")))
    plan = run.plan
    close_in_two(run, Exact()._close_here)
    assert run.is_proven
    assert run.plan is plan


@pytest.mark.skipif(os.name == "nt", reason="signals of terminals")
def test_an_interrupt_ends_both(processes):
    rows, classes = RNG.normal(size=(150, 12)), RNG.integers(0, 2, 150)
    run = run_of("sat", "one_neuron", problem=make_problem(rows, classes, (1,)))

    def interrupt():
        while not processes:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with run.budget.catching_interrupts("keep"):
        close_in_two(run, Exact()._close_here)
    assert run.result().stop_reason == "interrupted"
    assert processes[0].poll() is not None
