"""Bounds of the problem without restrictions: they hold with them, and restrictions lose none of them."""

import pickle
from functools import cache

import numpy as np
import pytest

import brute_force
from conftest import make_problem, solve
from stepnet import Ball, Constraint, Integers, Lowers, Raises, StepClassifier, load, save, verify_proof
from stepnet.bounds.evidence import OfFreeProblem
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.free_run import FreeRun
from stepnet.methods.plan import Plan
from stepnet.methods.prove import Prove
from stepnet.methods.run import Run
from stepnet.provers.registry import PROVERS
from stepnet.runtime.limits import Budget

KINDS = {
    "integers": {"weights": Integers(2)},
    "binary": {"weights": "binary"},
    "sparse": {"sparsity": 1},
    "raises": {"constraints": [Raises(0)]},
    "lowers": {"constraints": [Lowers(1)]},
    "constraint": {"constraints": [Constraint({(1, 0, 0): 1.0}, upper=0.0)]},
    "fixed threshold": {"threshold": 0.0},
    "robust": {"uncertainty": Ball("linf", 0.25)},
}


def some(kinds, *quick):
    """All kinds, most of them for the slow tests."""
    return [kind if kind in quick else pytest.param(kind, marks=pytest.mark.slow) for kind in sorted(kinds)]


def table(seed, m=10, n=2):
    rng = np.random.default_rng(seed)
    return rng.permutation(49)[:m, None] // [7, 1][:n] % 7.0 - 3, rng.permutation(np.arange(m) % 2)


def restricted(kind, seed, hidden=()):
    X, y = table(seed)
    return StepClassifier(hidden=hidden, method="prove", **KINDS[kind]).problem(X, y)


@cache
def optimum(kind, seed):
    """By enumeration, for a single neuron."""
    problem = restricted(kind, seed)
    rows, y = problem.dataset.X, problem.dataset.y.astype(bool)
    scaled = rows / 3  # to [-1, 1]; of real neurons only, whose patterns do not depend on scale

    def best(patterns, most=np.inf):
        return min(float((np.array(pattern) != y).sum()) for pattern, used in patterns.items() if used <= most)

    if kind == "fixed threshold":
        return brute_force.best_loss(scaled, y, (), 0.0)
    if kind == "robust":
        return brute_force.best_robust_neuron(rows, y, problem.radii, problem.dataset.weights, "linf")
    signs = {"raises": ((0, 1), (-1, 1)), "lowers": ((-1, 1), (-1, 0)), "constraint": ((-1, 0), (-1, 1))}
    domain = {"integers": range(-2, 3), "binary": (0, 1)}.get(kind)
    if domain is not None:
        return best(brute_force.cheapest_patterns(rows, domain, (-2, 2)))
    return best(brute_force.cheapest_patterns(scaled, None, signs.get(kind, (-1, 1))), 1 if kind == "sparse" else 2)


@cache
def free_optimum(seed):
    """By enumeration, for a single neuron without restrictions."""
    X, y = table(seed)
    return brute_force.best_loss(X / 3, y, ())


@cache
def proven_free(hidden):
    """The same whatever the restrictions were."""
    return solve(restricted("binary", 3, hidden).free, Exact())[0]


@pytest.mark.parametrize("prover", [name for name, prover in PROVERS.items() if prover.is_available()])
@pytest.mark.parametrize("kind", KINDS)
def test_a_bound_of_the_free_problem_holds_and_is_passed_on(kind, prover):
    problem = restricted(kind, 0)
    run = Run(problem, Budget(60.0))
    begin(run, None, bounds=False, separate=False)
    free = FreeRun.of(run)
    free.resume(prover)
    PROVERS[prover].work(free, free.offer)
    assert run.bound.value == free_optimum(0)
    assert run.bound.value <= optimum(kind, 0)
    assert run.bound.scope.is_all
    assert problem.refuses(run.network) is None
    assert problem.evaluate(run.network) == run.loss


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", some(KINDS, "integers", "sparse", "robust"))
def test_the_whole_plan_has_the_optimum_of_enumeration(kind, seed):
    problem = restricted(kind, seed)
    certificate, _ = solve(problem, Exact())
    assert certificate.status == "OPTIMAL"
    assert certificate.loss == optimum(kind, seed)


@pytest.mark.parametrize("hidden", [(), pytest.param((2,), marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", some(set(KINDS) - {"constraint"}, "integers", "sparse", "fixed threshold"))
def test_no_bound_is_smaller_than_that_of_the_free_problem(kind, hidden):
    problem = restricted(kind, 3, hidden)
    free = proven_free(hidden)
    assert free.fingerprint == problem.free.dataset.fingerprint
    certificate, _ = solve(problem, Exact())
    assert free.status == "OPTIMAL"
    assert certificate.bound >= free.bound


def test_a_restriction_that_costs_nothing_keeps_the_scope_of_all_networks():
    X, y = table(0)
    free = StepClassifier(hidden=(), method="prove", random_state=0).fit(X, y)
    kind = Raises if free.network_.layers[0].weights[0, 0] >= 0 else Lowers
    void = StepClassifier(hidden=(), method="prove", constraints=[kind(0)], random_state=0).fit(X, y)
    assert void.certificate_.status == "OPTIMAL"
    assert void.certificate_.loss == free.certificate_.loss
    assert void.certificate_.scope.is_all
    assert str(void.certificate_.proof).endswith("which holds with fewer networks too")


def test_the_certificate_says_what_it_follows_from_and_comes_back_from_files(tmp_path):
    X, y = table(1)
    model = StepClassifier(hidden=(), method="prove", threshold=0.0, uncertainty=Ball("linf", 0.1), random_state=0)
    model.fit(X, y)
    run = Run(model.problem(X, y), Budget(60.0))
    begin(run, None, bounds=False, separate=False)
    free = FreeRun.of(run)
    free.resume("sat")
    PROVERS["sat"].work(free, free.offer)
    assert str(run.bound.evidence).endswith(", which holds with fewer networks and with perturbed rows too")
    assert run.bound.evidence.claimed_by.startswith("CaDiCaL")
    assert len(run.pool) > 0
    integers = StepClassifier(hidden=(), method="prove", weights=Integers(9), random_state=0).fit(X, y)
    assert integers.certificate_.evidence.kind == "free problem"
    assert integers.verify(X, y)
    assert integers.verify(X, y, resolve=True)
    save(integers, tmp_path / "model.json")
    assert load(tmp_path / "model.json").certificate_ == integers.certificate_
    assert pickle.loads(pickle.dumps(integers)).certificate_ == integers.certificate_


@pytest.mark.slow
@pytest.mark.parametrize("kind", some(KINDS, "binary", "constraint", "fixed threshold"))
def test_proofs_are_written_and_checked_for_restricted_problems(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("stepnet.proof_files.clause_files.why_not_checked", lambda proof: "too large for drup")
    X, y = table(2)
    model = StepClassifier(hidden=(), method="prove", random_state=0, **KINDS[kind]).fit(X, y)
    assert model.save_proof(tmp_path / "proof", X, y) == min(model.certificate_.bound, free_optimum(2))
    assert verify_proof(tmp_path / "proof")


def test_equal_rows_that_are_perturbed_differently_are_one_row_of_a_proof(tmp_path):
    X, y = table(2)
    X, y, radius = np.vstack([X, X[:3]]), np.append(y, y[:3]), np.append(np.full(10, 0.1), np.full(3, 0.2))
    model = StepClassifier(hidden=(), method="prove", uncertainty=Ball("linf"), random_state=0)
    model.fit(X, y, radius=radius)
    model.save_proof(tmp_path / "proof", X, y, radius=radius)
    assert verify_proof(tmp_path / "proof")
    assert len((tmp_path / "proof" / "rows.csv").read_text().splitlines()) == 1 + 10


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_free_already_has_no_free_problem(kind):
    free = restricted(kind, 0).free
    assert free.free is None
    assert free.is_plain
    assert free.dataset.fingerprint == make_problem(*table(0)).dataset.fingerprint


def test_programs_get_what_the_free_problem_leaves():
    plan = Exact().plan(restricted("integers", 0))
    assert [(way.name, way.is_free) for way in plan.ways] == [
        ("cells", True), ("branches", True), ("one_neuron", True), ("tight", False), ("branches", True),
        ("one_neuron", True),
    ]  # fmt: skip
    assert plan.own.name == "tight"
    assert "  3. cells without the restrictions: " in str(plan)
    assert all(not way.is_free for way in Exact(formulation="tight").plan(restricted("integers", 0)).ways)
    assert all(not way.is_free for way in Exact(solver="highs").plan(restricted("sparse", 0)).ways)
    assert isinstance(plan, Plan)


def test_a_callback_that_stops_at_a_bound_of_the_free_problem_ends_the_fit():
    X, y = table(0, m=30)
    model = StepClassifier(hidden=(2,), method="prove", constraints=[Raises(0), Lowers(1)], random_state=0)
    model.fit(X, y, on_incumbent=lambda progress: progress.bound > 0)
    assert model.certificate_.stop_reason == "callback"
    assert model.certificate_.bound > 0
    assert model.certificate_.loss > model.certificate_.bound
    assert model.result_.ways[-1].startswith("cells without the restrictions: ")


def test_without_a_program_the_search_and_the_bounds_of_the_free_problem_remain():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)  # real numbers, which programs with integer weights refuse
    for method in (Prove(), Exact()):
        certificate, result = solve(make_problem(X, y, (1,), weights="ternary"), method, time_limit=3.0)
        free, _ = solve(make_problem(X, y, (1,)), Exact(formulation="cells"))
        assert certificate.bound == free.loss <= certificate.loss
        assert set(np.unique(result.network.layers[0].weights)) <= {-1.0, 0.0, 1.0}
        assert isinstance(result.bound.evidence, OfFreeProblem)
