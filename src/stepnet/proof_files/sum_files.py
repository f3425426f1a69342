"""Sum files: for one neuron, constraints on sums of misclassified rows, and steps that contradict them.

subsystems.json   rows that no neuron gets right together, with multipliers that prove it
sums.opb          the constraints that follow from the limit, the limits on errors and the subsystems, in this order
sums.pbp          steps from these constraints to a contradiction, in the format of VeriPB
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from stepnet.certificate.verification import Check
from stepnet.errors import SolverFailure
from stepnet.model.gates import gates
from stepnet.model.network import Network
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.kind import BetterNetworkError, Kind, Parts, Task
from stepnet.proof_files.question import CheckError, Watch
from stepnet.proof_files.subsystem_files import SUBSYSTEMS, check_subsystems, read_subsystems, subsystems_text
from stepnet.proof_files.sums import (
    HEADER,
    NOTHING,
    Sum,
    check_steps,
    earlier,
    given_sums,
    opb_text,
    renumbered,
)
from stepnet.provers.counting_solver import PACKAGE, CountingSolver, title
from stepnet.provers.learning import learn
from stepnet.provers.oracle import Oracle
from stepnet.runtime.limits import Budget

GIVEN, STEPS = "sums.opb", "sums.pbp"
# Without what it would log as steps that are to be searched for.
_OPTIONS = ("inp-probing", "0", "inp-atmostone", "0", "proof-assumptions", "0")
_MOST_BYTES = 2**27  # of a log: longer ones take too long to read


class Sums(Kind):
    """Additions and divisions of constraints that contradict each other."""

    name = "sums"

    def accepts(self, task: Task) -> bool:
        is_installed = importlib.util.find_spec(PACKAGE) is not None
        return is_installed and task.question.form is None and task.question.width == 1

    def write(self, task: Task, budget: Budget) -> Parts | None:
        """Contradict the sums that are known; if that fails, look for missing subsystems, and try again."""
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(SolverFailure):
            log = Path(folder, "log")
            if _is_logged(task, log, budget) or (_is_refuted(task, budget) and _is_logged(task, log, budget)):
                return _parts(
                    task, _Log(log.with_suffix(".formula").read_text(), log.with_suffix(".proof").read_text())
                )
        return None

    def n_checks(self, claim: Claim) -> int:
        return 3

    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        subsystems = read_subsystems(claim)
        yield check_subsystems(claim, subsystems, watch)
        given = given_sums(claim.question, [one.rows for one in subsystems])
        follow = claim.question.width == 1 and claim.text(GIVEN) == opb_text(given, claim.dataset.n_rows)
        found = "each follows" if follow else "they are not those that follow"
        yield Check(f"{len(given):,} sums", follow, f"{found} from the limit or a subsystem, for one neuron")
        if follow:
            yield _check_steps(claim, given, watch)


def _check_steps(claim: Claim, given: Sequence[Sum], watch: Watch) -> Check:
    begin, lines = time.monotonic(), claim.text(STEPS).splitlines()
    words = f"contradiction in {len(lines) - len(given) - 3:,} calculations"
    try:
        check_steps(given, lines, watch.must_stop, watch.tell)
    except CheckError as error:
        return Check(words, False, str(error))
    except TimeoutError:
        return Check(words, None, "the time is up")
    seconds = time.monotonic() - begin
    return Check(words, True, f"each repeated in whole numbers by stepnet's checker ({seconds:.1f} s)")


def _is_logged(task: Task, log: Path, budget: Budget) -> bool:
    """Whether a solver contradicts the sums so far, and logs how; it does not log sums that are added later."""
    steps = log.with_suffix(".proof")

    def must_stop() -> bool:
        return budget.is_used_up() or (steps.exists() and steps.stat().st_size > _MOST_BYTES)

    solver = CountingSolver("proof-log", str(log), *_OPTIONS)
    try:
        _add(solver, given_sums(task.question, [one.rows for one in task.pool.subsystems]))
        is_refuted = solver.answer(must_stop) is False
        if is_refuted:
            solver.finish()
        return is_refuted
    finally:
        solver.close()


def _is_refuted(task: Task, budget: Budget) -> bool:
    """Whether a solver contradicts the sums, to which subsystems are added as long as they are missing."""
    data, gate, pool = task.problem.dataset, gates(1)[0], task.pool
    oracle, solver = Oracle(data.X, np.asarray(data.y == 1), task.seed), CountingSolver()
    try:
        sums = given_sums(task.question, [one.rows for one in pool.subsystems])
        while True:
            _add(solver, sums)
            answer, n_told = solver.answer(budget.is_used_up), len(pool)
            if not answer:
                return answer is False
            right = np.array(solver.values) == 0
            network, n_new = learn(task.problem, gate, oracle, pool, right[:, None], budget.is_used_up)
            if not n_new:
                _raise_if_better(task, network)
                return False
            sums = given_sums(task.question, [one.rows for one in pool.subsystems[n_told:]])[-n_new:]
    finally:
        solver.close()


def _add(solver: CountingSolver, sums: Sequence[Sum]) -> None:
    for one in sums:
        solver.add(list(zip(one.coefficients.values(), one.coefficients, strict=True)), one.bound)


def _raise_if_better(task: Task, network: Network | None) -> None:
    loss = math.inf if network is None else task.problem.price(network)
    if loss <= task.weights.loss_of(task.question.limit):
        raise BetterNetworkError(loss)


class _Log:
    """What the solver wrote: constraints that it was given, and steps, by their numbers; and which is the last one."""

    def __init__(self, formula: str, proof: str) -> None:
        given = [_key(line) for line in formula.splitlines() if not line.startswith(("*", "min:"))]
        self.given: dict[int, _Key] = {}
        self.steps: dict[int, str] = {}
        self.last = number = 0
        for line in proof.splitlines():
            command, _, rest = line.partition(" ")
            number += command in ("l", "pol", "rup")
            if command == "l":
                self.given[number] = given[int(rest) - 1]
            elif command == "pol":
                self.steps[number] = line.strip()
            elif command == "c":
                self.last = int(rest)
            elif line.strip() not in (HEADER, NOTHING):
                raise ValueError(f"{line[:60]!r} is no step that is known here")

    def needed(self) -> list[int]:
        """The numbers on which the last one depends, in order."""
        found = {self.last}
        for number in sorted(self.steps, reverse=True):
            if number in found:
                found.update(earlier(self.steps[number]))
        return sorted(found)


_Key = tuple[frozenset[tuple[str, ...]], str]


def _key(line: str) -> _Key:
    """A constraint in the format OPB, whatever the order of its terms."""
    *terms, _, degree, _ = line.split()
    return frozenset(zip(terms[::2], terms[1::2], strict=True)), degree


def _parts(task: Task, log: _Log) -> Parts | None:
    """The steps on which the contradiction depends; None if a constraint of the solver does not follow."""
    known = given_sums(task.question, [one.rows for one in task.pool.subsystems])
    n_fixed = len(known) - len(task.pool)  # the limits, which all proofs have
    places = {_key(str(one.saturated())): place for place, one in enumerate(known)}
    needed = log.needed()
    uses = {number: places.get(log.given[number]) for number in needed if number in log.given}
    if None in uses.values():
        return None
    kept = sorted({*range(n_fixed), *(place for place in uses.values() if place is not None)})
    numbers = {1: 1} | {number: 2 + kept.index(place) for number, place in uses.items() if place is not None}
    steps = [number for number in needed if number in log.steps]
    numbers |= {number: 2 + len(kept) + place for place, number in enumerate(steps)}
    lines = [HEADER, NOTHING, *(f"l {1 + place}" for place in range(len(kept)))]
    lines += [renumbered(log.steps[number], numbers) for number in steps]
    lines.append(f"c {numbers[log.last]}")
    given = [known[place] for place in kept]
    texts = {
        SUBSYSTEMS: subsystems_text([task.pool.subsystems[place - n_fixed] for place in kept[n_fixed:]]),
        GIVEN: opb_text(given, task.problem.dataset.n_rows),
        STEPS: "\n".join(lines) + "\n",
    }
    return Parts({"solver": title()}, texts)
