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
from stepnet.problem.dataset import Dataset
from stepnet.provers.bits import largest
from stepnet.provers.cells import Cells
from stepnet.provers.correct_sets import correct_sets, exact_signs, independent_axes, sign_patterns
from stepnet.provers.merged_rows import dimension
from stepnet.provers.oracle import Neuron, Oracle, integer_rows
from stepnet.provers.use import Use
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


def best_of_one(X, y, weights, most):
    """The least loss that enumeration finds for one neuron, if it is at most ``most``; equal rows are of one class."""
    on = np.asarray(y) == 1
    use = Use.of(on, weights, 1, most)
    sets = as_sets(correct_sets(integer_rows(X), on, use, lambda: False), len(y))
    return min(int(weights.sum() - weights[sorted(rows)].sum()) for rows in sets)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_left_out_is_of_no_use(seed):
    """Whatever the cutoff: a grid on which most hyperplanes pass through many rows, and rows that floats round."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 4)), int(rng.integers(5, 12))
    X = np.unique(rng.integers(0, 3, (m, n)) / [1.0, 10.0, 1e-9][seed % 3], axis=0)
    y, weights = rng.integers(0, 2, len(X)), rng.integers(1, 4, len(X))
    everything = as_sets(correct_sets(integer_rows(X), y == 1, None, lambda: False), len(X))
    least = min(int(weights.sum() - weights[sorted(rows)].sum()) for rows in everything)
    for most in (least, least + 1, int(weights.sum())):
        assert best_of_one(X, y, weights, most) == least
    assert best_of_one(X, y, weights, least - 1) >= least


@pytest.mark.parametrize("seed", range(6))
def test_two_neurons_keep_every_set_of_use(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (12, 2)).astype(float), rng.integers(0, 2, 12)
    problem = make_problem(X, y, (2,))
    answers = [solve(problem, Exact(formulation=way, search_share=0, free_bounds=False))[0] for way in ("cells", "sat")]
    assert [answer.status for answer in answers] == ["OPTIMAL"] * 2
    assert answers[0].loss == answers[1].loss


@pytest.mark.parametrize("width", [1, 2])
def test_features_that_follow_from_others_are_no_dimensions(width):
    rng = np.random.default_rng(width)
    X = rng.integers(0, 6, (25, 2)).astype(float)
    wide = np.column_stack([X, 250 * X[:, 0], X.sum(axis=1) - 3, np.full(25, 7.0), X[:, 1], X @ [2, -1]])
    y = rng.integers(0, 2, 25)
    assert not Cells().accepts(make_problem(rng.normal(size=(25, 7)), y, (width,)))
    answers = [solve(make_problem(rows, y, (width,)), Exact(formulation="cells"))[0] for rows in (X, wide)]
    assert [answer.status for answer in answers] == ["OPTIMAL"] * 2
    assert answers[0].loss == answers[1].loss


def test_the_dimension_is_that_of_all_rows_not_of_the_first():
    X = np.zeros((200, 7))
    X[:, 0] = np.arange(200)
    X[-6:, 1:] = np.eye(6)
    last_first, first_last = (
        Dataset(X[::-1], np.arange(200) % 2, np.ones(200)),
        Dataset(X, np.arange(200) % 2, np.ones(200)),
    )
    assert dimension(last_first, 6) == dimension(first_last, 6) == 6
    assert dimension(Dataset(X[:-6], np.arange(194) % 2, np.ones(194)), 6) == 1


def test_equal_rows_of_both_classes_cost_the_lighter_class():
    X, y = [[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]], [0, 1, 0, 1, 0, 1]
    for weights in ([1.0] * 6, [3.0, 1.0, 1.0, 2.0, 0.5, 0.5], [2.0, 0.3, 0.7, 2.0, 2.0, 0.1]):
        problem = make_problem(X, y, (), sample_weight=weights)
        certificate, _ = solve(problem, Exact(formulation="cells", free_bounds=False, search_share=0))
        assert certificate.status == "OPTIMAL"
        assert certificate.loss == pytest.approx(brute_force.best_loss(X, y, (), "neuron", weights))


def test_a_grid_with_noisy_labels_is_proven():
    """Ages, years and counts: few values, so that most hyperplanes pass through more rows than they need."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(30, 84, 90), rng.integers(58, 70, 90), rng.geometric(0.2, 90)]).astype(float)
    y = (rng.random(90) < 1 / (1 + np.exp(1.5 - 0.2 * X[:, 2]))).astype(int)
    certificate, _ = solve(make_problem(X, y, ()), Exact(formulation="cells"), time_limit=100)
    assert certificate.status == "OPTIMAL"
    assert certificate.loss > 5


def test_a_limit_claims_nothing():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(60, 3)), rng.integers(0, 2, 60), (3,))
    run = Run(problem, Budget(30.0))
    begin(run, None, separate=False)
    run.budget.stop("interrupted")
    Cells().work(run, run.offer)
    assert run.bound.value == 0
