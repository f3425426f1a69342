"""Checked proofs: verifies what a directory of ``written`` claims from its files alone."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stepnet.certificate.verification import Check, Verification
from stepnet.errors import InvalidInputError, StepnetError
from stepnet.model.activations.staircase import STEP
from stepnet.model.gates import MAX_GATE_INPUTS, Gate, gates
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.misclassified import Misclassified
from stepnet.proof_files.cone_files import FILE, check_file
from stepnet.proof_files.cone_trees import CheckError
from stepnet.proof_files.refutation import TOO_LARGE, Literals, Refutation, is_refuted, passes_checker, why_not_checked
from stepnet.provers.clauses import Formula
from stepnet.provers.oracle import is_true
from stepnet.provers.sat_solver import SECOND_TITLE
from stepnet.provers.subsystem import Subsystem
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Progress

FORMAT, VERSION = "stepnet proof", 1
_DAMAGES = (
    OSError, StepnetError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError,
    MemoryError,
)  # fmt: skip


def verify_proof(
    directory: str | os.PathLike[str],
    *,
    time_limit: float = float("inf"),
    show: Callable[[Progress], None] | None = None,
) -> Verification:
    """Check a directory of ``write_proof`` from its files alone; the result is false if a claim is false or left open.

    Rows that no neuron gets right together are checked in rational arithmetic, the network in exact arithmetic, the
    clauses against what they must follow from, and the steps to a contradiction by propagation. If a proof is small
    enough, the verified checker ``drup`` checks it too; otherwise a second SAT solver repeats it. A tree of cones is
    checked cone by cone, in interval arithmetic. ``show`` is called after every check.
    """
    folder, budget = Path(directory), Budget(time_limit)
    if not folder.is_dir():
        raise InvalidInputError(f"there is no directory {str(folder)!r}; give one written by stepnet prove --save.")
    if not any((folder / name).is_file() for name in ("proof.json", "subsystems.json")):
        raise InvalidInputError(f"{str(folder)!r} has no proof.json; give a directory written by stepnet prove --save.")
    checks: list[Check] = []
    try:
        with budget.catching_interrupts():
            reading = _Reading(folder, budget)
            for check in reading.checks():
                checks.append(check)
                if show is not None:
                    show(Progress.of_parts(budget.elapsed, len(checks), reading.n_checks, "checks"))
    except _DAMAGES as error:
        what = f"{error.strerror}: {Path(error.filename or '').name}" if isinstance(error, OSError) else str(error)
        checks.append(Check("the files are intact", False, f"{type(error).__name__}: {what}"))
    return Verification(tuple(checks), is_strict=True)


class _Reading:
    """The contents of the files of a proof."""

    def __init__(self, folder: Path, budget: Budget) -> None:
        self.folder, self.budget = folder, budget
        self.content = self._json("proof.json")
        if self.content["format"] != FORMAT or self.content["version"] != VERSION:
            raise ValueError(f"proof.json is not a {FORMAT} of version {VERSION}")
        self.loss, self.bound, self.unit = (_number(self.content[name]) for name in ("loss", "bound", "unit"))
        self.grain = _integer(self.content.get("grain", 0))
        self.heavy = [tuple(map(_integer, rows)) for rows in self.content.get("heavy", [])]
        self.hidden = tuple(_integer(width) for width in self.content["hidden"])
        if len(self.hidden) > 1 or not all(1 <= width <= MAX_GATE_INPUTS for width in self.hidden):
            raise ValueError(f"hidden={self.hidden} is not one layer of at most {MAX_GATE_INPUTS} neurons")
        self.dataset = self._dataset()
        self.subsystems = [
            Subsystem(tuple(map(_integer, rows)), tuple(map(_integer, multipliers)))
            for rows, multipliers in self._json("subsystems.json")
        ]

    @property
    def n_checks(self) -> int:
        """At most: a gate whose clauses do not follow has one check instead of two."""
        return 5 + (2 * len(self.content["gates"]) if self.bound > 0 else 0)

    def checks(self) -> Iterable[Check]:
        yield self._data()
        yield self._network()
        yield self._bound()
        yield self._subsystems()
        if self.has_cones:
            yield self._cones()
            return
        yield self._gates()
        if self.bound > 0:
            for number, entry in enumerate(self.content["gates"], 1):
                yield from self._refutation(number, entry)

    @property
    def has_cones(self) -> bool:
        """Whether a tree of cones proves the bound, instead of clauses."""
        return bool(self.content.get("cones", False))

    def _cones(self) -> Check:
        claim, begin = "no neuron loses less", time.monotonic()
        if self.hidden not in ((), (1,)):
            return Check(claim, False, "cones are for one neuron")
        limit, weights = self._limit_and_weights
        text = (self.folder / FILE).read_text(encoding="utf-8")
        try:
            n_cones = check_file(text, self.dataset, weights, limit, self.budget.is_used_up)
        except CheckError as error:
            return Check(claim, False, str(error))
        except TimeoutError:
            return Check(claim, None, "the time is up")
        found = f"{n_cones} cones, each checked in interval arithmetic with multipliers of its own"
        return Check(claim, True, f"{found} ({time.monotonic() - begin:.1f} s)")

    def _json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def _dataset(self) -> Dataset:
        _, *lines = csv.reader(io.StringIO((self.folder / "rows.csv").read_text(encoding="utf-8")))
        X = np.array([[float(value) for value in line[:-2]] for line in lines])
        weights = np.array([float(line[-1]) for line in lines])
        return Dataset(X, np.array([int(line[-2]) for line in lines], dtype=np.int16), weights)

    def _data(self) -> Check:
        claim, data = f"data {self.content['fingerprint']}", self.dataset
        if not (np.isfinite(data.X).all() and set(data.y.tolist()) <= {0, 1} and (data.weights > 0).all()):
            return Check(claim, False, "rows must be finite, classes 0 or 1, weights positive")
        whole = Dataset.from_rows(data.X, data.y, data.weights)
        is_canonical = all(map(np.array_equal, (data.X, data.y, data.weights), (whole.X, whole.y, whole.weights)))
        holds = is_canonical and data.has_fingerprint(self.content["fingerprint"])
        return Check(claim, holds, f"{data.n_rows} distinct rows with the fingerprint {data.fingerprint}")

    def _network(self) -> Check:
        network = Network.from_dict(self._json("network.json"))
        loss = Misclassified().evaluate(self.dataset, network)
        fits = network.widths == (*self.hidden, 1) and network.n_features == self.dataset.n_features
        fits = fits and all(layer.activation == STEP for layer in network.layers)
        kind = "steps" if fits else "other neurons"
        found = f"the network of {kind}, widths {network.widths}, has the loss {loss:.17g}"
        return Check(f"loss {self.loss:.17g} with hidden={self.hidden}", fits and loss == self.loss, found)

    def _bound(self) -> Check:
        """Losses are multiples of a unit, so the largest one below the bound excludes everything below."""
        claim = f"bound {self.bound:.17g}"
        if not 0 <= self.bound <= self.loss:
            return Check(claim, False, "it is not between 0 and the loss")
        limit, weights = self._limit_and_weights
        for rows in self.heavy:
            if len(set(rows)) != len(rows) or not all(0 <= row < len(weights) for row in rows):
                raise ValueError("sets of heavy rows must consist of different rows")
            if sum(weights[row] for row in rows) <= limit:
                return Check(claim, False, f"rows {rows} are too light")
        sets = f"; {len(self.heavy)} sets of rows are at least as heavy" if self.heavy else ""
        return Check(claim, True, f"row weights are multiples of {self.unit:g}{sets}")

    @cached_property
    def _limit_and_weights(self) -> tuple[int, list[int]]:
        """The largest loss below the bound, and the row weights, in units; raises ValueError if that is impossible."""
        unit = Fraction(self.unit)
        if unit <= 0 or self.grain < 0:
            raise ValueError("the unit must be positive and the grain non-negative")
        weights = [Fraction(value) / unit for value in self.dataset.weights.tolist()]
        if any(weight.denominator != 1 for weight in weights):
            raise ValueError("row weights are not multiples of the unit")
        limit = limit_below(self.bound, unit)
        return limit, [min(int(weight), limit + 1) for weight in weights]

    def _subsystems(self) -> Check:
        claim = f"{len(self.subsystems)} infeasible subsystems"
        begin, on = time.monotonic(), np.asarray(self.dataset.y == 1)
        for subsystem in self.subsystems:
            if self.budget.is_used_up():
                return Check(claim, None, "the time is up")
            if not is_true(subsystem, self.dataset.X, on):
                return Check(claim, False, f"rows {subsystem.rows} are not a subsystem")
        return Check(claim, True, f"each null vector checked in rational arithmetic ({time.monotonic() - begin:.1f} s)")

    def _gates(self) -> Check:
        width = self.hidden[0] if self.hidden else 1
        if not self.bound:
            return Check("no network loses less", True, "a loss is never negative")
        if not self.content["gates"] and self.bound <= (least := least_loss(self.dataset)):
            return Check("no network loses less", True, f"equal rows of different classes cost {float(least):.17g}")
        listed = [(tuple(entry["weights"]), entry["threshold"]) for entry in self.content["gates"]]
        needed = [(gate.weights, gate.threshold) for gate in gates(width)]
        return Check(
            f"{len(listed)} gates of {width} neurons",
            sorted(listed) == sorted(needed),
            f"up to order and complement of neurons there are {len(needed)}",
        )

    def _refutation(self, number: int, entry: dict[str, Any]) -> Iterable[Check]:
        gate = Gate(tuple(map(_integer, entry["weights"])), _integer(entry["threshold"]))
        proof = Refutation.from_texts(
            (self.folder / f"gate-{number}.cnf").read_text(encoding="utf-8"),
            (self.folder / f"gate-{number}.drat").read_text(encoding="utf-8"),
        )
        formula = self._formula(gate, entry["ordering"])
        strange = self._strange(formula, proof)
        first = f"{' '.join(map(str, strange[0]))} does not follow" if strange else "each follows"
        claim = f"gate {number}, {gate.name}: {len(proof.clauses)} clauses"
        yield Check(claim, not strange, f"{first} from the gate, the limit or a subsystem")
        if not strange:
            yield self._steps(number, gate, proof)

    def _formula(self, gate: Gate, ordering: list[Any]) -> Formula:
        codes = self.dataset.y.tolist()
        rows = [_integer(row) for row in ordering]
        if len(set(rows)) != len(rows) or not all(0 <= row < len(codes) for row in rows):
            raise ValueError("the rows that order neurons must be different rows")
        limit, weights = self._limit_and_weights
        return Formula(gate, codes, weights, limit, rows, self.grain)

    def _strange(self, formula: Formula, proof: Refutation) -> list[Literals]:
        """Clauses that do not follow from the gate, the limit or a subsystem, and steps with unknown variables."""
        known = {tuple(sorted(clause)) for clause in formula.clauses}
        known |= {(literal,) for literal in formula.at_most(self._limit_and_weights[0])}
        known |= {tuple(sorted(formula.of_heavy(rows))) for rows in self.heavy}
        for subsystem in self.subsystems:
            known |= {tuple(sorted(clause)) for clause in formula.of_subsystem(subsystem.rows)}
        strange = [clause for clause in proof.clauses if tuple(sorted(clause)) not in known]
        return strange + [step.clause for step in proof.steps if any(abs(one) > formula.top for one in step.clause)]

    def _steps(self, number: int, gate: Gate, proof: Refutation) -> Check:
        n_steps = sum(not step.is_deletion for step in proof.steps)
        claim = f"gate {number}, {gate.name}: contradiction in {n_steps} steps"
        holds, seconds = _timed(lambda: proof.is_true(self.budget.is_used_up))
        if not holds:
            return Check(claim, None if self.budget.is_used_up() else False, "not every step follows by propagation")
        found = f"each follows by propagation ({seconds:.1f} s)"
        if not (reason := why_not_checked(proof)):
            agrees, seconds = _timed(lambda: passes_checker(proof, max(1.0, self.budget.remaining)))
            if agrees is not None:
                verdict = "agrees" if agrees else "rejects it"
                return Check(claim, agrees, f"{found}; the verified checker drup {verdict} ({seconds:.1f} s)")
        with ThreadPoolExecutor(1) as worker:
            again, seconds = _timed(lambda: is_refuted(proof.clauses, worker, self.budget.is_used_up))
        if again is None:
            return Check(claim, None, f"{found}; {SECOND_TITLE} had no time to repeat it")
        verdict = "refutes the clauses again" if again else "finds no contradiction"
        return Check(claim, again, f"{found}; {reason or TOO_LARGE}, so {SECOND_TITLE} {verdict} ({seconds:.1f} s)")


def least_loss(dataset: Dataset) -> Fraction:
    """What any classifier loses: equal rows get the same answer, so one class of them is wrong."""
    costs: dict[tuple[float, ...], list[Fraction]] = {}
    for row, code, weight in zip(dataset.X.tolist(), dataset.y.tolist(), dataset.weights.tolist(), strict=True):
        costs.setdefault(tuple(row), [Fraction(0), Fraction(0)])[code] += Fraction(weight)
    return sum((min(pair) for pair in costs.values()), Fraction(0))


def limit_below(bound: float, unit: Fraction) -> int:
    """The largest loss below a bound, in units."""
    return math.ceil(Fraction(bound) / unit) - 1


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not an integer")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _timed(question: Callable[[], bool | None]) -> tuple[bool | None, float]:
    begin = time.monotonic()
    return question(), time.monotonic() - begin
