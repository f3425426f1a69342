"""Turns: provers that work on one problem in turns, share its loss and subsystems, and each raise its bound.

The first one resumes where its last turn ended, and says how long it still takes. The others begin again in each turn,
with the subsystems that are known by then, so their turns are few and long: a quarter of what the first one still
needs, or four times the turn before. One whose cost is known beforehand waits until a quarter of it is spent, and is
then given all the time it needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from stepnet.methods.plan import Way
from stepnet.methods.run import Run
from stepnet.provers.base import Prover, width_of

_FIRST = 1.0  # seconds
_LONGER = 4.0  # times as long as the turn before
_TRIAL = 0.25  # of the time that another prover still needs, or takes
_MOST, _HALF = 0.2, 0.5  # of what is left
_WORTHWHILE = 2.0  # times the longest turn so far, for one that begins again
_OVERTIME = 3.0  # times the cost that was estimated


def take_turns(run: Run, ways: list[Way], prove: Callable[[Run, Prover], None]) -> None:
    """Work in turns until loss and bound meet, the time is up, or nobody has anything left to try."""
    begin, seconds, left = run.budget.elapsed, _FIRST, list(ways)
    longest: dict[str, float] = {}
    while left:
        expected = math.inf
        for way in list(left):
            assert way.prover is not None
            turn = _turn(run, way.prover, seconds, expected, run.budget.elapsed - begin)
            if not way.prover.resumes and turn < _WORTHWHILE * longest.get(way.name, 0.0):
                turn = 0.0
            if turn == 0.0 and len(left) > 1:
                continue
            if way.name not in longest:
                run.note(*way.note)
            longest[way.name] = turn
            has_time = _prove_within(run, way.prover, math.inf if len(left) == 1 else turn, prove)
            run.journal.reach(run.budget.elapsed, way.name, run.loss, min(run.bound.value, run.loss))
            if run.is_over:
                return
            if has_time or math.isfinite(way.prover.seconds(run.problem)):
                left.remove(way)
            expected = min(expected, way.prover.seconds_left(run) or math.inf)
        seconds *= _LONGER


def _prove_within(run: Run, prover: Prover, seconds: float, prove: Callable[[Run, Prover], None]) -> bool:
    """One turn; whether there was time left at its end."""
    with run.within(1.0, seconds):
        prove(run, prover)
        return not run.must_stop()


def _turn(run: Run, prover: Prover, seconds: float, expected: float, spent: float) -> float:
    """How long the next turn of a prover is; 0 if its time has not come."""
    cost = prover.seconds(run.problem)
    if math.isfinite(cost):
        # How long choices of sets for several neurons take is not part of the estimate.
        longest = max(_OVERTIME * cost, _HALF * run.budget.remaining if width_of(run.problem) > 1 else 0.0)
        return longest if spent >= _TRIAL * cost else 0.0
    if prover.resumes or math.isinf(expected):
        return seconds
    return max(_FIRST, min(_TRIAL * expected, _MOST * run.budget.remaining))
