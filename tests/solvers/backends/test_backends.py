"""What every solver owes: optima, bounds, starts, limits, interrupts, and clear errors."""

import time

import numpy as np
import pytest

from conftest import XOR, make_problem, random_network
from stepnet.errors import InvalidInputError, MissingExtraError, NotAcceptedError, SolverError
from stepnet.formulations.registry import FORMULATIONS
from stepnet.solvers.backends.base import Task
from stepnet.solvers.backends.registry import BACKENDS, backend_for, named_backend
from stepnet.solvers.model import ModelBuilder

AVAILABLE = [name for name, backend in BACKENDS.items() if backend.is_available()]


def knapsack(n=6):
    """An integer program that all solvers take; its optimum is -15."""
    builder = ModelBuilder()
    x = builder.add_columns("x", n, 0, 1, cost=-np.arange(1.0, n + 1), integer=True)
    builder.add_rows([(x[None, :], 1.0)], upper=3.0)
    return builder.build()


def hard_model():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 10, (60, 6)), rng.integers(0, 2, 60)
    return FORMULATIONS["tight"].encode(make_problem(X, y, (6,), weights="ternary"))[0].model


@pytest.fixture(params=AVAILABLE)
def backend(request):
    return BACKENDS[request.param]


def test_optimum_bound_and_progress(backend):
    found = []
    outcome = backend.solve(Task(knapsack(), on_solution=lambda point, objective: found.append(objective)))
    assert outcome.status == "optimal"
    assert outcome.objective == pytest.approx(-15)
    assert outcome.bound == pytest.approx(-15, abs=1e-6)
    assert outcome.point.round().tolist() == [0, 0, 0, 1, 1, 1]
    assert min(found, default=-15) == pytest.approx(-15)


def test_infeasible_programs_are_called_so(backend):
    outcome = backend.solve(Task(knapsack().with_objective_at_most(-16)))
    assert outcome.status == "infeasible"
    assert outcome.point is None


def test_a_start_is_taken(backend):
    """Without any time to search, the start is the solution."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 10, (12, 3)), rng.integers(0, 2, 12)
    problem = make_problem(X, y, (2,), weights="ternary")
    (encoding,) = FORMULATIONS["tight"].encode(problem)
    network = min((random_network(rng, 3, (2,), integer=True) for _ in range(200)), key=problem.evaluate)
    outcome = backend.solve(Task(encoding.model, start=encoding.start(network), time_limit=2.0))
    assert outcome.objective <= problem.evaluate(network)


@pytest.mark.slow
def test_the_time_limit_is_kept(backend):
    model = hard_model()
    if backend.name == "gurobi" and max(model.n_columns, model.n_rows) > 2000:
        pytest.skip("beyond the free licence")
    begin = time.perf_counter()
    outcome = backend.solve(Task(model, time_limit=1.0))
    assert time.perf_counter() - begin < 3.0
    assert outcome.status == "stopped"
    assert outcome.bound <= outcome.objective


def test_asked_to_stop_a_solver_stops(backend):
    model = hard_model()
    if backend.name == "gurobi" and max(model.n_columns, model.n_rows) > 2000:
        pytest.skip("beyond the free licence")
    begin = time.perf_counter()
    outcome = backend.solve(Task(model, time_limit=60.0, should_stop=lambda: time.perf_counter() - begin > 0.5))
    assert time.perf_counter() - begin < 5.0
    assert outcome.status == "stopped"


def test_an_error_in_a_callback_ends_the_solve_and_is_raised(backend):
    model = hard_model()
    if backend.name == "gurobi" and max(model.n_columns, model.n_rows) > 2000:
        pytest.skip("beyond the free licence")

    def fail():
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        backend.solve(Task(model, time_limit=60.0, should_stop=fail))


def test_the_offset_counts(backend):
    builder = ModelBuilder()
    x = builder.add_columns("x", 2, 0, 3, cost=[1.0, -2.0], integer=True)
    builder.add_rows([(x[None, :], 1.0)], lower=1.0)
    builder.offset = 10.0
    outcome = backend.solve(Task(builder.build()))
    assert outcome.objective == pytest.approx(4)
    assert outcome.bound == pytest.approx(4)


@pytest.mark.parametrize("value", [0, 1])
def test_rows_with_a_condition_hold_where_it_holds(backend, value):
    """x >= 3 only if the bit has the value; the other value costs less than 3, or more."""
    for cost, expected in ((2.0, 2.0), (5.0, 3.0)):
        builder = ModelBuilder()
        x = builder.add_columns("x", 1, 0, 4, cost=1.0, integer=True)
        bit = builder.add_columns("b", 1, 0, 1, cost=cost if value == 0 else 0.0, integer=True)
        paid = builder.add_columns("p", 1, 0, 1, cost=cost if value == 1 else 0.0, integer=True)
        builder.add_rows([(bit, 1.0), (paid, 1.0)], lower=1.0, upper=1.0)
        big_m = 3.0 if value == 0 else -3.0
        builder.add_rows([(x, 1.0), (bit, big_m)], lower=3.0 if value == 0 else 0.0, only_if=(bit, value))
        outcome = backend.solve(Task(builder.build()))
        assert outcome.objective == pytest.approx(expected)


@pytest.mark.parametrize("name", [n for n in ("scip", "gurobi") if n in AVAILABLE])
def test_products_of_variables_are_solved(name):
    builder = ModelBuilder()
    x = builder.add_columns("x", 2, -1, 1, cost=[0.0, 1.0])
    builder.add_rows([(x[:1], 0.0)], lower=0.5, products=[(x[:1], x[1:], 1.0)])
    outcome = BACKENDS[name].solve(Task(builder.build()))
    assert outcome.objective == pytest.approx(-1, abs=1e-6)


def test_solvers_refuse_what_they_cannot_do():
    bilinear = FORMULATIONS["bilinear"].encode(make_problem(XOR, [0, 1, 1, 0], (2,)))[0].model
    real = FORMULATIONS["tight"].encode(make_problem(XOR, [0, 1, 1, 0], (2,)))[0].model
    with pytest.raises(NotAcceptedError, match="solver='scip'"):
        backend_for("highs", bilinear)
    if "cpsat" in AVAILABLE:
        with pytest.raises(NotAcceptedError, match="integer"):
            backend_for("cpsat", real)


def test_auto_picks_by_the_kind_of_program():
    problem = make_problem(XOR, [0, 1, 1, 0], (2,))
    assert backend_for("auto", FORMULATIONS["tight"].encode(problem)[0].model).name == "highs"
    ternary = make_problem(XOR, [0, 1, 1, 0], (2,), weights="ternary")
    expected = "cpsat" if "cpsat" in AVAILABLE else "highs"
    assert backend_for("auto", FORMULATIONS["tight"].encode(ternary)[0].model).name == expected
    if "scip" in AVAILABLE:
        assert backend_for("auto", FORMULATIONS["bilinear"].encode(problem)[0].model).name == "scip"


def test_unknown_solvers_are_named():
    with pytest.raises(InvalidInputError, match="'auto', 'highs', 'scip', 'gurobi', 'cpsat'"):
        named_backend("cplex")


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in ("scip", "gurobi", "cpsat"):
        with pytest.raises(MissingExtraError, match=rf"pip install 'stepnet\[{name}\]'"):
            BACKENDS[name].solve(Task(knapsack()))


@pytest.mark.skipif("gurobi" not in AVAILABLE, reason="gurobipy is not installed")
def test_gurobi_s_size_limit_is_explained():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(400, 3)), rng.integers(0, 2, 400), (5,))
    with pytest.raises(SolverError, match=r"licence"):
        BACKENDS["gurobi"].solve(Task(FORMULATIONS["tight"].encode(problem)[0].model, time_limit=1))
