"""Evidence is data: it prints itself, goes to JSON and comes back."""

import json

import pytest

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import (
    BranchAndBound,
    CarriedOver,
    Conflicts,
    Enumeration,
    OfFreeProblem,
    OfMasters,
    Refutations,
    SetCover,
    Stated,
    Subset,
    Trivial,
    evidence_from_dict,
)
from stepnet.bounds.old_words import evidence_of
from stepnet.bounds.scope import Scope
from stepnet.errors import ModelFileError

GATES = BranchAndBound("gates", 2, "HiGHS 1.14.0")
WORDS = {
    Trivial(): "trivial bound 0",
    Conflicts(): "conflicts: equal rows with different classes",
    Conflicts("numbers"): "conflicts: equal rows with different numbers",
    Conflicts(is_perturbed=True): "conflicts: rows that perturbations can make equal with different classes",
    Refutations(5, 2, "CaDiCaL"): (
        "correct sets: 2 output gates refuted with 5 infeasible subsystems checked in rational arithmetic"
    ),
    Refutations(1, 1, "CaDiCaL", 0.25): (
        "correct sets: 1 output gate refuted with 1 infeasible subsystem checked in rational arithmetic, up to "
        "differences of 0.25 in the loss"
    ),
    SetCover(3, "HiGHS"): "correct sets: a set cover over 3 infeasible subsystems checked in rational arithmetic",
    OfFreeProblem(SetCover(3, "HiGHS 1")): (
        "correct sets: a set cover over 3 infeasible subsystems checked in rational arithmetic, "
        "which holds with fewer networks too"
    ),
    OfFreeProblem(Conflicts(), fewer_networks=False, perturbed_rows=True): (
        "conflicts: equal rows with different classes, which holds with perturbed rows too"
    ),
    OfFreeProblem(Trivial(), perturbed_rows=True): (
        "trivial bound 0, which holds with fewer networks and with perturbed rows too"
    ),
    Enumeration(120, 4, 2): (
        "correct sets: 4 candidate sets of 120 hyperplanes enumerated exhaustively for 2 output gates"
    ),
    GATES: "branch and bound on gates (2 programs)",
    OfMasters(GATES): "column-and-constraint generation, branch and bound on gates (2 programs)",
    Subset(GATES): "the earlier rows alone cost as much: branch and bound on gates (2 programs)",
    CarriedOver(Trivial()): "carried over from an earlier run: trivial bound 0",
    Stated("made up", "someone"): "made up",
}


@pytest.mark.parametrize("evidence", WORDS, ids=lambda one: one.kind)
def test_evidence_prints_itself_and_comes_back_from_json(evidence):
    assert str(evidence) == WORDS[evidence]
    assert evidence_from_dict(json.loads(json.dumps(evidence.to_dict()))) == evidence
    bound = Bound(2.0, Scope(margin=0.5), evidence)
    assert Bound.from_dict(json.loads(json.dumps(bound.to_dict()))) == bound


def test_whose_word_it_is_goes_through():
    assert OfMasters(Subset(GATES)).claimed_by == "HiGHS 1.14.0"
    assert CarriedOver(GATES).claimed_by == "HiGHS 1.14.0"
    assert CarriedOver(Conflicts()).claimed_by == "an earlier run"
    assert Subset(Conflicts()).claimed_by == ""


def test_evidence_of_fewer_rows_is_said_once():
    once = Subset.of(GATES)
    assert once.is_of_fewer_rows
    assert OfMasters(once).is_of_fewer_rows
    assert Subset.of(once) == once
    assert CarriedOver.of(CarriedOver(GATES)) == CarriedOver(GATES)


@pytest.mark.parametrize(
    ("words", "claimed_by", "evidence", "found_by"),
    [
        ("a loss is never negative; a network that meets it came from: search", "", Trivial(), "search"),
        ("free bound: equal rows of different classes", "", Conflicts(), ""),
        ("branch and bound on gates (2 programs)", "HiGHS 1.14.0", GATES, ""),
        ("column-and-constraint generation, branch and bound on gates (2 programs)", "HiGHS 1.14.0", OfMasters(GATES),
         ""),
        ("the earlier rows alone cost as much: free bound: equal rows of different targets", "",
         Subset(Conflicts("numbers")), ""),
        ("branch and bound on gates", "", Stated("branch and bound on gates"), ""),
        ("a loss is never negative", "me", Stated("a loss is never negative", "me"), ""),
    ],
)  # fmt: skip
def test_sentences_of_0_1_0_are_read(words, claimed_by, evidence, found_by):
    assert evidence_of(words, claimed_by) == (evidence, found_by)
    assert evidence_of(words, claimed_by)[0].claimed_by == claimed_by


@pytest.mark.parametrize(
    "data",
    [
        None,
        "trivial",
        {},
        {"kind": "gossip"},
        {"kind": "trivial", "more": 1},
        {"kind": "set cover", "subsystems": "3", "solver": "HiGHS", "is_relaxed": False},
        {"kind": "set cover", "subsystems": True, "solver": "HiGHS", "is_relaxed": False},
        {"kind": "subset", "inner": {"kind": "gossip"}},
        {"kind": ["trivial"]},
    ],
)
def test_damaged_evidence_is_refused(data):
    with pytest.raises(ModelFileError, match="evidence of a bound is damaged"):
        evidence_from_dict(data)
