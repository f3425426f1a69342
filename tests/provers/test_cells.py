"""Cells: signs that are certain, sets that are right and largest, and estimates before they begin."""

from itertools import combinations, product

import numpy as np
import pytest

import brute_force
from conftest import make_problem, solve
from stepnet.errors import NotAcceptedError
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.provers.bits import largest
from stepnet.provers.cells import Cells
from stepnet.provers.correct_sets import correct_sets, exact_signs, independent_axes, sign_patterns
from stepnet.provers.oracle import Neuron, Oracle, integer_rows
from stepnet.runtime.limits import Budget


def as_sets(words, n_rows):
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :n_rows]
    return {frozenset(np.flatnonzero(row).tolist()) for row in bits}


@pytest.mark.parametrize("seed", range(12))
def test_they_are_exactly_the_largest_sets_that_a_neuron_gets_right(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 4)), int(rng.integers(3, 9))
    X = [rng.normal(size=(m, n)), rng.integers(0, 3, (m, n)), rng.integers(0, 2, (m, n)) / 10][seed % 3].astype(float)
    on = rng.random(m) < 0.5
    words = correct_sets(integer_rows(X), on, None, lambda: False)
    found = as_sets(largest(words, lambda: False), m)
    oracle = Oracle(X, on)
    subsets = [frozenset(np.flatnonzero(bits).tolist()) for bits in product([0, 1], repeat=m)]
    right = [rows for rows in subsets if isinstance(oracle.ask(np.array(sorted(rows), dtype=np.int64)), Neuron)]
    assert found == {rows for rows in right if not any(rows < other for other in right)}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_signs_in_doubt_are_those_of_integers(n):
    rng = np.random.default_rng(n)
    plane = rng.integers(-3, 4, (7, n)).astype(float)
    plane[:, -1] = plane[:, :-1].sum(axis=1)  # on one hyperplane, as far as floats can tell
    for X in (plane / 10, plane, np.nextafter(plane / 10, 1)):
        points = [list(point) for point in dict.fromkeys(map(tuple, integer_rows(X)))]
        if len(independent_axes(points)) < n:
            points.append([value + 1 if k == n - 1 else value for k, value in enumerate(points[0])])
        if len(independent_axes(points)) < n:
            continue
        found = {tuple(row) for signs in sign_patterns(points, lambda: False) for row in signs.tolist()}
        exact = {tuple(exact_signs(points, chosen)) for chosen in combinations(range(len(points)), n)}
        exact = {row for row in exact if any(row)}
        opposite = {tuple(-value for value in row) for row in exact}
        assert found <= exact | opposite
        assert exact <= found | {tuple(-value for value in row) for row in found}


def test_rows_that_floats_cannot_tell_from_a_plane():
    """0.1 + 0.2 is not 0.3 in floats: the optimum is that of the numbers as they are."""
    X = np.array([[0.0, 0.0], [0.1, 0.1], [0.2, 0.2], [0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3], [0.4, 0.4], [0.5, 0.5]])
    y = [0, 1, 0, 1, 0, 1, 0]
    problem = make_problem(X, y, (1,))
    certificate, _ = solve(problem, Exact(formulation="cells", free_bounds=False, search_share=0))
    sat, _ = solve(problem, Exact(formulation="sat", free_bounds=False, search_share=0))
    assert certificate.status == sat.status == "OPTIMAL"
    assert certificate.loss == sat.loss
    margin = 1e-18  # brute force by a linear program cannot tell these rows apart
    assert certificate.loss <= brute_force.best_loss(X, y, (1,), "neuron", margin=margin)


@pytest.mark.parametrize("shift", [0.0, 1e17])
def test_a_small_cluster_far_away_is_not_lost_in_rounding(shift):
    """Three rows that are all but collinear, as seen from two others: one neuron gets all rows right."""
    X = np.array(
        [
            [721695824422, 700603802362],
            [721696681213, 700604465855],
            [721696310298, 700604178621],
            [0, 1e12],
            [1e12, shift],
        ]
    )
    problem = make_problem(X, [0, 0, 1, 1, 0], (1,))
    answers = [solve(problem, Exact(formulation=way, search_share=0, free_bounds=False))[0] for way in ("cells", "sat")]
    assert [answer.status for answer in answers] == ["OPTIMAL"] * 2
    assert answers[0].loss == answers[1].loss
    if not shift:
        assert answers[0].loss == 0


@pytest.mark.parametrize("seed", range(30))
def test_far_clusters_all_but_on_a_line_have_the_optimum_of_clauses(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(5, 9))
    size = 10.0 ** rng.integers(1, 7)
    X = np.round(1e12 * rng.random((1, n)) + size * np.outer(rng.integers(-4, 5, m), rng.random(n)))
    X[:2] = 1e12 * rng.integers(0, 2, (2, n))
    problem = make_problem(X, rng.permutation(np.arange(m) % 2), (1 + seed % 2,))
    answers = [solve(problem, Exact(formulation=way, search_share=0, free_bounds=False))[0] for way in ("cells", "sat")]
    assert [answer.status for answer in answers] == ["OPTIMAL"] * 2
    assert answers[0].loss == answers[1].loss


@pytest.mark.parametrize("width", [4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_four_and_five_neurons_have_the_optimum_of_clauses(seed, width):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.normal(size=(9 + seed, 1)), axis=0) if seed else rng.permutation(16)[:12, None] // [4, 1] % 4.0
    problem = make_problem(X, np.arange(len(X)) % 2, (width,), sample_weight=rng.integers(1, 4, len(X)).astype(float))
    answers = [solve(problem, Exact(formulation=way, search_share=0, free_bounds=False))[0] for way in ("cells", "sat")]
    assert [answer.status for answer in answers] == ["OPTIMAL"] * 2
    assert answers[0].loss == answers[1].loss


def test_what_is_too_large_is_refused_with_an_estimate():
    rng = np.random.default_rng(0)
    large = make_problem(rng.normal(size=(200, 5)), rng.integers(0, 2, 200), (2,))
    with pytest.raises(NotAcceptedError, match=r"2\.5e\+09 hyperplanes, in about 5\.1e\+03 s and 4\.5e\+02 GB"):
        solve(large, Exact(formulation="cells"))
    with pytest.raises(NotAcceptedError, match="up to 5 features, not counting those that follow from others; got 6"):
        solve(make_problem(rng.normal(size=(9, 6)), np.arange(9) % 2, (2,)), Exact(formulation="cells"))


def test_a_limit_claims_nothing():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(60, 3)), rng.integers(0, 2, 60), (3,))
    run = Run(problem, Budget(30.0))
    begin(run, None, separate=False)
    run.budget.stop("interrupted")
    Cells().work(run, run.offer)
    assert run.bound.value == 0
