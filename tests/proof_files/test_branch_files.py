"""Trees of branches as files: accepted as they are written, refused if anything in them is wrong."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

from few_rows import least_loss, noisy, rows_of
from stepnet import FalsePositives, Recall, StepClassifier
from stepnet.problem.dataset import Dataset
from stepnet.proof_files.branch_files import branch_proof, check, read, to_text
from stepnet.proof_files.branch_trees import BranchProof
from stepnet.proof_files.checked import verify_proof
from stepnet.proof_files.question import CheckError, ErrorLimit, Question, Watch
from stepnet.runtime.limits import Budget

WATCH = Watch(Budget())


def dataset(X, y, weights=None):
    return Dataset.from_rows(X, np.asarray(y).astype(int), np.ones(len(X)) if weights is None else weights)


def question(data, units, limits=()):
    return Question.of(data, (1,), float(units), Fraction(1), limits)


def whole_proof(data, limits=()):
    """Of the least loss of neurons that keep limits; and that loss."""
    units = int(data.weights.sum()) + 1
    while isinstance(proof := branch_proof(question(data, units, limits), lambda: False), int):
        units = proof
    return proof, units


def is_accepted(proof, asked):
    try:
        check(read(to_text(proof)), asked, WATCH)
    except (CheckError, ValueError, TypeError, IndexError):
        return False
    return True


@pytest.mark.parametrize("seed", range(20))
def test_the_least_loss_is_proven_and_no_more(seed):
    X, on, weights = rows_of(seed, n_rows=8)
    X, on, weights = (np.concatenate([part, part[:2]]) for part in (X, on, weights))
    on[-2:] = ~on[-2:]  # equal rows with both classes
    data = dataset(X, on, weights.astype(float))
    least = least_loss(data.X, data.y == 1, data.weights.astype(int))
    proof, units = whole_proof(data)
    assert units == least
    assert is_accepted(proof, question(data, units))
    assert not is_accepted(proof, question(data, units + 1))


def least_with(data, limits):
    """The least loss of neurons that keep limits, of all ways to divide points of one feature."""
    cuts = [-np.inf, *data.X[:, 0], np.inf]
    answers = [side * data.X[:, 0] >= side * cut for cut in cuts for side in (1, -1)]
    answers += [~one for one in answers]
    wrong = [one != (data.y == 1) for one in answers]
    kept = [one for one in wrong if all(np.array(each.coefficients)[one].sum() <= each.most for each in limits)]
    return min(int(data.weights[one].sum()) for one in kept)


@pytest.mark.parametrize("seed", range(12))
def test_limits_on_errors_are_part_of_the_bound(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 8, (20, 1)).astype(float), rng.integers(0, 2, 20)
    data = dataset(X, y, rng.integers(1, 4, 20).astype(float))
    counts = tuple((data.y * data.weights).astype(int).tolist())
    limits = [ErrorLimit("of class 1", counts, sum(counts) // 6)]
    if seed % 2:
        counts = tuple(rng.integers(0, 3, data.n_rows).tolist())
        limits.append(ErrorLimit("of all", counts, int(np.ceil(0.6 * sum(counts)))))
    try:
        least = least_with(data, limits)
    except ValueError:
        least = int(data.weights.sum()) + 1  # no neuron keeps the limits
    proof, units = whole_proof(data, limits)
    assert units == least
    assert is_accepted(proof, question(data, units, limits))
    if units <= data.weights.sum():
        assert not is_accepted(proof, question(data, units + 1, limits))
        looser = [ErrorLimit(one.name, one.coefficients, sum(one.coefficients)) for one in limits]
        if least_with(data, []) < units:
            assert not is_accepted(proof, question(data, units, looser))


@pytest.fixture(name="wide", scope="module")
def _wide():
    """Ten features, noisy labels."""
    X, y = noisy(100, 10)
    data = dataset(X, y ^ (np.random.default_rng(0).random(100) < 0.1))
    proof, units = whole_proof(data)
    return data, proof, units


def test_ten_features_with_many_errors_are_proven(wide):
    data, proof, units = wide
    assert units > 3
    assert len(proof.entries) > 20
    assert is_accepted(proof, question(data, units))
    assert branch_proof(question(data, units + 1), lambda: False) == units
    assert branch_proof(question(data, units), lambda: True) is None


def test_a_tree_that_gets_too_large_is_given_up(wide, monkeypatch):
    data, _, units = wide
    monkeypatch.setattr("stepnet.proof_files.branch_files._MOST_LOGGED", 100)
    monkeypatch.setattr("stepnet.provers.branch_search.OPERATIONS", 100_000)  # many turns
    assert branch_proof(question(data, units), lambda: False) is None


def test_a_tree_of_many_turns_is_whole(wide, monkeypatch):
    data, _, units = wide
    monkeypatch.setattr("stepnet.provers.branch_search.OPERATIONS", 100_000)
    assert is_accepted(branch_proof(question(data, units), lambda: False), question(data, units))


def test_checking_stops_in_time(wide):
    data, proof, units = wide
    with pytest.raises(TimeoutError):
        check(proof, question(data, units), Watch(Budget(0.0)))


def some_leaf(tree, least=2):
    return next(entry for entry in tree if isinstance(entry, list) and len(entry) > least)


def some_branch(tree, number=1):
    return [place for place, entry in enumerate(tree) if isinstance(entry, int)][number]


MUTANTS = {
    "no entry": lambda clauses, tree: tree.clear(),
    "an entry less": lambda clauses, tree: tree.pop(),
    "an entry more": lambda clauses, tree: tree.append([0]),
    "a leaf that pays nothing": lambda clauses, tree: some_leaf(tree).__delitem__(slice(1, None)),
    "a leaf of an account that is none": lambda clauses, tree: some_leaf(tree).__setitem__(0, 1),
    "a leaf without account": lambda clauses, tree: some_leaf(tree).clear(),
    "a clause that is none": lambda clauses, tree: some_leaf(tree).__setitem__(1, len(clauses)),
    "a clause counted from the end": lambda clauses, tree: some_leaf(tree).__setitem__(1, -1),
    "a branch on a row that is taken": lambda clauses, tree: tree.__setitem__(some_branch(tree), tree[0]),
    "a branch on a row that is none": lambda clauses, tree: tree.__setitem__(some_branch(tree), 10**6),
    "a branch on a row from the end": lambda clauses, tree: tree.__setitem__(some_branch(tree), -1),
    "a leaf at once": lambda clauses, tree: tree.__setitem__(slice(None), [[0, *range(len(clauses))]]),
    "a half": lambda clauses, tree: tree.__setitem__(0, 0.5),
    "another multiplier": lambda clauses, tree: clauses[0][1].__setitem__(0, clauses[0][1][0] + 1),
    "no multipliers": lambda clauses, tree: clauses.__setitem__(0, (clauses[0][0], [])),
    "multipliers 0": lambda clauses, tree: clauses.__setitem__(0, (clauses[0][0], [0] * len(clauses[0][0]))),
    "a clause of wrong rows": lambda clauses, tree: clauses.__setitem__(
        0, (clauses[0][0], [-abs(value) for value in clauses[0][1]])
    ),
    "a row twice": lambda clauses, tree: clauses.__setitem__(
        0, ([*clauses[0][0], clauses[0][0][0]], [*clauses[0][1], 1])
    ),
    "an empty clause": lambda clauses, tree: clauses.__setitem__(0, ([], [])),
}


@pytest.mark.parametrize("what", MUTANTS)
def test_mutants_are_refused(wide, what):
    data, proof, units = wide
    clauses, tree = copy.deepcopy(proof.clauses), copy.deepcopy(proof.entries)
    MUTANTS[what](clauses, tree)
    assert not is_accepted(BranchProof(clauses, tree), question(data, units))


def test_rows_that_are_other_rows_are_refused(wide):
    data, proof, units = wide
    moved = dataset(data.X + 1e-9 * np.eye(*data.X.shape), data.y)
    assert not is_accepted(proof, question(moved, units))
    flipped = np.arange(data.n_rows) == proof.clauses[0][0][0]
    assert not is_accepted(proof, question(dataset(data.X, data.y ^ flipped), units))


@pytest.mark.parametrize("constraints", [(), (Recall(1, at_least=0.8), FalsePositives(1, at_most=20))])
def test_a_folder_is_written_and_verified(constraints, tmp_path):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    model = StepClassifier((1,), method="prove", constraints=list(constraints), random_state=0).fit(X, y)
    assert model.certificate_.status == "OPTIMAL"
    assert model.save_proof(tmp_path / "proof", X, y) == model.certificate_.bound
    verification = verify_proof(tmp_path / "proof")
    assert verification, str(verification)
    assert "clauses, in whole numbers" in str(verification)
    assert json.loads((tmp_path / "proof" / "proof.json").read_text())["kind"] == "branches"
