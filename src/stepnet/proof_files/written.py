"""Written proofs: a directory which proves that no network of an architecture loses less; ``checked`` reads it.

proof.json        the claim, and the kind of its proof
rows.csv          the distinct training rows, with class and weight
network.json      a network that reaches the loss
limits.json       limits on errors, if there are any: coefficients of the rows, and what misclassified ones may have

Each kind of proof adds files of its own: see ``kinds``.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from stepnet.errors import InvalidInputError, NotAcceptedError, SolverError
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.proof_files.claim import FORMAT, LIMITS, VERSION
from stepnet.proof_files.clause_files import Clauses
from stepnet.proof_files.kind import BetterNetworkError, Kind, Parts, Task
from stepnet.proof_files.kinds import KINDS
from stepnet.proof_files.question import ErrorLimit, Question, least_loss
from stepnet.proof_files.score_files import Scorecards
from stepnet.provers.base import accepts_correct_sets
from stepnet.provers.pool import Pool
from stepnet.provers.row_weights import RowWeights
from stepnet.provers.subsystem import Subsystem
from stepnet.runtime.limits import Budget

_FOR_ALL = 0.5  # of the time: for the whole bound, before smaller ones are tried
_FIRST_TURN, _LONGER = 5.0, 4.0  # seconds that every kind of proof gets at first, and the factor from turn to turn
_FEWEST_TURNS = 8.0  # a first turn is no more than this part of the time
_Proven = tuple[Task, Kind, Parts]


def write_proof(
    directory: str | os.PathLike[str],
    problem: Problem,
    network: Network,
    bound: float,
    *,
    subsystems: Iterable[Subsystem] = (),
    budget: Budget | None = None,
    seed: int = 0,
    form: Mapping[str, int] | None = None,
) -> float:
    """Write a directory which proves that ``network`` has its loss and that no network loses less than a bound.

    Subsystems that a fit has found make it faster; missing ones are found here. If the time is not enough for
    ``bound``, a smaller one is proven, but none below that of equal rows with different classes, which needs no
    solver. Returns the bound that is proven.

    Limits on errors are part of the proof if one more right row never breaks them. If weights or thresholds are
    restricted or rows may be perturbed, or there are other limits, the proof is one of the problem without that: its
    bounds hold for all networks and for the rows as they are, and may be smaller. With a ``form`` (``n_rules``,
    ``points`` and ``rules_per_feature``) it is one for the scorecards of this form.

    Raises
    ------
    NotAcceptedError
        If the problem cannot be proven on correct sets.
    InvalidInputError
        If the directory already exists and is not empty.
    SolverError
        If the time is up before anything is proven; nothing is written then.
    """
    if form is None:
        require_provable(problem)
    target = _new_folder(directory)
    pool, free = Pool(subsystems), _free(problem)
    is_restricted = free is not problem and form is None
    if is_restricted:
        pool = pool.moved(problem.dataset, free.dataset)
        bound = min(bound, free.evaluate(network))
    with ThreadPoolExecutor(1) as worker:
        writing = _FolderWriting(free, RowWeights.of(free.dataset.weights, bound), pool, seed, worker, form)
        task, kind, parts = writing.prove(bound, budget or Budget(), may_fall=is_restricted)
    proven = float_below(task.units * task.weights.unit)
    _write_all(target, _texts(task, kind, parts, network, proven))
    return proven


class _FolderWriting:
    """Proofs of a bound, or of as much of it as the time allows."""

    def __init__(
        self,
        problem: Problem,
        weights: RowWeights,
        pool: Pool,
        seed: int,
        worker: ThreadPoolExecutor,
        form: Mapping[str, int] | None,
    ) -> None:
        self.problem, self.weights, self.pool, self.seed, self.worker = problem, weights, pool, seed, worker
        self.form = form

    def prove(self, bound: float, budget: Budget, *, may_fall: bool) -> _Proven:
        """First the bound itself is tried, then the largest one that is reached from below.

        If it ``may_fall``, the loss of a better network is tried instead. None below what equal rows cost is proven.
        """
        units = self.weights.limit_below(bound) + 1
        part = budget.until(budget.elapsed + _FOR_ALL * budget.remaining)
        while True:
            try:
                if (proven := self._proven(units, part)) is not None:
                    return proven
                break
            except BetterNetworkError as error:
                if not may_fall:
                    raise
                units = self.weights.limit_below(error.loss) + 1
        least = math.floor(least_loss(self.problem.dataset) / self.weights.unit)
        smaller = None if budget.is_used_up() else self._smaller(units, budget)
        if smaller is None or smaller[0].units <= least:
            smaller = self._proven(least, budget) if least else None
        if smaller is None:
            raise _not_written(budget)
        return smaller

    def _proven(self, units: int, budget: Budget) -> _Proven | None:
        """Every kind gets some time, then several times as much, and so on; then those first that know how much."""
        task = self._task(units)
        kinds = [kind for kind in KINDS if kind.accepts(task)]
        turns = _turns(budget) if len(kinds) > 1 else [budget.remaining] * len(kinds)
        for turn, seconds in enumerate(turns):
            for kind in sorted(kinds, key=lambda kind: bool(turn and not kind.seconds(task))):
                if kind.seconds(task) > seconds:
                    continue
                parts = kind.write(task, budget.until(budget.elapsed + seconds))
                if parts is not None:
                    return task, kind, parts
        return None

    def _smaller(self, units: int, budget: Budget) -> _Proven | None:
        """A smaller bound, by clauses or boxes of scorecards."""
        kind: Kind = Clauses() if self.form is None else Scorecards()
        if not kind.accepts(self._task(units)):
            return None
        if isinstance(kind, Clauses):
            units = kind.climbed(self._task(units), budget.until(budget.elapsed + budget.remaining / 3))
        else:
            units = units * 2 // 3
        while units > 0 and not budget.is_used_up():
            task = self._task(units)
            parts = kind.write(task, budget.until(budget.elapsed + budget.remaining / 2))
            if parts is not None:
                return task, kind, parts
            units = units * 2 // 3
        return None

    def _task(self, units: int) -> Task:
        problem = self.problem
        hidden, unit = problem.architecture.hidden, self.weights.unit
        bound, limits = float_below(units * unit), _limits_of(problem)
        question = Question.of(problem.dataset, hidden, bound, unit, limits, self.form)
        return Task(problem, question, self.weights, self.pool, self.seed, self.worker)


def _turns(budget: Budget) -> Iterator[float]:
    """Seconds of every turn, until the time is up; there is always one, since some kinds need no time."""
    seconds = min(_FIRST_TURN, budget.remaining / _FEWEST_TURNS)
    yield seconds
    while not budget.is_used_up() and seconds < budget.time_limit:
        seconds *= _LONGER
        yield seconds


def _not_written(budget: Budget) -> SolverError:
    if budget.stop_reason == "time":
        return SolverError(
            "no proof was written: the time limit was reached before the bound was proven again, in a form that others "
            "can check. Losses of many rows take longest; give it more time."
        )
    return SolverError("no proof was written: it was interrupted.")


def require_provable(problem: Problem) -> None:
    """Raise NotAcceptedError if proofs of a problem cannot be written."""
    answer = accepts_correct_sets(_free(problem), "sat")
    if not answer:
        raise NotAcceptedError(f"this proof cannot be written: {answer.reason}")


def _free(problem: Problem) -> Problem:
    """Without restrictions that correct sets do not know, and with equal rows merged, however they may be perturbed."""
    free = problem.free
    if free is None:
        return problem
    merged = Dataset.from_rows(free.dataset.X, free.dataset.y, free.dataset.weights)
    if merged.n_rows < free.dataset.n_rows:
        free = free.without_limits  # they are about other rows
    return replace(free, dataset=merged)


def _limits_of(problem: Problem) -> list[ErrorLimit]:
    found = []
    for demand in problem.constraints.demands:
        bound = f"{'at least' if demand.relation == '>=' else 'at most'} {demand.limit}"
        for one in demand.inequalities:
            found.append(ErrorLimit(f"{demand.name} {bound}", tuple(map(int, one.coefficients)), int(one.most)))
    return found


def _new_folder(directory: str | os.PathLike[str]) -> Path:
    target = Path(directory)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInputError(f"{str(target)!r} already exists; give the name of a new directory.")
    if not target.resolve().parent.is_dir():
        raise InvalidInputError(f"the folder {str(target.parent)!r} does not exist; make it first.")
    return target


def _texts(task: Task, kind: Kind, parts: Parts, network: Network, proven: float) -> dict[str, str]:
    """The files of a proof."""
    question, data = task.question, task.problem.dataset
    content = {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": data.merged_fingerprint,
        "hidden": list(question.hidden),
        "loss": task.problem.evaluate(network),
        "bound": proven,
        "unit": float(task.weights.unit),
        "kind": kind.name,
        "limits": bool(question.limits),
        "form": question.form,
    }
    texts = {
        "proof.json": json.dumps(content | parts.entries, indent=1),
        "rows.csv": _rows_text(data),
        "network.json": json.dumps(network.to_dict(), indent=1),
    }
    if question.limits:
        texts[LIMITS] = _limits_text(question.limits)
    return texts | parts.texts


def _rows_text(dataset: Dataset) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(f"x{j + 1}" for j in range(dataset.n_features)), "class", "weight"])
    for row, code, weight in zip(dataset.X.tolist(), dataset.y.tolist(), dataset.weights.tolist(), strict=True):
        writer.writerow([*map(repr, row), code, repr(weight)])
    return text.getvalue()


def _limits_text(limits: Iterable[ErrorLimit]) -> str:
    entries: list[dict[str, Any]] = [
        {"name": one.name, "most": one.most, "coefficients": one.coefficients} for one in limits
    ]
    return "[\n" + ",\n".join(map(json.dumps, entries)) + "\n]"


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


def float_below(value: Fraction) -> float:
    """The largest float that is not above ``value``."""
    rounded = float(value)
    return rounded if rounded <= value else math.nextafter(rounded, -math.inf)
