"""Exact: verified losses, honest bounds, limits."""

import time

import numpy as np
import pytest

from conftest import XOR, make_problem, random_network, solve
from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import BranchAndBound
from stepnet.errors import InvalidInputError, SolverFailure
from stepnet.formulations.paper import Paper
from stepnet.methods.exact import Exact
from stepnet.methods.journal import Journal
from stepnet.methods.prove import Prove
from stepnet.methods.run import Run
from stepnet.provers.counting import Counting
from stepnet.runtime.limits import Budget


def hard_problem(m=60, hidden=(8,), threshold="neuron"):
    rng = np.random.default_rng(1)
    return make_problem(rng.normal(size=(m, 4)), rng.integers(0, 2, m), hidden, threshold)


def noisy_problem():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20, 3))
    return make_problem(X, rng.integers(0, 2, 20), (2,))


def test_a_separable_problem_is_proven_without_a_solver():
    certificate, result = solve(make_problem([[0], [1], [2]], [0, 0, 1], (25,)), Exact())
    assert (certificate.status, str(certificate.scope), certificate.claimed_by) == ("OPTIMAL", "all networks", "")
    assert result.claims == ()


def test_a_bound_by_a_solver_names_solver_and_scope():
    certificate, _ = solve(noisy_problem(), Exact(formulation="gates"))
    assert certificate.status == "OPTIMAL"
    assert certificate.loss == certificate.bound == 1
    assert 0 < certificate.scope.margin < 0.01
    assert certificate.claimed_by.startswith("HiGHS 1.14")
    assert certificate.evidence == BranchAndBound("gates", 2, certificate.claimed_by)


def test_the_margin_of_integer_weights_is_all_networks():
    certificate, _ = solve(make_problem(XOR, [0, 1, 1, 0], (1,), weights="ternary"), Exact())
    assert certificate.status == "OPTIMAL"
    assert certificate.scope.is_all
    assert certificate.loss == 1


@pytest.mark.slow
@pytest.mark.parametrize("threshold", ["neuron", "layer", 0.0])
def test_the_time_limit_ends_with_a_verified_network(threshold):
    problem = hard_problem(hidden=(2, 2), threshold=threshold)
    begin = time.perf_counter()
    certificate, result = solve(problem, Exact(), time_limit=2)
    assert time.perf_counter() - begin < 3.5
    assert certificate.stop_reason == "time"
    assert certificate.status == "FEASIBLE"
    assert problem.evaluate(result.network) == certificate.loss
    assert certificate.bound <= certificate.loss


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["sat", "gates"])
def test_gates_share_the_time(formulation):
    certificate, _ = solve(hard_problem(80, (5,)), Exact(formulation=formulation), time_limit=4)
    assert certificate.stop_reason == "time"
    assert certificate.runtime < 5


def test_a_gap_ends_early():
    problem = hard_problem(30, (2,))
    run = Run(problem, Budget(30, gap=0.99))
    Exact(search_share=0).work(run)
    assert run.result().stop_reason in ("gap", "proven")
    assert run.gap <= 0.99


def test_a_callback_can_end_the_fit():
    run = Run(hard_problem(), Budget(30), journal=Journal((lambda progress: True,)))
    Exact().work(run)
    assert run.result().stop_reason == "callback"
    assert run.budget.elapsed < 10


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["sat", "gates"])
def test_a_callback_that_raises_is_not_swallowed(formulation):
    def fail(progress):
        if progress.stage == formulation:
            raise ZeroDivisionError("on purpose")

    run = Run(hard_problem(40, (2,)), Budget(30), journal=Journal((fail,)))
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        Exact(formulation=formulation).work(run)


def test_the_trace_only_improves():
    _, result = solve(noisy_problem(), Exact())
    losses = [progress.loss for progress in result.trace]
    bounds = [progress.bound for progress in result.trace]
    assert losses == sorted(losses, reverse=True)
    assert bounds == sorted(bounds)
    assert all(p.bound <= p.loss for p in result.trace)


def test_a_start_is_never_lost():
    rng = np.random.default_rng(0)
    problem = hard_problem(30, (2, 2))
    start = min((random_network(rng, 4, (2, 2)) for _ in range(300)), key=problem.evaluate)
    certificate, _ = solve(problem, Exact(search_share=0, free_bounds=False), start=start, time_limit=1)
    assert certificate.loss <= problem.evaluate(start)


def test_a_start_of_another_architecture_is_refused(rng):
    with pytest.raises(InvalidInputError, match="start is not a network of this problem"):
        solve(noisy_problem(), Exact(), start=random_network(rng, 3, (7,)))


def test_false_claims_of_the_paper_s_program_are_found_out():
    """Its points lie on thresholds up to the tolerance; the certificate tells the exact loss."""
    false = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        problem = make_problem(rng.uniform(-10, 10, (12, 3)), rng.integers(0, 2, 12), (2,), "layer")
        certificate, result = solve(
            problem, Exact(formulation="paper", search_share=0, free_bounds=False), time_limit=20
        )
        assert certificate.loss == problem.evaluate(result.network)
        false += sum(not claim.is_true for claim in result.claims)
    assert false > 0


def test_theorem_2_with_two_sided_margin_tells_the_truth():
    certificate, result = solve(noisy_problem(), Exact(formulation=Paper(two_sided=True), search_share=0))
    assert certificate.loss == certificate.bound == 1
    assert all(claim.is_true for claim in result.claims)


def test_prove_does_what_exact_does():
    certificate, _ = solve(noisy_problem(), Prove())
    assert certificate.loss == certificate.bound == 1


def test_the_same_seed_gives_the_same_network():
    one, two = (solve(noisy_problem(), Exact(), seed=3)[1].network for _ in range(2))
    assert one == two


def test_real_row_weights_are_proven_within_the_stated_tolerance():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.uniform(-1, 1, (12, 2)), rng.integers(0, 2, 12), (1,), sample_weight=rng.random(12))
    certificate, _ = solve(problem, Exact())
    assert certificate.status == "OPTIMAL"
    assert certificate.loss - certificate.bound < 1e-5 * certificate.total_weight


def test_a_solver_that_breaks_down_leaves_the_best_network(monkeypatch):
    def fail(self, task):
        raise SolverFailure("HiGHS ended with status kSolveError; try solver='scip'.")

    monkeypatch.setattr("stepnet.solvers.backends.highs.Highs.solve", fail)
    problem = noisy_problem()
    certificate, result = solve(problem, Exact(formulation="gates", free_bounds=False))
    assert certificate.stop_reason == "solver failed"
    assert certificate.loss == problem.evaluate(result.network) < 10


@pytest.mark.slow
def test_a_program_too_large_for_the_time_leaves_it_to_the_search():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(20_000, 3)), rng.integers(0, 2, 20_000), (60,))
    certificate, result = solve(problem, Prove(), time_limit=3)
    assert certificate.stop_reason in ("program too large for the time", "time")
    assert {progress.stage for progress in result.trace} <= {
        "constants",
        "linear discriminants",
        "local search",
        "compiling, once per installation",
    }
    certificate, _ = solve(problem, Exact(search_share=0, free_bounds=False), time_limit=3)
    assert certificate.stop_reason == "program too large for the time"


@pytest.mark.parametrize(
    ("X", "y", "hidden", "words"),
    [
        ([[0], [1]], [0, 1], (1,), "trivial bound 0, attained by a network found by linear discriminants"),
        (XOR, [0, 1, 1, 0], (2,), "trivial bound 0, attained by a network found by local search"),
        ([[0], [0]], [0, 1], (1,), "equal rows with different classes, attained by a network found by constants"),
        (XOR, [0, 1, 1, 0], (1,), "correct sets: "),
    ],
)
def test_the_proof_names_the_stage_that_closed_it(X, y, hidden, words):
    certificate, _ = solve(make_problem(X, y, hidden), Prove())
    assert certificate.status == "OPTIMAL"
    assert words in certificate.proof


def wide_problem(hidden, threshold="neuron", n_features=6):
    rng = np.random.default_rng(0)
    return make_problem(rng.normal(size=(40, n_features)), rng.integers(0, 2, 40), hidden, threshold)


def first_way(problem, solver="auto"):
    return Exact(solver=solver).plan(problem).ways[0].name


def test_auto_takes_proofs_where_they_reach_and_programs_where_a_solver_is_named():
    ways = [((1,), "auto", "branches"), ((), "auto", "branches"), ((2,), "auto", "sat"), ((6,), "auto", "tight")]
    for hidden, solver, name in [*ways, ((2,), "highs", "gates"), ((2, 2), "auto", "tight")]:
        assert first_way(wide_problem(hidden), solver) == name
    for hidden, name in [((), "cells"), ((3,), "cells"), ((5,), "cells"), ((6,), "tight")]:
        assert first_way(wide_problem(hidden, n_features=3)) == name
    assert first_way(wide_problem((2,), "layer")) == "sat"
    assert first_way(wide_problem((2,), "layer"), "highs") == "tight"
    weighted = make_problem([[0.0], [1.0]], [0, 1], (2,), sample_weight=[0.1234, 0.77])
    assert first_way(weighted) == "cells"


@pytest.mark.parametrize(
    ("problem", "way"),
    [
        (wide_problem((1,), n_features=2), "cells: through 2 of 40 points there are only 780 hyperplanes"),
        (wide_problem((2,)), "sat: the output of 2 neurons is one of 2 gates"),
        (wide_problem((1,)), "branches: taking sides on few rows decides a single neuron"),
        (wide_problem((1,), n_features=9), "branches: taking sides on few rows decides a single neuron"),
        (wide_problem((2,), "layer"), "sat without the restrictions: the output of 2 neurons is one of 2 gates"),
        (wide_problem((6,), n_features=2), "tight: formulation='sat' accepts one hidden layer of up to 5 neurons"),
    ],
)
def test_auto_says_what_it_picked_and_why(problem, way, monkeypatch):
    monkeypatch.setattr(Counting, "package", "no_such_package")  # so that it is the same with all extras
    _, result = solve(problem, Exact(search_share=0, free_bounds=False), time_limit=2)
    assert result.ways[0].startswith(way)


def test_where_a_proof_gives_up_auto_goes_on_with_a_program():
    rng = np.random.default_rng(0)
    problem = make_problem(
        rng.normal(size=(10, 1)), rng.permutation(np.arange(10) % 2), (2,), sample_weight=[1000.0] * 9 + [1.0]
    )
    certificate, _ = solve(problem, Exact(search_share=0), time_limit=20)
    assert certificate.status == "OPTIMAL"


def test_a_cut_off_rests_on_a_loss_that_is_computed_again():
    problem = noisy_problem()
    run = Run(problem, Budget(30))
    Exact().work(run)
    run.loss, run.bound, run.free_bound = 0.5, Bound(), Bound()  # a lie
    Exact().close(run)
    assert run.loss == problem.evaluate(run.network) == 1
    assert run.bound.value == 1


@pytest.mark.slow
def test_networks_of_a_proof_are_improved_by_a_search():
    """Without a search before it, sat finds a network, and the search goes on from there."""
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(60, 8)), rng.integers(0, 2, 60), (2,))
    _, result = solve(problem, Exact(formulation="sat", free_bounds=False, search_share=0), time_limit=4)
    stages = [progress.stage for progress in result.trace]
    assert "local search" in stages[stages.index("sat") :]
