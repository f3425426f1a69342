"""Limits on errors: every formulation and every prover finds the optimum of brute force, or that there is none."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from brute_force import answer_patterns, recounted
from conftest import solve
from stepnet import (
    Exact,
    FalsePositiveRate,
    FalsePositives,
    Paper,
    Parity,
    Precision,
    Prove,
    Recall,
    Search,
    StepClassifier,
)
from stepnet.errors import InfeasibleError
from stepnet.formulations.registry import FORMULATIONS
from stepnet.problem.weights import Integers
from stepnet.provers.registry import PROVERS
from stepnet.solvers.backends.registry import BACKENDS

# Each limit by what is counted and the number, and each together with another one.
CASES = {
    "recall": {"recall": Fraction(1)},
    "false positive rate": {"false_positive_rate": Fraction(0)},
    "false positives": {"false_positives": Fraction(1)},
    "precision": {"precision": Fraction(9, 10)},
    "parity of recall": {("parity", "recall"): Fraction(1, 10)},
    "parity of false positive rates": {("parity", "false_positive_rate"): Fraction(0), "recall": Fraction(3, 4)},
    "parity of selection rates": {("parity", "selection_rate"): Fraction(1, 5), "precision": Fraction(3, 4)},
    "recall and false positive rate": {"recall": Fraction(4, 5), "false_positive_rate": Fraction(1, 4)},
}
AT_LEAST = ("recall", "precision")
ROWS = 7
AVAILABLE = [name for name, prover in PROVERS.items() if prover.is_available()]
TAKERS = [name for name in AVAILABLE if name != "cones"]  # provers that count errors; cones refuse limits


@cache
def instance(seed):
    """Rows on a small grid, classes, weights and groups; two rows of each class are in different groups."""
    rng = np.random.default_rng(seed)
    X, y, groups = (rng.integers(0, high, size) for high, size in ((3, (ROWS, 2)), (2, ROWS), (2, ROWS)))
    y[:4], groups[:4] = (0, 1, 0, 1), (0, 0, 1, 1)
    return X.astype(float), y, rng.integers(1, 3, ROWS), groups.tolist()


def constraints_of(case, groups):
    kinds = {
        "recall": lambda p: Recall(at_least=p),
        "precision": lambda p: Precision(at_least=p),
        "false_positive_rate": lambda p: FalsePositiveRate(at_most=p),
        "false_positives": lambda p: FalsePositives(at_most=p),
    }
    return [
        kinds[kind](p) if isinstance(kind, str) else Parity(by=groups, of=kind[1], within=p)
        for kind, p in CASES[case].items()
    ]


def problem_of(case, seed, d, **options):
    X, y, weights, groups = instance(seed)
    hidden = (d,) if d else ()
    return StepClassifier(hidden=hidden, constraints=constraints_of(case, groups), **options).problem(X, y, weights)


@cache
def patterns_of(seed, d):
    return answer_patterns(instance(seed)[0], d)


@cache
def optimum_of(case, seed, d):
    """The least loss of all networks that meet the limits; None if there is none."""
    _, y, weights, groups = instance(seed)

    def is_met(kind, limit, answers):
        value = recounted(kind, y, answers, weights, groups)
        return value is None or (value >= limit if kind in AT_LEAST else value <= limit)

    return min(
        (
            int(weights[np.array(answers) != y].sum())
            for answers in patterns_of(seed, d)
            if all(is_met(kind, limit, answers) for kind, limit in CASES[case].items())
        ),
        default=None,
    )


def check(problem, method, optimum):
    """Whether the method accepts the problem; what it says is the truth."""
    if not (answer := method.accepts(problem)):
        assert answer.reason
        return False
    if optimum is None:
        with pytest.raises(InfeasibleError) as caught:
            solve(problem, method, time_limit=1000.0)
        assert not caught.value.statement.holds
        return True
    certificate, _ = solve(problem, method, time_limit=1000.0)
    assert (certificate.loss, certificate.bound, certificate.status) == (optimum, optimum, "OPTIMAL")
    assert all(one.holds for one in certificate.limits)
    return True


def is_installed(name):
    return name != "bilinear" or any(BACKENDS[solver].is_available() for solver in ("scip", "gurobi"))


@pytest.mark.slow
@pytest.mark.parametrize("way", [*TAKERS, "gates", "tight"])
@pytest.mark.parametrize("case", CASES)
def test_every_way_finds_the_optimum_of_brute_force(case, way):
    seed, d = 3, 0 if way == "one_neuron" else 1
    is_accepted = check(problem_of(case, seed, d), Exact(formulation=way, search_share=0.0), optimum_of(case, seed, d))
    assert is_accepted == (way not in TAKERS or "parity" not in case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("d", [0, 1, 2])
@pytest.mark.parametrize("way", [*AVAILABLE, *FORMULATIONS, "auto"])
def test_every_way_finds_the_optimum_of_brute_force_for_more_neurons(way, d, seed):
    if not is_installed(way) or (way in ("paper", "bilinear") and d == 2):  # these take long
        pytest.skip("no solver for it in time")
    method = Exact(formulation=Paper(two_sided=True) if way == "paper" else way, search_share=0.0)
    for case in CASES:
        check(problem_of(case, seed, d), method, optimum_of(case, seed, d))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_program_as_printed_claims_nothing_false(case):
    """Its margin is one-sided, so it may miss the best network; its bound holds, and its network meets the limits."""
    optimum = optimum_of(case, 1, 0)
    certificate, _ = solve(problem_of(case, 1, 0), Exact(formulation="paper", search_share=0.0), time_limit=1000.0)
    assert certificate.bound <= optimum <= certificate.loss
    assert all(one.holds for one in certificate.limits)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["recall", "parity of selection rates"])
def test_a_proof_is_for_integer_weights_too(case):
    limited = problem_of(case, 4, 0, weights=Integers(2))
    certificate, _ = solve(limited, Prove(), time_limit=1000.0)
    assert certificate.status == "OPTIMAL"
    assert certificate.loss >= optimum_of(case, 4, 0)
    assert all(one.holds for one in certificate.limits)


@pytest.mark.parametrize("case", CASES)
def test_the_search_meets_limits(case):
    optimum = optimum_of(case, 4, 1)
    certificate, _ = solve(problem_of(case, 4, 1), Search(moves=300, starts=2), time_limit=1000.0)
    assert optimum is not None
    assert certificate.loss >= optimum
    assert all(one.holds for one in certificate.limits)


@pytest.mark.parametrize("way", [*TAKERS, "gates", "tight", "auto"])
def test_that_no_network_meets_limits_is_proven(way):
    """Three rows in a line, the middle one of its own class: one neuron misses it, or has a false alarm."""
    constraints = [Recall("in", at_least=1), FalsePositiveRate("in", at_most=0.25)]
    problem = StepClassifier(hidden=(1,), constraints=constraints).problem(
        [[0.0], [1.0], [2.0], [3.0], [-1.0]], ["out", "in", "out", "out", "out"]
    )
    with pytest.raises(
        InfeasibleError, match=r"recall of in at least 100 % together with false positive rate"
    ) as caught:
        solve(problem, Exact(formulation=way, search_share=0.0), time_limit=1000.0)
    assert "the largest is 0 = 0 %. Proven for " in str(caught.value)
    assert caught.value.statement.value == 0
    assert caught.value.bound.value == 1


def test_two_neurons_meet_what_one_cannot():
    constraints = [Recall("in", at_least=1), FalsePositiveRate("in", at_most=0.25)]
    problem = StepClassifier(hidden=(2,), constraints=constraints).problem(
        [[0.0], [1.0], [2.0], [3.0], [-1.0]], ["out", "in", "out", "out", "out"]
    )
    certificate, _ = solve(problem, Prove(), time_limit=1000.0)
    assert (certificate.loss, certificate.status) == (0.0, "OPTIMAL")
