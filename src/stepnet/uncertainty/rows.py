"""Attacks on many rows: quick ones on all of them first, then each for its share of the time, in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
) -> list[Attack]:
    """The attack on each row; the last column of ``keys`` has the codes of the rows' classes."""
    found = [Attack(0.0, None, np.inf, False) for _ in keys]
    n_at_once = 1 if n_jobs == 1 else max(1, min(_AT_ONCE, len(keys) // (4 * int(effective_n_jobs(n_jobs)))))
    shown = 0.0
    for stage in ("quick attacks", "exact search"):
        todo = [number for number, one in enumerate(found) if not one.is_complete]
        parts = [todo[first : first + n_at_once] for first in range(0, len(todo), n_at_once)]
        is_quick, n_done = stage == "quick attacks", len(keys) - len(todo)
        tasks = _tasks(adversary, keys, found, radius, budget, n_jobs, parts, is_quick)
        # Quick attacks take less time than it takes to send them to processes.
        for numbers, results in as_finished(_attack, tasks, 1 if is_quick else n_jobs, prefer="processes"):
            for number, one in zip(numbers, results, strict=True):
                found[number] = one.joined(found[number])
            n_done += len(numbers)
            if budget.elapsed > shown + _SILENCE or n_done == len(keys):
                shown = budget.elapsed
                text = f"{stage}: {sum(one.is_complete for one in found)} of {len(keys)} rows decided"
                show(Progress(shown, np.inf, 0.0, 1.0, text, share=n_done / len(keys)))
    return found


def _tasks(
    adversary: Adversary | DiscreteAdversary,
    keys: Floats,
    found: list[Attack],
    radius: float | None,
    budget: Budget,
    n_jobs: int | None,
    parts: list[list[int]],
    is_quick: bool,
) -> Iterator[tuple[Adversary | DiscreteAdversary, list[int], Floats, list[list[Floats]], float | None, Budget, bool]]:
    """Made when they begin, so that each has its share of the time that is left."""
    left = sum(map(len, parts))
    for part in parts:
        if budget.is_used_up():
            return
        share = budget.remaining if is_quick else budget.remaining * int(effective_n_jobs(n_jobs)) / left
        hints = [[] if is_quick else _hints(adversary, keys, found, number) for number in part]
        yield adversary, part, keys[part], hints, radius, budget.lasting(min(share, budget.remaining)), is_quick
        left -= len(part)


def _attack(
    adversary: Adversary | DiscreteAdversary,
    numbers: list[int],
    keys: Floats,
    hints: list[list[Floats]],
    radius: float | None,
    budget: Budget,
    is_quick: bool,
) -> tuple[list[int], list[Attack]]:
    results, seconds = [], budget.remaining
    with budget.catching_interrupts("keep"):  # in another process, Ctrl-C comes here too
        for key, points in zip(keys, hints, strict=True):
            own = budget.lasting(seconds / len(keys))
            one = adversary.attack(
                key[:-1], int(key[-1]), radius, own.is_used_up, hints=points, most_nodes=0 if is_quick else None
            )
            results.append(one)
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
