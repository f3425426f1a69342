"""Refutations: steps that follow, and only those; texts that come back; independent checkers agree."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from stepnet.proof_files.refutation import Refutation, Step, is_refuted, passes_checker, refutation


def pigeons(n):
    """n + 1 pigeons in n holes, one in each."""
    hole = {(p, h): 1 + p * n + h for p in range(n + 1) for h in range(n)}
    in_some = [[hole[p, h] for h in range(n)] for p in range(n + 1)]
    alone = [[-hole[p, h], -hole[q, h]] for h in range(n) for p, q in combinations(range(n + 1), 2)]
    return in_some + alone


@pytest.fixture(name="worker")
def _worker():
    with ThreadPoolExecutor(1) as worker:
        yield worker


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_pigeons_do_not_fit_and_every_checker_says_so(n, worker):
    unrelated = [[100, 101], [-100, 102]]
    proof = refutation(pigeons(n) + unrelated, worker)
    assert proof.is_true()
    assert not {100, 101, 102} & {abs(literal) for clause in proof.clauses for literal in clause}
    assert is_refuted(proof.clauses, worker)
    assert passes_checker(proof, 60)


def test_what_can_be_true_has_no_refutation(worker):
    clauses = [clause for clause in pigeons(3) if clause != [1, 2, 3]]
    assert refutation(clauses, worker) is None
    assert not is_refuted(clauses, worker)


def test_random_clauses_are_refuted_iff_no_assignment_makes_them_true(worker):
    rng = np.random.default_rng(0)
    n_refuted = 0
    for _ in range(60):
        clauses = [
            (rng.choice([-1, 1], 3) * (1 + rng.choice(6, 3, replace=False))).tolist()
            for _ in range(rng.integers(5, 45))
        ]
        can_hold = any(
            all(any((literal > 0) == values[abs(literal) - 1] for literal in clause) for clause in clauses)
            for values in product([False, True], repeat=6)
        )
        proof = refutation(clauses, worker)
        assert (proof is None) == can_hold
        if proof is not None:
            n_refuted += 1
            assert proof.is_true()
    assert 10 < n_refuted < 60


def test_it_comes_back_from_its_texts(worker):
    proof = refutation(pigeons(4), worker)
    again = Refutation.from_texts(proof.to_dimacs(), proof.to_drat())
    assert again == proof
    for text in ("1 2", "1 0 2 0", "1 x 0"):
        with pytest.raises(ValueError, match=r"."):
            Refutation.from_texts(text, proof.to_drat())


def test_a_step_that_does_not_follow_is_found(worker):
    proof = refutation(pigeons(4), worker)
    assert not replace(proof, steps=(Step((1,)), *proof.steps)).is_true()
    assert not replace(proof, steps=proof.steps[:-1]).is_true()
    assert not replace(proof, steps=(Step(()),)).is_true()
    assert not replace(proof, clauses=proof.clauses[1:]).is_true()
    assert passes_checker(replace(proof, clauses=proof.clauses[1:]), 60) is False


def test_a_limit_ends_it(worker):
    assert refutation(pigeons(9), worker, lambda: True) is None
    assert is_refuted([tuple(clause) for clause in pigeons(9)], worker, lambda: True) is None


def test_a_checker_that_takes_too_long_is_not_waited_for(worker, monkeypatch):
    monkeypatch.setattr("stepnet.proof_files.refutation._PATIENCE", 1e-3)
    assert passes_checker(refutation(pigeons(3), worker), float("inf")) is None
