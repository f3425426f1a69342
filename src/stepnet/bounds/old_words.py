"""Scopes and evidence in files of version 0.1.0, where they were sentences.

Sentences that are not recognised are kept as text.
"""

from __future__ import annotations

import re

from stepnet.bounds.evidence import BranchAndBound, Conflicts, Evidence, OfMasters, Stated, Subset, Trivial
from stepnet.bounds.scope import Scope

_SCOPE = re.compile(
    r"(?:all networks|networks with margin(?P<thresholds> and \|threshold\|)? >= (?P<margin>[\d.e+-]+?)"
    r"(?P<units> in the units of the data)?)(?: (?:and|with) last-layer weights up to (?P<weight>[\d.e+-]+?))?"
    r"(?P<perturbed>, moved rows included)?(?P<earlier> on the earlier rows)?"
)
_FOUND = "; a network that meets it came from: "
_SUBSET, _GENERATION = "the earlier rows alone cost as much: ", "column-and-constraint generation, "
_PROGRAMS = re.compile(r"branch and bound on (?P<name>\w+)(?: \((?P<programs>\d+) programs\))?")
_KNOWN: dict[str, Evidence] = {
    "a loss is never negative": Trivial(),
    "free bound: equal rows of different classes": Conflicts("classes"),
    "free bound: equal rows of different targets": Conflicts("numbers"),
    "free bound: rows of different classes that can be moved to one point": Conflicts("classes", is_perturbed=True),
}


def scope_of(words: str) -> Scope:
    """The scope that a sentence of 0.1.0 describes."""
    found = _SCOPE.fullmatch(words)
    if found is None:
        return Scope(stated=words)
    return Scope(
        margin=float(found["margin"] or 0.0),
        in_data_units=bool(found["units"]),
        of_thresholds=bool(found["thresholds"]),
        at_perturbed_rows=bool(found["perturbed"]),
        on_earlier_rows=bool(found["earlier"]),
        largest_weight=None if found["weight"] is None else float(found["weight"]),
    )


def evidence_of(words: str, claimed_by: str) -> tuple[Evidence, str]:
    """The evidence that a sentence of 0.1.0 describes, and what found the network."""
    words, _, found_by = words.partition(_FOUND)
    return _evidence(words, claimed_by), found_by


def _evidence(words: str, claimed_by: str) -> Evidence:
    for prefix, kind in ((_SUBSET, Subset), (_GENERATION, OfMasters)):
        if words.startswith(prefix):
            return kind(_evidence(words.removeprefix(prefix), claimed_by))
    if words in _KNOWN and not claimed_by:
        return _KNOWN[words]
    if (found := _PROGRAMS.fullmatch(words)) and claimed_by:
        return BranchAndBound(found["name"], int(found["programs"] or 1), claimed_by)
    return Stated(words, claimed_by)
