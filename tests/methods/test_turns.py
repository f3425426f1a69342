"""Provers take turns: who resumes is asked how long it takes, the others try for a part of that."""

import math

import numpy as np
import pytest

from conftest import make_problem
from stepnet import Prove
from stepnet.bounds.bound import Bound
from stepnet.errors import YES
from stepnet.methods.begin import begin
from stepnet.methods.plan import Way, ways_of
from stepnet.methods.run import Run
from stepnet.methods.turns import take_turns
from stepnet.provers.base import Prover
from stepnet.runtime import limits
from stepnet.runtime.limits import Budget

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)), RNG.integers(0, 2, 30)


class Clock:
    """Time passes only when somebody works."""

    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture(name="clock")
def stopped_clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


class Fake(Prover):
    """Needs some seconds; works until its turn ends."""

    kernels = None

    def __init__(self, name, needs=math.inf, cost=math.inf, gives_up=False):
        self.name, self.resumes, self.needs, self.cost, self.gives_up = name, name == "resuming", needs, cost, gives_up
        self.spent, self.turns = 0.0, []

    def accepts(self, problem):
        return YES

    def reason(self, problem):
        return "a test"

    def seconds(self, problem):
        return self.cost

    def seconds_left(self, host):
        return self.needs - self.spent if self.resumes else None

    def work(self, host, offer):
        turn = 0.0 if self.gives_up else min(host.budget.remaining, self.needs - self.spent * self.resumes)
        limits.time.now += turn
        self.spent += turn
        self.turns.append(turn)
        if (self.spent if self.resumes else turn) >= self.needs:
            host.raise_bound(Bound(host.loss))


def worked(*provers):
    """The run, the turns in their order and their lengths."""
    run, order = Run(make_problem(X, Y, (1,)), Budget(started=0.0)), []
    begin(run, None, bounds=False)

    def prove(run, prover):
        prover.work(run, run.offer)
        order.append((prover.name, prover.turns[-1]))

    take_turns(run, [Way("a test", prover=prover, takes_turns=True) for prover in provers], prove)
    return run, order


@pytest.mark.parametrize("needs", [0.5, 3.0, 50.0])
def test_the_one_that_resumes_ends_after_its_own_time_and_little_more(clock, needs):
    run, order = worked(Fake("resuming", needs), Fake("cover"))
    assert run.is_proven
    assert sum(turn for name, turn in order if name == "resuming") == pytest.approx(needs)
    assert clock.now <= 2.5 * needs + 1.0


def test_one_that_begins_again_gets_a_quarter_of_what_the_other_still_needs(clock):
    run, order = worked(Fake("resuming", 4001.0), Fake("cover", 900.0))
    assert order[:2] == [("resuming", 1.0), ("cover", 900.0)]
    assert run.is_proven


def test_one_whose_cost_is_known_waits_until_a_quarter_of_it_is_spent(clock):
    _, order = worked(Fake("resuming"), Fake("enumeration", 20.0, cost=20.0))
    assert [name for name, _ in order] == ["resuming", "resuming", "enumeration"]


def test_who_gives_up_gets_no_further_turn(clock):
    _, order = worked(Fake("resuming", 30.0), Fake("cover", gives_up=True))
    assert [name for name, _ in order].count("cover") == 1


def test_what_each_turn_reached_is_recorded(clock):
    run, order = worked(Fake("resuming", 3.0), Fake("cover"))
    assert [entry.split(":")[0] for entry in run.result().reached] == [name for name, _ in order]
    assert "bound" in run.result().reached[-1]


def test_a_single_neuron_of_few_dimensions_is_planned_in_turns():
    wide, labels = RNG.normal(size=(150, 5)), RNG.integers(0, 2, 150)
    ways, _ = ways_of("auto", make_problem(wide, labels, (1,)))
    names = [way.name for way in ways if way.takes_turns]
    assert names[0] == "branches"
    assert "one_neuron" in names
    assert not any(way.takes_turns for way in Prove().plan(make_problem(wide, labels, (2,))).ways)


def test_two_neurons_of_few_dimensions_are_planned_in_turns_with_clauses():
    points, labels = RNG.normal(size=(150, 3)), RNG.integers(0, 2, 150)
    names = [way.name for way in ways_of("auto", make_problem(points, labels, (2,)))[0] if way.takes_turns]
    assert names[0] == "cones"
    assert "sat" in names
