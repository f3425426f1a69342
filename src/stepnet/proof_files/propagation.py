"""Propagation: which clauses does a learned clause depend on? Checks the proof that a SAT solver writes.

A clause follows by propagation if, with all of its literals false, other clauses force literal after literal until all
literals of one of them are false. Two literals of each clause are watched, so that few clauses need to be visited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from stepnet.runtime.compiling import Compiling, kernel

_EVENTS = 2_000  # between two checks of the clock


class _Trail(NamedTuple):
    """Clauses with their watches, and what is true so far; a literal of variable v is 2v, its negation 2v + 1."""

    literals: Any  # those of all clauses, one clause after the other
    starts: Any
    value: Any  # per literal: 1 true, -1 false
    reason: Any  # per variable: the clause that forced it
    trail: Any  # true literals; the last entry is their number
    first: Any  # per literal: its first watch
    following: Any  # per watch: the next one on the literal
    is_gone: Any  # per clause: whether it was deleted


class Propagation:
    """Clauses, of which the first ``n_given`` are given and the others learned."""

    def __init__(self, clauses: Sequence[tuple[int, ...]], n_given: int) -> None:
        self.n_given = n_given
        lengths = [len(clause) for clause in clauses]
        signed = np.array([literal for clause in clauses for literal in clause], dtype=np.int64)
        literals = 2 * np.abs(signed) + (signed < 0)
        top = int(literals.max(initial=0)) | 1
        self._state = _Trail(
            literals=literals,
            starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
            value=np.zeros(top + 1, dtype=np.int8),
            reason=np.full(top // 2 + 1, -1, dtype=np.int64),
            trail=np.zeros(top + 2, dtype=np.int64),
            first=np.full(top + 1, -1, dtype=np.int64),
            following=np.full(2 * len(clauses), -1, dtype=np.int64),
            is_gone=np.zeros(len(clauses), dtype=np.bool_),
        )

    def follow(
        self,
        events: Sequence[int],
        should_stop: Callable[[], bool],
        tell: Callable[[float], None] = lambda share: None,
    ) -> dict[int, list[int]] | None:
        """What each learned clause depends on, and under -1 what the contradiction does; None if one does not follow.

        An event is the index of a clause that is learned, or ~ the index of one that is deleted.
        """
        everything = np.array([*range(self.n_given), *events], dtype=np.int64)
        depends_on: dict[int, list[int]] = {}
        for begin in range(0, len(everything), _EVENTS):
            if should_stop():
                return None
            tell(begin / len(everything))
            part = everything[begin : begin + _EVENTS]
            status, counts, found = _follow(part, self.n_given, self._state)
            ends = np.cumsum(counts).tolist()
            for clause, start, end in zip(part.tolist(), [0, *ends], ends, strict=False):
                if end > start:
                    depends_on[clause] = found[start:end].tolist()
            if status == _FAILED:
                return None
            if status == _REFUTED:
                depends_on[-1] = found[ends[-1] :].tolist()
                return depends_on
        return None


_OPEN, _REFUTED, _FAILED = 0, 1, 2


@kernel(nogil=True)
def _follow(events: Any, n_given: int, state: _Trail) -> Any:
    """Process some events, checking each learned clause; the clauses each check depends on, and how many those are.

    What is permanently true is never retracted: clauses that forced it are not deleted.
    """
    literals, starts, value, reason, trail = state.literals, state.starts, state.value, state.reason, state.trail
    counts, found = np.zeros(len(events), np.int64), np.empty(1024, np.int64)
    n_found = 0
    is_marked = np.zeros(len(reason), np.bool_)
    for position in range(len(events)):
        event = events[position]
        if event < 0:
            clause = -event - 1
            state.is_gone[clause] = True
            for q in range(starts[clause], starts[clause + 1]):
                if reason[literals[q] // 2] == clause:
                    state.is_gone[clause] = False
            continue
        begin, end = starts[event], starts[event + 1]
        if event >= n_given:
            n_true = trail[-1]
            conflict, denied = -1, -1
            for q in range(begin, end):
                literal = literals[q]
                if value[literal] > 0:  # its reason contradicts the negation of the clause
                    conflict, denied = reason[literal // 2], literal // 2
                    break
                if value[literal] == 0:
                    _set(literal ^ 1, -1, state)
            if conflict < 0:
                conflict = _propagate(n_true, state)
            if conflict >= 0:
                before = n_found
                found, n_found = _trace(conflict, denied, state, is_marked, found, n_found)
                counts[position] = n_found - before
            for q in range(n_true, trail[-1]):
                value[trail[q]] = value[trail[q] ^ 1] = 0
                reason[trail[q] // 2] = -1
            trail[-1] = n_true
            if conflict < 0:
                return _FAILED, counts[:position], found[:n_found]
        conflict = _add(event, state)
        if conflict >= 0:
            found, n_found = _trace(conflict, -1, state, is_marked, found, n_found)
            return _REFUTED, counts[: position + 1], found[:n_found]
    return _OPEN, counts, found[:n_found]


@kernel(nogil=True, inline="always")
def _set(literal: int, clause: int, state: _Trail) -> None:
    state.value[literal], state.value[literal ^ 1] = 1, -1
    state.reason[literal // 2] = clause
    state.trail[state.trail[-1]] = literal
    state.trail[-1] += 1


@kernel(nogil=True)
def _add(clause: int, state: _Trail) -> Any:
    """Watch two literals that are not false; if there is only one, it is permanently true. A conflict, or -1."""
    literals, value, first = state.literals, state.value, state.first
    begin, end = state.starts[clause], state.starts[clause + 1]
    n_open = 0
    for q in range(begin, end):
        literal = literals[q]
        if value[literal] > 0:
            return -1  # permanently true
        if value[literal] == 0 and n_open < 2:
            literals[q], literals[begin + n_open] = literals[begin + n_open], literal
            n_open += 1
    if n_open == 0:
        return clause
    if n_open == 1:
        n_true = state.trail[-1]
        _set(literals[begin], clause, state)
        return _propagate(n_true, state)
    for w in range(2):
        state.following[2 * clause + w] = first[literals[begin + w]]
        first[literals[begin + w]] = 2 * clause + w
    return -1


@kernel(nogil=True)
def _propagate(n_done: int, state: _Trail) -> Any:
    """Make true what clauses force, from entry ``n_done`` of the trail; a conflict, or -1."""
    literals, starts, value, trail = state.literals, state.starts, state.value, state.trail
    first, following = state.first, state.following
    while n_done < trail[-1]:
        false = trail[n_done] ^ 1
        n_done += 1
        before, watch = -1, first[false]
        while watch >= 0:
            clause, after = watch // 2, following[watch]
            begin, end = starts[clause], starts[clause + 1]
            own = begin + watch % 2
            other = literals[begin + 1 - watch % 2]
            moved = state.is_gone[clause]
            if not moved and value[other] <= 0:
                for q in range(begin + 2, end):
                    if value[literals[q]] >= 0:
                        literals[own], literals[q] = literals[q], literals[own]
                        following[watch] = first[literals[own]]
                        first[literals[own]] = watch
                        moved = True
                        break
                if not moved:
                    if value[other] < 0:
                        return clause
                    _set(other, clause, state)
            if moved:
                if before < 0:
                    first[false] = after
                else:
                    following[before] = after
            else:
                before = watch
            watch = after
    return -1


@kernel(nogil=True)
def _trace(conflict: int, denied: int, state: _Trail, is_marked: Any, found: Any, n_found: int) -> Any:
    """Append the clauses behind a conflict, in the order of propagation; a denied variable needs no reason."""
    literals, starts, trail = state.literals, state.starts, state.trail
    begin = n_found
    clause = conflict
    at = trail[-1]
    while True:
        if n_found == len(found):
            longer = np.empty(2 * len(found), np.int64)
            longer[:n_found] = found
            found = longer
        found[n_found] = clause
        n_found += 1
        for q in range(starts[clause], starts[clause + 1]):
            is_marked[literals[q] // 2] = literals[q] // 2 != denied
        clause = -1
        while at > 0 and clause < 0:
            at -= 1
            variable = trail[at] // 2
            if is_marked[variable]:
                is_marked[variable] = False
                clause = state.reason[variable]
        if clause < 0:
            break
    found[begin:n_found] = found[begin:n_found][::-1].copy()
    return found, n_found


def _compile() -> None:
    """Check that x, given x or y and x or not y, follows from them, and with not x a contradiction."""
    clauses = [(1, 2), (1, -2), (-1,), (1,)]
    Propagation(clauses, 3).follow([3, ~0], lambda: False)


KERNELS = Compiling("checks of proofs", _compile, __name__, _follow)
