"""Attacks on many rows: quick ones on all of them first, then each for its share of the time, in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from stepnet.model.arithmetic import Floats
from stepnet.runtime.limits import Budget
from stepnet.runtime.parallel import as_finished
from stepnet.runtime.progress import Progress
from stepnet.uncertainty.adversary import Adversary, Attack
from stepnet.uncertainty.discrete import DiscreteAdversary

_HINTS = 3  # points that changed the answers of other rows, the nearest ones, tried on a row
_MOST_HINTS = 200  # points of other rows that are looked at
_SILENCE = 1.0  # seconds between two reports
_AT_ONCE = 8  # rows of one task, at most


def attack_rows(
    adversary: Adversary | DiscreteAdversary,
    keys: Floats,
    radius: float | None,
    budget: Budget,
    n_jobs: int | None,
    show: Callable[[Progress], object],
) -> tuple[list[Attack], str | None]:
    """The attack on each row, and what ended the search early; the last column of ``keys`` has the rows' classes."""
    work = _Work(adversary, keys, radius, budget, n_jobs, show)
    work.attempt("quick attacks", range(len(keys)), is_quick=True)
    todo = [number for number, one in enumerate(work.found) if not one.is_complete]
    late = work.attempt("exact search", todo)
    while late and not budget.is_used_up():  # other rows have left them some of their time
        late = work.attempt("exact search", late)
    return work.found, budget.stop_reason or ("time" if late else None)


@dataclass
class _Work:
    """The rows of one call, and what is known about them."""

    adversary: Adversary | DiscreteAdversary
    keys: Floats
    radius: float | None
    budget: Budget
    n_jobs: int | None
    show: Callable[[Progress], object]
    found: list[Attack] = field(init=False)
    shown: float = 0.0

    def __post_init__(self) -> None:
        self.found = [Attack(0.0, None, np.inf, False) for _ in self.keys]

    def attempt(self, stage: str, todo: Sequence[int], *, is_quick: bool = False) -> list[int]:
        """Attack these rows; those that used up their time are returned."""
        n_jobs = 1 if is_quick else self.n_jobs  # quick attacks take less time than sending them elsewhere
        n_at_once = 1 if n_jobs == 1 else max(1, min(_AT_ONCE, len(todo) // (4 * int(effective_n_jobs(n_jobs)))))
        parts = [todo[first : first + n_at_once] for first in range(0, len(todo), n_at_once)]
        n_done, late = len(self.keys) - len(todo), list[int]()
        for numbers, results in as_finished(_attack, self._tasks(parts, n_jobs, is_quick), n_jobs, prefer="processes"):
            for number, (one, is_late) in zip(numbers, results, strict=True):
                self.found[number] = one.joined(self.found[number])
                if is_late and not self.found[number].is_complete:
                    late.append(number)
            n_done += len(numbers)
            if self.budget.elapsed > self.shown + _SILENCE or n_done == len(self.keys):
                self.shown = self.budget.elapsed
                text = f"{stage}: {sum(one.is_complete for one in self.found)} of {len(self.keys)} rows decided"
                self.show(Progress(self.shown, np.inf, 0.0, 1.0, text, share=n_done / len(self.keys)))
        return sorted(late)

    def _tasks(self, parts: Sequence[Sequence[int]], n_jobs: int | None, is_quick: bool) -> Iterator[tuple[Any, ...]]:
        """Made when they begin, so that each has its share of the time that is left."""
        left = sum(map(len, parts))
        for part in parts:
            if self.budget.is_used_up():
                return
            remaining = self.budget.remaining
            share = remaining if is_quick else min(remaining, remaining * int(effective_n_jobs(n_jobs)) / left)
            hints = [[] if is_quick else _hints(self.adversary, self.keys, self.found, number) for number in part]
            keys = self.keys[list(part)]
            yield self.adversary, list(part), keys, hints, self.radius, self.budget.lasting(share), is_quick
            left -= len(part)


def _attack(
    adversary: Adversary | DiscreteAdversary,
    numbers: list[int],
    keys: Floats,
    hints: list[list[Floats]],
    radius: float | None,
    budget: Budget,
    is_quick: bool,
) -> tuple[list[int], list[tuple[Attack, bool]]]:
    results, seconds = [], budget.remaining
    with budget.catching_interrupts("keep"):  # in another process, Ctrl-C comes here too
        for key, points in zip(keys, hints, strict=True):
            own = budget.lasting(seconds / len(keys))
            one = adversary.attack(
                key[:-1], int(key[-1]), radius, own.is_used_up, hints=points, most_nodes=0 if is_quick else None
            )
            results.append((one, own.is_used_up()))
    return numbers, results


def _hints(adversary: Adversary | DiscreteAdversary, keys: Floats, found: list[Attack], number: int) -> list[Floats]:
    """Points of other rows with another answer than this row's class, the nearest first."""
    row, code = keys[number, :-1], keys[number, -1]
    others = [one.point for key, one in zip(keys, found, strict=True) if one.point is not None and key[-1] == code]
    others = others[:: max(1, len(others) // _MOST_HINTS)]
    if not others:
        return []
    sizes = adversary.ball.size(np.array(others) - row)
    own = found[number].size
    return [others[k] for k in np.argsort(sizes, kind="stable")[: _HINTS + 1] if sizes[k] < 4 * own and sizes[k] != own]
