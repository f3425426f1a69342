"""Mutants of proofs: none that claims anything false is accepted, and a checker that does not look is found out."""

import pytest

import proof_mutants
from proof_mutants import CASES
from stepnet.certificate.verification import Check

BY_TITLE = {case.title: case for case in CASES}


def some(titles, n_mutants, place):
    found = [proof_mutants.tried(BY_TITLE[title], place / title, range(2), n_mutants) for title in titles]
    return sum(one.honest for one in found), [failure for one in found for failure in one.failures]


@pytest.mark.parametrize(
    "title", ["clauses, two neurons", "trees of cones, one feature", "trees of branches", "scorecards, two rules"]
)
def test_no_false_claim_is_accepted(title, tmp_path):
    assert some([title], 15, tmp_path) == (2, [])


@pytest.mark.slow
@pytest.mark.parametrize("title", BY_TITLE)
def test_no_false_claim_is_accepted_in_any_kind_of_proof(title, tmp_path):
    honest, failures = some([title], 60, tmp_path)
    assert honest
    assert not failures


def believes(self, *args):
    return Check("whatever it is", True, "it was not looked at")


NEGLIGENCE = {
    "subsystems": ("subsystem_files.is_true", lambda *args: True, "clauses, one neuron"),
    "clauses": ("clause_files._Checking._strange", lambda *args: [], "clauses, one neuron"),
    "steps": ("clause_files._Checking._steps", believes, "clauses, one neuron"),
    "leaves": ("cone_trees._Check._holds", lambda *args: True, "trees of cones, one feature"),
    "clauses of branches": ("branch_files.check_clause", lambda *args: None, "trees of branches"),
    "payments": ("branch_trees.TreeCheck._leaf", lambda *args: None, "trees of branches"),
    "choices": ("enumeration._Choices.refute", lambda self: None, "enumeration, two neurons"),
    "boxes": ("score_boxes._Search.go_on", lambda self, most: self.state.fill(0) or -1, "scorecards, two rules"),
    "network": ("claim.Claim._network", believes, "equal rows"),
    "rows": ("claim.Claim._data", believes, "equal rows"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", NEGLIGENCE)
def test_a_checker_that_does_not_look_is_found_out(what, tmp_path, monkeypatch):
    name, neglected, title = NEGLIGENCE[what]
    case, folder = BY_TITLE[title], tmp_path / "honest"
    assert any(case.write(folder, seed) for seed in range(3))
    monkeypatch.setattr(f"stepnet.proof_files.{name}", neglected)
    monkeypatch.setattr(type(case), "write", lambda self, place, seed: bool(folder.rename(place)))
    assert proof_mutants.tried(case, tmp_path, range(1), 300).failures
