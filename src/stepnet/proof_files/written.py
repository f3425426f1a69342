"""Written proofs: a directory that shows that no network of an architecture loses less; ``checked`` reads it.

proof.json        what is claimed, and for every gate the rows that order its neurons
rows.csv          the distinct training rows, with class and weight
network.json      a network that reaches the loss
subsystems.json   rows that no neuron gets right together, with multipliers that show it
gate-1.cnf, ...   for every gate: clauses that follow from the subsystems, the gate and a smaller loss
gate-1.drat, ...  steps from there to a contradiction
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

from stepnet.errors import InvalidInputError, NotAcceptedError, SolverError
from stepnet.model.gates import gates
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.proof_files.checked import FORMAT, VERSION, limit_below
from stepnet.proof_files.refutation import Refutation, refutation
from stepnet.provers.base import accepts_correct_sets, width_of
from stepnet.provers.oracle import Oracle
from stepnet.provers.pool import Pool
from stepnet.provers.row_weights import RowWeights
from stepnet.provers.sat import GateDecision
from stepnet.provers.sat_solver import TITLE
from stepnet.provers.subsystem import Subsystem
from stepnet.runtime.limits import Budget

_FOR_ALL = 0.5  # of the time: for the whole bound, before smaller ones
_Proofs = list[tuple[GateDecision, Refutation]]


def write_proof(
    directory: str | os.PathLike[str],
    problem: Problem,
    network: Network,
    bound: float,
    *,
    subsystems: Iterable[Subsystem] = (),
    budget: Budget | None = None,
    seed: int = 0,
) -> float:
    """Write a directory that shows that ``network`` has its loss and no network loses less than a bound.

    Subsystems that a fit has found make it faster; those that are missing are found here. Where the time is not enough
    for ``bound``, a smaller one is proven. The bound that is proven is returned.

    Raises
    ------
    NotAcceptedError
        If the problem is not one for correct sets.
    InvalidInputError
        If the directory is there already.
    SolverError
        If the time is up before anything is proven; nothing is written then.
    """
    require_provable(problem)
    target = _free(directory)
    with ThreadPoolExecutor(1) as worker:
        writing = _FolderWriting(problem, RowWeights.of(problem.dataset.weights, bound), Pool(subsystems), seed, worker)
        bound, proofs = writing.prove(bound, budget or Budget())
    pool, weights, heavy = writing.pool, writing.weights, writing.heavy
    used = _used(pool, proofs)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": problem.dataset.fingerprint,
        "hidden": list(problem.architecture.hidden),
        "loss": problem.evaluate(network),
        "bound": bound,
        "unit": float(weights.unit),
        "grain": weights.grain,
        "heavy": [rows for rows in heavy if any(proof.rests_on(one.formula.of_heavy(rows)) for one, proof in proofs)],
        "solver": TITLE,
        "gates": [
            {"weights": decision.gate.weights, "threshold": decision.gate.threshold, "ordering": decision.ordering}
            for decision, _ in proofs
        ],
    }
    texts = {
        "proof.json": json.dumps(content, indent=1),
        "rows.csv": _rows_text(problem.dataset),
        "network.json": json.dumps(network.to_dict(), indent=1),
        "subsystems.json": "[\n" + ",\n".join(json.dumps([one.rows, one.multipliers]) for one in used) + "\n]",
    }
    for number, (_, proof) in enumerate(proofs, 1):
        texts[f"gate-{number}.cnf"], texts[f"gate-{number}.drat"] = proof.to_dimacs(), proof.to_drat()
    _write_all(target, texts)
    return bound


class _TimeIsUpError(SolverError):
    """There was no time for a refutation."""


class _FolderWriting:
    """Refutations of all gates, for a bound or as much of it as there is time for."""

    def __init__(
        self, problem: Problem, weights: RowWeights, pool: Pool, seed: int, worker: ThreadPoolExecutor
    ) -> None:
        self.problem, self.weights, self.pool, self.worker = problem, weights, pool, worker
        self.heavy: list[list[int]] = []
        self.oracle = Oracle(problem.dataset.X, problem.dataset.y == 1, seed)

    def prove(self, bound: float, budget: Budget) -> tuple[float, _Proofs]:
        """Most of the time is for the bound itself, then for the largest one that climbing from below reaches."""
        units = self.weights.limit_below(bound) + 1
        try:
            return self._proven(units, budget.until(budget.elapsed + _FOR_ALL * budget.remaining))
        except _TimeIsUpError as error:
            units = self._climbed(units, budget.until(budget.elapsed + budget.remaining / 3))
            while units > 0:
                try:
                    return self._proven(units, budget.until(budget.elapsed + budget.remaining / 2))
                except _TimeIsUpError:
                    units = units * 2 // 3 if budget.stop_reason is None else 0
            raise error from None

    def _proven(self, units: int, budget: Budget) -> tuple[float, _Proofs]:
        bound = _float_below(units * self.weights.unit)
        limit = limit_below(bound, self.weights.unit)
        if limit < 0:
            return bound, []
        decisions = self._decisions(limit)
        return bound, [(decision, _refuted(decision, limit, budget, self.worker)) for decision in decisions]

    def _climbed(self, units: int, budget: Budget) -> int:
        """What all gates are known to lose at least, in units, when the time is up; less than ``units``."""
        decisions = list(self._decisions(units - 1))
        try:
            while True:
                least = min(decisions, key=lambda decision: decision.lower)
                if least.lower >= units or least.decide(least.lower, budget, lambda network: 0.0) is not False:
                    return min(least.lower, units - 1)
        finally:
            for decision in decisions:
                decision.close()

    def _decisions(self, limit: int) -> Iterable[GateDecision]:
        for gate in gates(width_of(self.problem)):
            yield GateDecision(self.problem, gate, self.weights, limit, self.oracle, self.pool, self.worker, self.heavy)


def require_provable(problem: Problem) -> None:
    """Raise if there is no way to write a proof of a problem."""
    answer = accepts_correct_sets(problem, "sat")
    if not answer:
        raise NotAcceptedError(f"there is no proof to write: {answer.reason}")


def _free(directory: str | os.PathLike[str]) -> Path:
    target = Path(directory)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInputError(f"{str(target)!r} is there already; give the name of a new directory.")
    if not target.resolve().parent.is_dir():
        raise InvalidInputError(f"the folder {str(target.parent)!r} does not exist; make it first.")
    return target


def _refuted(decision: GateDecision, limit: int, budget: Budget, worker: ThreadPoolExecutor) -> Refutation:
    """Find what subsystems are missing, then solve the clauses afresh and keep what the contradiction rests on."""
    try:
        answer = decision.decide(limit, budget, lambda network: 0.0)
        while isinstance(answer, Network) and decision.forbid(answer, limit):
            answer = decision.decide(limit, budget, lambda network: 0.0)
        if answer is False:
            formula = decision.formula
            clauses = [*formula.clauses, *([literal] for literal in formula.at_most(limit))]
            for subsystem in decision.pool.subsystems:
                clauses += formula.of_subsystem(subsystem.rows)
            clauses += [formula.of_heavy(rows) for rows in decision.heavy]
            proof = refutation(clauses, worker, lambda: budget.stop_reason is not None)
            if proof is not None:
                return proof
    finally:
        decision.close()
    if isinstance(answer, Network):
        raise SolverError(
            f"no proof was written: there is a network that loses {decision.problem.evaluate(answer):g}, so the bound "
            f"does not hold for all networks. Give that one to fit as its start."
        )
    if budget.stop_reason == "time":
        raise _TimeIsUpError(
            f"no proof was written: the time limit came before clauses were refuted, at gate {decision.gate.name}. "
            f"Losses of many rows take longest; give it more time."
        )
    if budget.stop_reason is not None:
        raise SolverError("no proof was written: it was interrupted.")
    raise SolverError(
        "no proof was written: some rows are too close to each other for neurons in floats to tell them apart, or a "
        "step of the solver could not be checked."
    )


def _used(pool: Pool, proofs: Sequence[tuple[GateDecision, Refutation]]) -> list[Subsystem]:
    """The subsystems whose clauses a proof rests on."""
    return [
        subsystem
        for subsystem in pool.subsystems
        if any(
            proof.rests_on(clause)
            for decision, proof in proofs
            for clause in decision.formula.of_subsystem(subsystem.rows)
        )
    ]


def _rows_text(dataset: Dataset) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(f"x{j + 1}" for j in range(dataset.n_features)), "class", "weight"])
    for row, code, weight in zip(dataset.X.tolist(), dataset.y.tolist(), dataset.weights.tolist(), strict=True):
        writer.writerow([*map(repr, row), code, repr(weight)])
    return text.getvalue()


def _write_all(target: Path, texts: dict[str, str]) -> None:
    """A directory that is there whole or not at all."""
    temporary = Path(tempfile.mkdtemp(dir=target.resolve().parent, prefix=f".{target.name}."))
    try:
        for name, text in texts.items():
            (temporary / name).write_text(text, encoding="utf-8")
        temporary.chmod(0o755)
        os.replace(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _float_below(value: Fraction) -> float:
    """The largest float that is not above."""
    rounded = float(value)
    return rounded if rounded <= value else math.nextafter(rounded, -math.inf)
