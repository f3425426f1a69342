"""Kinds of proofs, in the order in which they are tried."""

from __future__ import annotations

from stepnet.proof_files.branch_files import BranchTrees
from stepnet.proof_files.clause_files import Clauses
from stepnet.proof_files.cone_files import ConeTrees
from stepnet.proof_files.enumeration_files import Enumeration
from stepnet.proof_files.equal_rows import EqualRows
from stepnet.proof_files.kind import Kind
from stepnet.proof_files.score_files import Scorecards
from stepnet.proof_files.sum_files import Sums

KINDS: tuple[Kind, ...] = (
    EqualRows(),
    BranchTrees(is_costly=True),
    ConeTrees(),
    Sums(),
    Clauses(),
    BranchTrees(is_costly=False),
    Enumeration(),
    Scorecards(),
)


def kind_named(name: str) -> Kind:
    for kind in KINDS:
        if kind.name == name:
            return kind
    known = ", ".join(kind.name for kind in KINDS)
    raise ValueError(f"there is no kind of proof named {name!r} in this version; it knows {known}")
