"""Clause files: for every gate of a width, clauses that follow from the rows, and steps to their contradiction.

subsystems.json   rows that no neuron gets right together, with multipliers that prove it
gate-1.cnf, ...   for every gate: clauses that follow from the subsystems, the gate, the limits and a smaller loss
gate-1.drat, ...  steps from these clauses to a contradiction
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stepnet.certificate.verification import Check
from stepnet.errors import SolverError
from stepnet.model.gates import Gate, gates
from stepnet.model.network import Network
from stepnet.proof_files.claim import Claim, integer
from stepnet.proof_files.kind import BetterNetworkError, Kind, Parts, Task
from stepnet.proof_files.question import Watch
from stepnet.proof_files.refutation import (
    TOO_LARGE,
    Literals,
    Refutation,
    is_refuted,
    passes_checker,
    refutation,
    why_not_checked,
)
from stepnet.proof_files.subsystem_files import SUBSYSTEMS, check_subsystems, read_subsystems, subsystems_text
from stepnet.provers.base import width_of
from stepnet.provers.clauses import Formula
from stepnet.provers.oracle import Oracle
from stepnet.provers.pool import Pool
from stepnet.provers.sat import GateDecision
from stepnet.provers.sat_solver import SECOND_TITLE, TITLE
from stepnet.provers.subsystem import Subsystem
from stepnet.runtime.limits import Budget

_Proofs = list[tuple[GateDecision, Refutation]]


class Clauses(Kind):
    """Refutations of clauses, one for every gate."""

    name = "clauses"

    def accepts(self, task: Task) -> bool:
        return task.question.form is None

    def write(self, task: Task, budget: Budget) -> Parts | None:
        heavy: list[list[int]] = []
        proofs: _Proofs = []
        for decision in _decisions(task, task.question.limit, heavy):
            proof = _refuted(decision, task.question.limit, budget, task.worker)
            if proof is None:
                return None
            proofs.append((decision, proof))
        return _parts(task, proofs, heavy)

    def climbed(self, task: Task, budget: Budget) -> int:
        """The bound, in units, that holds for all gates when the time is up; less than that of the task."""
        decisions = list(_decisions(task, task.question.limit, []))
        try:
            while True:
                least = min(decisions, key=lambda decision: decision.lower)
                if least.lower >= task.units or least.decide(least.lower, budget, _ignored) is not False:
                    return min(least.lower, task.units - 1)
        finally:
            for decision in decisions:
                decision.close()

    def n_checks(self, claim: Claim) -> int:
        """A gate whose clauses do not follow has one check instead of two."""
        return 2 + 2 * len(claim.content["gates"])

    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        yield from _Checking(claim, watch).checks()


def _decisions(task: Task, limit: int, heavy: list[list[int]]) -> Iterator[GateDecision]:
    data = task.problem.dataset
    oracle = Oracle(data.X, data.y == 1, task.seed)
    for gate in gates(width_of(task.problem)):
        yield GateDecision(task.problem, gate, task.weights, limit, oracle, task.pool, task.worker, heavy)


def _refuted(decision: GateDecision, limit: int, budget: Budget, worker: ThreadPoolExecutor) -> Refutation | None:
    """Find missing subsystems, then solve the clauses again and keep what the contradiction depends on.

    None if the time is up.
    """
    try:
        while isinstance(answer := decision.decide(limit, budget, _ignored), Network):
            if not decision.forbid(answer, limit):
                break
        if answer is False:
            formula = decision.formula
            clauses = [*formula.clauses, *([literal] for literal in formula.at_most(limit))]
            for subsystem in decision.pool.subsystems:
                clauses += formula.of_subsystem(subsystem.rows)
            clauses += [formula.of_heavy(rows) for rows in (*decision.heavy, *decision.impossible)]
            proof = refutation(clauses, worker, budget.is_used_up)
            if proof is not None:
                return proof
    finally:
        decision.close()
    if isinstance(answer, Network):
        raise BetterNetworkError(decision.problem.evaluate(answer))
    if budget.stop_reason is None:
        raise SolverError(
            "no proof was written: some rows are too close to each other for neurons in floats to separate them, or a "
            "step of the solver could not be checked."
        )
    return None


def _ignored(network: Network) -> float:
    """Networks that are found on the way are not needed."""
    return math.inf


def _parts(task: Task, proofs: _Proofs, heavy: list[list[int]]) -> Parts:
    impossible = [rows for decision, _ in proofs for rows in decision.impossible]
    used = _used(task.pool, proofs)
    entries = {
        "grain": task.weights.grain,
        "heavy": [rows for rows in heavy if _is_needed(rows, proofs)],
        "impossible": [rows for rows in impossible if _is_needed(rows, proofs)],
        "solver": TITLE,
        "gates": [
            {"weights": decision.gate.weights, "threshold": decision.gate.threshold, "ordering": decision.ordering}
            for decision, _ in proofs
        ],
    }
    texts = {SUBSYSTEMS: subsystems_text(used)}
    for number, (_, proof) in enumerate(proofs, 1):
        texts[f"gate-{number}.cnf"], texts[f"gate-{number}.drat"] = proof.to_dimacs(), proof.to_drat()
    return Parts(entries, texts)


def _is_needed(rows: list[int], proofs: _Proofs) -> bool:
    return any(proof.depends_on(one.formula.of_heavy(rows)) for one, proof in proofs)


def _used(pool: Pool, proofs: Sequence[tuple[GateDecision, Refutation]]) -> list[Subsystem]:
    """The subsystems on whose clauses a proof depends."""

    def is_used(subsystem: Subsystem) -> bool:
        clauses = ((proof, one.formula.of_subsystem(subsystem.rows)) for one, proof in proofs)
        return any(proof.depends_on(clause) for proof, of_gate in clauses for clause in of_gate)

    return list(filter(is_used, pool.subsystems))


class _Checking:
    """The files of one proof."""

    def __init__(self, claim: Claim, watch: Watch) -> None:
        self.claim, self.watch, self.question = claim, watch, claim.question
        content = claim.content
        self.grain = integer(content.get("grain", 0))
        if self.grain < 0:
            raise ValueError("the grain must not be negative")
        self.heavy, self.impossible = (
            [tuple(map(integer, rows)) for rows in content.get(name, [])] for name in ("heavy", "impossible")
        )
        self.subsystems = read_subsystems(claim)

    def checks(self) -> Iterator[Check]:
        yield check_subsystems(self.claim, self.subsystems, self.watch)
        yield self._gates()
        for number, entry in enumerate(self.claim.content["gates"], 1):
            yield from self._refutation(number, entry)

    def _gates(self) -> Check:
        """All gates are there, and sets of rows that are ruled out are too heavy, or break a limit."""
        gates_of_width, sets = gates(self.question.width), [*self.heavy, *self.impossible]
        listed = [(tuple(entry["weights"]), entry["threshold"]) for entry in self.claim.content["gates"]]
        needed = [(gate.weights, gate.threshold) for gate in gates_of_width]
        claim = f"{len(listed)} gates of {self.question.width} neurons"
        for rows in sets:
            if len(set(rows)) != len(rows) or not all(0 <= row < self.claim.dataset.n_rows for row in rows):
                raise ValueError("sets of heavy rows must consist of different rows")
        for rows in self.heavy:
            if sum(self.question.weights[row] for row in rows) <= self.question.limit:
                return Check(claim, False, f"rows {rows} are too light")
        for rows in self.impossible:
            if all(sum(one.coefficients[row] for row in rows) <= one.most for one in self.question.limits):
                return Check(claim, False, f"rows {rows} break no limit")
        words = f"; {len(sets)} sets of rows cannot all be wrong" if sets else ""
        found = f"up to order and complement of neurons there are {len(needed)}{words}"
        return Check(claim, sorted(listed) == sorted(needed), found)

    def _refutation(self, number: int, entry: dict[str, Any]) -> Iterator[Check]:
        gate = Gate(tuple(map(integer, entry["weights"])), integer(entry["threshold"]))
        proof = Refutation.from_texts(self.claim.text(f"gate-{number}.cnf"), self.claim.text(f"gate-{number}.drat"))
        formula = self._formula(gate, entry["ordering"])
        strange = self._strange(formula, proof)
        first = f"{' '.join(map(str, strange[0]))} does not follow" if strange else "each follows"
        claim = f"gate {number}, {gate.name}: {len(proof.clauses):,} clauses"
        yield Check(claim, not strange, f"{first} from the gate, the limit or a subsystem")
        if not strange:
            yield self._steps(number, gate, proof)

    def _formula(self, gate: Gate, ordering: list[Any]) -> Formula:
        codes, question = self.claim.dataset.y.tolist(), self.question
        rows = [integer(row) for row in ordering]
        if len(set(rows)) != len(rows) or not all(0 <= row < len(codes) for row in rows):
            raise ValueError("the rows that order neurons must be different rows")
        limits = [(one.coefficients, one.most) for one in question.limits]
        return Formula(gate, codes, question.weights, question.limit, rows, self.grain, limits)

    def _strange(self, formula: Formula, proof: Refutation) -> list[Literals]:
        """Clauses that do not follow from the gate, the limit or a subsystem, and steps with unknown variables."""
        known = {tuple(sorted(clause)) for clause in formula.clauses}
        known |= {(literal,) for literal in formula.at_most(self.question.limit)}
        known |= {tuple(sorted(formula.of_heavy(rows))) for rows in (*self.heavy, *self.impossible)}
        for subsystem in self.subsystems:
            known |= {tuple(sorted(clause)) for clause in formula.of_subsystem(subsystem.rows)}
        strange = [clause for clause in proof.clauses if tuple(sorted(clause)) not in known]
        return strange + [step.clause for step in proof.steps if any(abs(one) > formula.top for one in step.clause)]

    def _steps(self, number: int, gate: Gate, proof: Refutation) -> Check:
        n_steps = sum(not step.is_deletion for step in proof.steps)
        claim, watch = f"gate {number}, {gate.name}: contradiction in {n_steps:,} steps", self.watch
        holds, seconds = _timed(lambda: proof.is_true(watch.must_stop, watch.tell))
        if not holds:
            return Check(claim, None if watch.must_stop() else False, "not every step follows by propagation")
        found = f"each follows by propagation of stepnet ({seconds:.1f} s)"
        if not (reason := why_not_checked(proof)):
            agrees, seconds = _timed(lambda: passes_checker(proof, max(1.0, watch.budget.remaining)))
            if agrees is not None:
                verdict = "agrees" if agrees else "rejects it"
                return Check(claim, agrees, f"{found}; the verified checker drup {verdict} ({seconds:.1f} s)")
        with ThreadPoolExecutor(1) as worker:
            again, seconds = _timed(lambda: is_refuted(proof.clauses, worker, watch.must_stop))
        if again is None:
            return Check(claim, None, f"{found}; {SECOND_TITLE} had no time to repeat it")
        verdict = "refutes the clauses again" if again else "finds no contradiction"
        return Check(claim, again, f"{found}; {reason or TOO_LARGE}, so {SECOND_TITLE} {verdict} ({seconds:.1f} s)")


def _timed(question: Callable[[], bool | None]) -> tuple[bool | None, float]:
    begin = time.monotonic()
    return question(), time.monotonic() - begin
