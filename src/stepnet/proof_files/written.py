"""Written proofs: a directory which proves that no network of an architecture loses less; ``checked`` reads it.

proof.json        the claim, and for every gate the rows that order its neurons
rows.csv          the distinct training rows, with class and weight
network.json      a network that reaches the loss
subsystems.json   rows that no neuron gets right together, with multipliers that prove it
gate-1.cnf, ...   for every gate: clauses that follow from the subsystems, the gate and a smaller loss
gate-1.drat, ...  steps from these clauses to a contradiction
cones.json        for one neuron and a loss of many rows, instead of gates: a tree of cones of neurons
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
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from stepnet.errors import InvalidInputError, NotAcceptedError, SolverError
from stepnet.model.gates import gates
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.proof_files.checked import FORMAT, VERSION, least_loss, limit_below
from stepnet.proof_files.cone_files import FILE as CONES
from stepnet.proof_files.cone_files import cone_trees, to_text
from stepnet.proof_files.cone_trees import Tree
from stepnet.proof_files.refutation import Refutation, refutation
from stepnet.provers.base import accepts_correct_sets, width_of
from stepnet.provers.cones import Cones
from stepnet.provers.oracle import Oracle
from stepnet.provers.pool import Pool
from stepnet.provers.row_weights import RowWeights
from stepnet.provers.sat import GateDecision
from stepnet.provers.sat_solver import TITLE
from stepnet.provers.subsystem import Subsystem
from stepnet.runtime.limits import Budget

_MANY = 12  # misclassified rows, from which on cones are tried before clauses
_FOR_ALL = 0.5  # of the time: for the whole bound, before smaller ones are tried
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
    """Write a directory which proves that ``network`` has its loss and that no network loses less than a bound.

    Subsystems that a fit has found make it faster; missing ones are found here. If the time is not enough for
    ``bound``, a smaller one is proven, but none below that of equal rows with different classes, which needs no
    solver. Returns the bound that is proven.

    If weights, thresholds or errors are restricted or rows may be perturbed, the proof is one of the problem without
    that: its bounds hold for all networks and for the rows as they are, and may be smaller.

    Raises
    ------
    NotAcceptedError
        If the problem cannot be proven on correct sets.
    InvalidInputError
        If the directory already exists and is not empty.
    SolverError
        If the time is up before anything is proven; nothing is written then.
    """
    require_provable(problem)
    target = _new_folder(directory)
    is_restricted = problem.free is not None or bool(problem.constraints.demands)
    pool, problem = Pool(subsystems), problem.without_limits
    if problem.free is not None:
        free = _merged(problem.free)
        pool, problem = pool.moved(problem.dataset, free.dataset), free
        bound = min(bound, problem.evaluate(network))
    least = _float_below(least_loss(problem.dataset))
    with ThreadPoolExecutor(1) as worker:
        writing = _FolderWriting(problem, RowWeights.of(problem.dataset.weights, bound), pool, seed, worker)
        bound, proofs = writing.prove(bound, least, budget or Budget(), may_fall=is_restricted)
        trees = writing.trees
    weights, heavy = writing.weights, writing.heavy
    used = _used(pool, proofs)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": problem.dataset.merged_fingerprint,
        "hidden": list(problem.architecture.hidden),
        "loss": problem.evaluate(network),
        "bound": bound,
        "unit": float(weights.unit),
        "grain": weights.grain,
        "heavy": [rows for rows in heavy if any(proof.depends_on(one.formula.of_heavy(rows)) for one, proof in proofs)],
        "solver": TITLE,
        "cones": bool(trees),
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
    if trees:
        texts[CONES] = to_text(trees)
    _write_all(target, texts)
    return bound


class _TimeIsUpError(SolverError):
    """The time was not enough for a refutation."""


class _BetterNetworkError(SolverError):
    """There is a network that loses less than the bound."""

    def __init__(self, loss: float) -> None:
        self.loss = loss
        super().__init__(
            f"no proof was written: there is a network that loses {loss:g}, so the bound does not hold for all "
            f"networks. Fit again with this network as the start."
        )


class _FolderWriting:
    """Refutations of all gates, for a bound or as much of it as the time allows."""

    def __init__(
        self, problem: Problem, weights: RowWeights, pool: Pool, seed: int, worker: ThreadPoolExecutor
    ) -> None:
        self.problem, self.weights, self.pool, self.worker = problem, weights, pool, worker
        self.heavy: list[list[int]] = []
        self.trees: list[Tree] = []  # of cones, instead of refutations
        self.oracle = Oracle(problem.dataset.X, problem.dataset.y == 1, seed)

    def prove(self, bound: float, least: float, budget: Budget, *, may_fall: bool) -> tuple[float, _Proofs]:
        """A bound no larger than that of equal rows needs no refutations; no smaller one is proven instead."""
        if bound <= least:
            return bound, []
        try:
            proven, proofs = self._prove_by_refutations(bound, budget, may_fall=may_fall)
        except _TimeIsUpError:
            if not least:
                raise
            return least, []
        return (proven, proofs) if proven > least else (least, [])

    def _prove_by_refutations(self, bound: float, budget: Budget, *, may_fall: bool) -> tuple[float, _Proofs]:
        """A proof of the bound, or of the loss of a better network if it ``may_fall`` to that."""
        while True:
            try:
                return self._prove(bound, budget)
            except _BetterNetworkError as error:
                if not may_fall:
                    raise
                bound = error.loss

    def _prove(self, bound: float, budget: Budget) -> tuple[float, _Proofs]:
        """First the bound itself is tried, then the largest one that is reached from below."""
        units = self.weights.limit_below(bound) + 1
        if self._has_trees(units, budget.until(budget.elapsed + _FOR_ALL * budget.remaining)):
            return _float_below(units * self.weights.unit), []
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

    def _has_trees(self, units: int, budget: Budget) -> bool:
        """Whether cones prove a bound of one neuron that many rows cost; clauses are for fewer."""
        kernels, lightest = Cones.kernels, min(self.weights.integers)
        if width_of(self.problem) > 1 or units <= _MANY * lightest or not kernels.is_done(budget.remaining):
            return False
        found = cone_trees(self.problem.dataset, self.weights.integers, units, budget.is_used_up)
        if isinstance(found, int):
            raise _BetterNetworkError(self.weights.loss_of(found))
        self.trees = found or []
        return found is not None

    def _proven(self, units: int, budget: Budget) -> tuple[float, _Proofs]:
        bound = _float_below(units * self.weights.unit)
        limit = limit_below(bound, self.weights.unit)
        if limit < 0:
            return bound, []
        decisions = self._decisions(limit)
        return bound, [(decision, _refuted(decision, limit, budget, self.worker)) for decision in decisions]

    def _climbed(self, units: int, budget: Budget) -> int:
        """The bound, in units, that holds for all gates when the time is up; less than ``units``."""
        decisions = list(self._decisions(units - 1))
        try:
            while True:
                least = min(decisions, key=lambda decision: decision.lower)
                if least.lower >= units or least.decide(least.lower, budget, _ignored) is not False:
                    return min(least.lower, units - 1)
        finally:
            for decision in decisions:
                decision.close()

    def _decisions(self, limit: int) -> Iterable[GateDecision]:
        for gate in gates(width_of(self.problem)):
            yield GateDecision(self.problem, gate, self.weights, limit, self.oracle, self.pool, self.worker, self.heavy)


def require_provable(problem: Problem) -> None:
    """Raise NotAcceptedError if proofs of a problem cannot be written."""
    problem = problem.without_limits
    answer = accepts_correct_sets(problem.free or problem, "sat")
    if not answer:
        raise NotAcceptedError(f"this proof cannot be written: {answer.reason}")


def _merged(problem: Problem) -> Problem:
    """With equal rows merged, also those that may be perturbed differently."""
    data = problem.dataset
    return replace(problem, dataset=Dataset.from_rows(data.X, data.y, data.weights))


def _new_folder(directory: str | os.PathLike[str]) -> Path:
    target = Path(directory)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInputError(f"{str(target)!r} already exists; give the name of a new directory.")
    if not target.resolve().parent.is_dir():
        raise InvalidInputError(f"the folder {str(target.parent)!r} does not exist; make it first.")
    return target


def _refuted(decision: GateDecision, limit: int, budget: Budget, worker: ThreadPoolExecutor) -> Refutation:
    """Find missing subsystems, then solve the clauses again and keep what the contradiction depends on."""
    try:
        while isinstance(answer := decision.decide(limit, budget, _ignored), Network):
            if not decision.forbid(answer, limit):
                break
        if answer is False:
            formula = decision.formula
            clauses = [*formula.clauses, *([literal] for literal in formula.at_most(limit))]
            for subsystem in decision.pool.subsystems:
                clauses += formula.of_subsystem(subsystem.rows)
            clauses += [formula.of_heavy(rows) for rows in decision.heavy]
            proof = refutation(clauses, worker, budget.is_used_up)
            if proof is not None:
                return proof
    finally:
        decision.close()
    if isinstance(answer, Network):
        raise _BetterNetworkError(decision.problem.evaluate(answer))
    if budget.stop_reason == "time":
        raise _TimeIsUpError(
            f"no proof was written: the time limit was reached before the clauses of gate {decision.gate.name} were "
            f"refuted. Losses of many rows take longest; give it more time."
        )
    if budget.stop_reason is not None:
        raise SolverError("no proof was written: it was interrupted.")
    raise SolverError(
        "no proof was written: some rows are too close to each other for neurons in floats to separate them, or a "
        "step of the solver could not be checked."
    )


def _ignored(network: Network) -> float:
    """Networks that are found on the way are not needed."""
    return math.inf


def _used(pool: Pool, proofs: Sequence[tuple[GateDecision, Refutation]]) -> list[Subsystem]:
    """The subsystems on whose clauses a proof depends."""

    def is_used(subsystem: Subsystem) -> bool:
        clauses = ((proof, one.formula.of_subsystem(subsystem.rows)) for one, proof in proofs)
        return any(proof.depends_on(clause) for proof, of_gate in clauses for clause in of_gate)

    return list(filter(is_used, pool.subsystems))


def _rows_text(dataset: Dataset) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(f"x{j + 1}" for j in range(dataset.n_features)), "class", "weight"])
    for row, code, weight in zip(dataset.X.tolist(), dataset.y.tolist(), dataset.weights.tolist(), strict=True):
        writer.writerow([*map(repr, row), code, repr(weight)])
    return text.getvalue()


def _write_all(target: Path, texts: dict[str, str]) -> None:
    """Write a directory completely or not at all."""
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
    """The largest float that is not above ``value``."""
    rounded = float(value)
    return rounded if rounded <= value else math.nextafter(rounded, -math.inf)
