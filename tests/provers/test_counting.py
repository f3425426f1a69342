"""Counting: optima of brute force, bounds that climb, and a solver that ends when it should."""

import signal

import numpy as np
import pytest

import brute_force
from conftest import make_problem, solve
from stepnet import Recall, StepClassifier
from stepnet.errors import MissingExtraError, SolverFailure
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.provers import counting_solver
from stepnet.provers.counting import Counting
from stepnet.provers.counting_solver import CountingSolver
from stepnet.runtime.limits import Budget

needs_solver = pytest.mark.skipif(not Counting().is_available(), reason="'stepnet[pb]' is not installed")
ALONE = Exact(formulation="counting", free_bounds=False, search_share=0)


def never():
    return False


def names_of(plan):
    return {*(way.name for way in plan.ways), *(name for name, _ in plan.refused)}


def with_pigeons(solver, n):
    """More pigeons than holes, which is long by search, if every sum is to be found by itself."""
    place = {(i, j): 1 + i * n + j for i in range(n + 1) for j in range(n)}
    for i in range(n + 1):
        solver.add([(1, place[i, j]) for j in range(n)], 1)
    for j in range(n):
        solver.add([(1, -place[i, j]) for i in range(n + 1)], n)


@needs_solver
@pytest.mark.parametrize("hidden", [(1,), (), (2,), (3,)])
@pytest.mark.parametrize("seed", range(4))
def test_it_proves_the_optimum_of_brute_force(seed, hidden):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 3)), int(rng.integers(5, 9))
    X = rng.normal(size=(m, n)) if seed % 2 else rng.integers(-1, 2, (m, n)).astype(float)
    weights = [None, rng.integers(1, 4, m).astype(float), rng.random(m)][seed % 3]
    problem = make_problem(X, rng.permutation(np.arange(m) % 2), hidden, sample_weight=weights)
    certificate, _ = solve(problem, ALONE, time_limit=30)
    data = problem.dataset
    best = brute_force.best_loss(data.X, data.y, hidden or (1,), "neuron", data.weights)
    assert (certificate.status, str(certificate.scope)) == ("OPTIMAL", "all networks")
    assert certificate.loss == pytest.approx(best)


@needs_solver
def test_limits_on_errors_are_kept_and_proven():
    X, y = np.arange(7.0)[:, None], [1, 0, 0, 1, 0, 0, 1]
    free = StepClassifier(hidden=(1,)).problem(X, y)
    limited = StepClassifier(hidden=(1,), constraints=[Recall(at_least=1.0)]).problem(X, y)
    assert solve(free, ALONE)[0].bound == 2.0
    certificate, _ = solve(limited, ALONE)
    assert (certificate.loss, certificate.bound) == (4.0, 4.0)


@needs_solver
def test_the_time_limit_leaves_a_bound_that_holds():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(150, 8)), rng.integers(0, 2, 150), (1,))
    run = Run(problem, Budget(2.0))
    begin(run, None, separate=False)
    Counting().work(run, run.offer)
    before = run.bound.value
    assert 0 < before <= run.loss
    climb = run.kept["counting"]
    assert not climb.is_stuck
    run.budget = Budget(1.0)
    Counting().work(run, run.offer)  # where it was
    assert run.kept["counting"] is climb
    assert not climb.is_stuck
    assert before <= run.bound.value <= run.loss
    solver = climb.gates[0]._solver
    assert solver.close.alive
    Counting().release(run)
    assert not solver.close.alive
    assert not run.kept


@needs_solver
def test_the_solver_adds_and_divides_and_can_be_asked_again():
    solver = CountingSolver()
    with_pigeons(solver, 12)
    assert solver.answer(never) is False
    solver.close()
    solver = CountingSolver()
    solver.add([(3, 1), (2, -2)], 3)
    assert solver.answer(never)
    assert 3 * solver.values[0] + 2 * (1 - solver.values[1]) >= 3
    solver.add([(1, 2), (1, -3)], 1)
    assert solver.answer(never, assumed=3)
    assert solver.values[1:] == [1, 1]
    solver.close()


@needs_solver
def test_a_question_is_left_when_the_time_is_up_and_the_next_one_is_answered():
    solver = CountingSolver()
    solver.add([(1, 1), (1, 2)], 2)
    assert solver.answer(lambda: True) is None
    looks = []
    assert solver.answer(lambda: bool(looks) or looks.append(True)) in (None, True)
    solver.add([(1, -1), (1, -2)], 1)
    assert solver.answer(never) is False
    solver.close()


@needs_solver
def test_signals_stay_with_python():
    before = signal.getsignal(signal.SIGINT)
    solver = CountingSolver()
    solver.add_clause([1])
    assert solver.answer(never)
    solver.close()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_solver_that_breaks_down_is_an_error_of_the_solver(monkeypatch, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import sys\nsys.stdin.readline()\n")
    monkeypatch.setattr(counting_solver.counting_worker, "__file__", str(broken))
    solver = CountingSolver()
    solver.add_clause([1])
    with pytest.raises(SolverFailure, match="formulation='sat'"):
        solver.answer(never)
    solver.close()


def test_without_the_extra_it_says_how_to_get_it_and_takes_no_part(monkeypatch):
    problem = make_problem(np.eye(9), [0, 1] * 4 + [0], (1,))
    monkeypatch.setattr(Counting, "package", "no_such_package")
    with pytest.raises(MissingExtraError, match=r"stepnet\[pb\]"):
        ALONE.plan(problem)
    assert "counting" not in names_of(Exact().plan(problem))


def test_it_takes_part_for_one_neuron_of_many_features(monkeypatch):
    monkeypatch.setattr(Counting, "package", "json")  # which is installed
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 9)), rng.integers(0, 2, 30)
    ways = {way.name: way for way in Exact().plan(make_problem(X, y, (1,))).ways}
    assert ways["counting"].takes_turns
    assert ways["one_neuron"].takes_turns
    assert "counting" not in names_of(Exact().plan(make_problem(X, y, (2,))))
    assert "counting" not in names_of(Exact().plan(make_problem(X[:, :4], y, (1,))))
