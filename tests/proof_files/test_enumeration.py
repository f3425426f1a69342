"""Proofs by enumeration: what the checker finds is what brute force finds, and it stops in time."""

import json
from fractions import Fraction

import numpy as np
import pytest

import brute_force
from conftest import make_problem, solve
from stepnet import Recall, StepClassifier, verify_proof
from stepnet.methods.exact import Exact
from stepnet.problem.dataset import Dataset
from stepnet.proof_files.enumeration import check_enumeration
from stepnet.proof_files.enumeration_files import Enumeration
from stepnet.proof_files.hyperplanes import blocks, determinant, exact_side, in_floats
from stepnet.proof_files.question import ErrorLimit, LossError, Question, Watch
from stepnet.proof_files.written import write_proof
from stepnet.runtime.limits import Budget


def answer(dataset, width, bound, limits=()):
    """The loss that the checker found instead, or None if it believes the bound."""
    question = Question.of(dataset, (width,), float(bound), Fraction(1), limits)
    try:
        check_enumeration(question, Watch(Budget()))
    except LossError as error:
        return error.units
    return None


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("width", [1, 2])
def test_the_optimum_is_believed_and_nothing_above_it(seed, width):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(4, 10), rng.integers(1, 4)
    X = rng.normal(size=(m, n)) if seed % 3 == 0 else rng.integers(0, 3, (m, n)).astype(float)
    data = Dataset.from_rows(X, rng.integers(0, 2, m), rng.integers(1, 4, m).astype(float))
    best = brute_force.best_loss(data.X, data.y, (width,), weights=data.weights)
    assert answer(data, width, best) is None
    assert answer(data, width, best + 1) == best


@pytest.mark.parametrize("seed", range(6))
def test_limits_on_errors_count(seed):
    """Against all answers of one or two neurons, that brute force finds."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (8, 2)).astype(float), rng.integers(0, 2, 8)
    data = Dataset.from_rows(X, y)
    limit = ErrorLimit("class 1", tuple(data.y.astype(int).tolist()), 0)
    for width in (1, 2):
        answers = np.array(list(brute_force.answer_patterns(data.X, width)))
        wrong = answers != (data.y == 1)
        best = min((wrong @ data.weights)[~wrong[:, data.y == 1].any(axis=1)])
        assert answer(data, width, best, [limit]) is None
        assert answer(data, width, best + 1, [limit]) == best


@pytest.mark.parametrize("kind", ["far apart", "almost flat", "tiny"])
def test_signs_that_floats_cannot_tell_are_exact(kind):
    """Points of a grid, moved by less than floats of the differences show."""
    rng = np.random.default_rng(1)
    grid = rng.integers(0, 3, (9, 2))
    scale, move = {"far apart": (2**40, 1), "almost flat": (2**60, 1), "tiny": (1, 0)}[kind]
    points = [(int(a) * scale + int(k) * move, int(b) * scale) for k, (a, b) in enumerate(grid)]
    points = list(dict.fromkeys(points))
    on = rng.integers(0, 2, len(points))
    ones = np.ones(len(points), dtype=np.int64)
    for block in blocks(points, np.arange(len(points)), on, ones, np.array([[1, 1]]), 9):
        above, below = (
            np.unpackbits(part.view(np.uint8), axis=1, count=len(points), bitorder="little")
            for part in (block.above, block.below)
        )
        for k, chosen in enumerate(block.chosen):
            for p, point in enumerate(points):
                side = exact_side([points[c] for c in chosen], point)
                assert not above[k, p] or side == 1
                assert not below[k, p] or side == -1


def test_determinants_are_exact_and_small_integers_are_exact_in_floats():
    rng = np.random.default_rng(0)
    matrix = rng.integers(-9, 10, (5, 5))
    assert determinant(matrix.tolist()) == round(np.linalg.det(matrix))
    assert determinant([[1, 2], [2, 4]]) == 0
    assert in_floats([[0, 0], [5, 7]])[1] == 0.0
    assert in_floats([[0, 0], [2**60, 7]])[1] > 0.0


@pytest.fixture(name="noisy", scope="module")
def _noisy():
    """Two neurons with so many errors that clauses are not refuted soon."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 2))
    problem = make_problem(X, rng.integers(0, 2, 70), (2,))
    return problem, *solve(problem, Exact(formulation="cells"))


def test_the_whole_bound_is_written_where_clauses_take_too_long(noisy, tmp_path, monkeypatch):
    problem, certificate, result = noisy
    monkeypatch.setattr("stepnet.proof_files.written._FIRST_TURN", 0.5)
    assert certificate.status == "OPTIMAL"
    assert write_proof(tmp_path / "proof", problem, result.network, certificate.bound) == certificate.bound
    assert json.loads((tmp_path / "proof" / "proof.json").read_text())["kind"] == "enumeration"
    monkeypatch.setattr("stepnet.proof_files.checked._OFTEN", 0.0)
    shown = []
    verification = verify_proof(tmp_path / "proof", show=shown.append)
    assert verification
    assert "enumeration of 2,415 planes, repeated" in str(verification)
    assert any(one.stage == "check 4 of 4" for one in shown)
    assert verify_proof(tmp_path / "proof", time_limit=0.0).checks[-1].holds is None
    claims = json.loads((tmp_path / "proof" / "proof.json").read_text())
    claims["bound"] = claims["loss"] = claims["bound"] + 1
    (tmp_path / "proof" / "proof.json").write_text(json.dumps(claims))
    assert not verify_proof(tmp_path / "proof")


def test_it_is_for_few_hyperplanes(noisy):
    problem, certificate, _ = noisy
    small = Question.of(problem.dataset, (2,), certificate.bound, Fraction(1))
    rng = np.random.default_rng(0)
    wide = Question.of(Dataset.from_rows(rng.normal(size=(200, 8)), rng.integers(0, 2, 200)), (1,), 5.0, Fraction(1))
    tasks = [type("Task", (), {"question": one}) for one in (small, wide)]
    assert [Enumeration().accepts(task) for task in tasks] == [True, False]


@pytest.mark.parametrize(
    ("width", "seed", "share", "words"), [(1, 3, 0.9, "9/10: 1 of at most 1"), (2, 4, 1, "1: 0 of")]
)
def test_a_proof_under_limits_has_them(width, seed, share, words, tmp_path):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(24, 2)), rng.permutation(np.arange(24) % 2)
    limits = [Recall(1, at_least=share)]
    model = StepClassifier((width,), constraints=limits, method="prove", random_state=0).fit(X, y)
    assert model.certificate_.status == "OPTIMAL"
    plain = StepClassifier((width,), method="prove", random_state=0).fit(X, y)
    assert plain.certificate_.loss < model.certificate_.loss
    assert model.save_proof(tmp_path / "proof", X, y) == model.certificate_.bound
    verification = verify_proof(tmp_path / "proof")
    assert verification
    assert f"recall of 1 at least {words}" in str(verification)
    path = tmp_path / "proof" / "limits.json"
    entries = json.loads(path.read_text())
    entries[0]["most"] += 3
    path.write_text(json.dumps(entries))
    assert not verify_proof(tmp_path / "proof")
