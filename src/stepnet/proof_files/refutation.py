"""Refutation: clauses contradict each other, in steps that anyone can check.

A SAT solver records the clauses it learns until they contradict each other (a DRAT proof). Each is checked here, and
those on which the contradiction does not depend are left out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from stepnet.proof_files.propagation import Propagation
from stepnet.provers.clauses import Clause
from stepnet.provers.sat_solver import SECOND_SOLVER, SOLVER, answer_of, solver_with

CHECKER = "drup"
TOO_LARGE = f"too large for {CHECKER}"
_DRUP = 1e7  # steps × literals that the verified checker processes within about a minute
_PATIENCE = 60.0  # seconds that it gets at most

Literals = tuple[int, ...]


class Step(NamedTuple):
    """A clause that follows by propagation from those before it, or one that is no longer needed."""

    clause: Literals
    is_deletion: bool = False


@dataclass(frozen=True)
class Refutation:
    """Clauses, and steps to the empty one."""

    clauses: tuple[Literals, ...]
    steps: tuple[Step, ...]

    @property
    def size(self) -> int:
        """The work of a simple checker: steps × literals of the clauses."""
        return sum(not step.is_deletion for step in self.steps) * sum(map(len, self.clauses))

    def depends_on(self, clause: Sequence[int]) -> bool:
        return tuple(clause) in self._set

    @cached_property
    def _set(self) -> frozenset[Literals]:
        return frozenset(self.clauses)

    def is_true(
        self, should_stop: Callable[[], bool] = lambda: False, tell: Callable[[float], None] = lambda share: None
    ) -> bool:
        """Whether every step follows and the last one is a contradiction; False, too, if the time is up."""
        everything, events = _events(self.clauses, self.steps)
        depends_on = Propagation(everything, len(self.clauses)).follow(events, should_stop, tell)
        return depends_on is not None and bool(self.steps) and not self.steps[-1].clause

    def to_dimacs(self) -> str:
        """The clauses in the DIMACS format."""
        top = max((abs(literal) for clause in self.clauses for literal in clause), default=0)
        return f"p cnf {top} {len(self.clauses)}\n{''.join(map(_line, self.clauses))}"

    def to_drat(self) -> str:
        """The steps in the DRAT format."""
        return "".join(("d " if step.is_deletion else "") + _line(step.clause) for step in self.steps)

    @classmethod
    def from_texts(cls, dimacs: str, drat: str) -> Refutation:
        """Read both; raises ValueError if one is not in its format."""
        return cls(
            tuple(_literals(line) for line in dimacs.splitlines() if line.strip() and line[0] not in "cp"),
            tuple(_step(line) for line in drat.splitlines() if line.strip()),
        )


def _line(clause: Literals) -> str:
    return f"{' '.join(map(str, (*clause, 0)))}\n"


def _step(line: str) -> Step:
    return Step(_literals(line.removeprefix("d")), line.startswith("d"))


def _literals(line: str) -> Literals:
    *literals, end = map(int, line.split())
    if end or 0 in literals:
        raise ValueError(f"{line[:60]!r} is not a clause that ends with 0")
    return tuple(literals)


def refutation(
    clauses: Sequence[Clause], worker: ThreadPoolExecutor, should_stop: Callable[[], bool] = lambda: False
) -> Refutation | None:
    """Solve the clauses; None if they do not contradict each other, or the time is up, or a step cannot be checked."""
    given = [tuple(clause) for clause in clauses]
    with solver_with(SOLVER, given, worker, with_proof=True) as solver:
        lines = solver.get_proof() if answer_of(solver, worker, should_stop) is False else None
    return None if lines is None else _trimmed(given, lines, should_stop)


def is_refuted(
    clauses: Sequence[Literals], worker: ThreadPoolExecutor, should_stop: Callable[[], bool] = lambda: False
) -> bool | None:
    """Whether a second solver finds a contradiction; None if the time is up."""
    with solver_with(SECOND_SOLVER, clauses, worker) as solver:
        answer = answer_of(solver, worker, should_stop)
    return None if answer is None else not answer


def why_not_checked(proof: Refutation) -> str:
    """Why the verified checker cannot check the proof within about a minute; nothing if it can."""
    if find_spec(CHECKER) is None:
        return f"{CHECKER} is not installed ('stepnet[check]')"
    return TOO_LARGE if proof.size > _DRUP else ""


def passes_checker(proof: Refutation, time_limit: float) -> bool | None:
    """Whether the verified checker, in its own process, accepts the proof; None if it takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        cnf, drat = Path(folder, "clauses.cnf"), Path(folder, "steps.drat")
        cnf.write_text(proof.to_dimacs())
        drat.write_text(proof.to_drat())
        # The steps end with the empty clause, so a proof of less is rejected.
        code = (
            "import sys, drup\n"
            "outcome = drup.check_proof_from_files(*sys.argv[1:]).outcome\n"
            "sys.exit(10 if outcome is drup.Outcome.VALID else 20)"
        )
        try:
            command = [sys.executable, "-c", code, str(cnf), str(drat)]
            done = subprocess.run(command, timeout=min(time_limit, _PATIENCE), capture_output=True, check=False)
        except subprocess.TimeoutExpired:
            return None
    return done.returncode == 10


def _trimmed(clauses: Sequence[Literals], lines: Sequence[str], should_stop: Callable[[], bool]) -> Refutation | None:
    """What the contradiction depends on; None if a step does not follow by propagation."""
    everything, events = _events(clauses, [_step(line) for line in lines])
    depends_on = Propagation(everything, len(clauses)).follow(events, should_stop)
    if depends_on is None:
        return None
    needed = set(depends_on[-1])
    last_uses: dict[int, int] = dict.fromkeys(needed, -1)  # the step after which a clause can be deleted
    for place in range(len(everything) - 1, len(clauses) - 1, -1):
        if place in needed:
            needed.update(depends_on[place])
            for one in depends_on[place]:
                last_uses.setdefault(one, place)
    done: dict[int, list[int]] = {}
    for place, user in last_uses.items():
        done.setdefault(user, []).append(place)
    steps: list[Step] = []
    for place in range(len(clauses), len(everything)):
        if place in needed:
            steps.append(Step(everything[place]))
            steps += [Step(everything[one], is_deletion=True) for one in done.get(place, [])]
    return Refutation(tuple(clause for place, clause in enumerate(clauses) if place in needed), (*steps, Step(())))


def _events(clauses: Sequence[Literals], steps: Sequence[Step]) -> tuple[list[Literals], list[int]]:
    """All clauses, and for each step the index of the clause that it adds, or ~ that of the one it deletes."""
    everything = list(clauses)
    places: dict[Literals, list[int]] = {}
    for place, clause in enumerate(everything):
        places.setdefault(tuple(sorted(clause)), []).append(place)
    events: list[int] = []
    for clause, is_deletion in steps:
        key = tuple(sorted(clause))
        if not is_deletion:
            places.setdefault(key, []).append(len(everything))
            events.append(len(everything))
            everything.append(clause)
        elif places.get(key):
            events.append(~places[key].pop())
    return everything, events
