"""The SAT solvers: how they are given clauses, and how they stop in time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

SOLVER, TITLE = "cadical195", "CaDiCaL 1.9.5"
SECOND_SOLVER, SECOND_TITLE = "glucose4", "Glucose 4"
_CONFLICTS = 100, 2_000  # between two checks of the clock, at least and at most
_LONG = 0.5  # seconds between them


@contextlib.contextmanager
def solver_with(
    name: str, clauses: Sequence[Sequence[int]], worker: ThreadPoolExecutor, **options: bool
) -> Iterator[Any]:
    from pysat.solvers import Solver

    solver = Solver(name=name, bootstrap_with=clauses, **options)
    try:
        yield solver
    finally:
        delete(solver, worker)


def delete(solver: Any, worker: ThreadPoolExecutor) -> None:
    """Delete a solver, after it has finished what it is computing."""
    worker.submit(solver.delete).result()


def answer_of(
    solver: Any, worker: ThreadPoolExecutor, should_stop: Callable[[], bool], assumptions: Sequence[int] = ()
) -> bool | None:
    """Whether the clauses of a solver are satisfiable; None if the time is up.

    Off the main thread, python-sat does not intercept Ctrl-C.
    """
    least, n_conflicts = _CONFLICTS
    while not should_stop():
        solver.conf_budget(n_conflicts)
        begin = time.monotonic()
        answer: bool | None = worker.submit(solver.solve_limited, list(assumptions)).result()
        if answer is not None:
            return answer
        if time.monotonic() - begin > _LONG:
            n_conflicts = max(least, n_conflicts // 2)
    return None
