"""Cone files: a tree of cones which proves that no neuron loses less than a bound, written and checked.

cones.json   trees; the last one is for all rows that count, the others for rows by themselves on which later ones rely
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from stepnet.certificate.verification import Check
from stepnet.model.arithmetic import quantum
from stepnet.problem.dataset import Dataset
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.cone_trees import Rows, Tree, check_trees
from stepnet.proof_files.kind import BetterNetworkError, Kind, Parts, Task, outcome
from stepnet.proof_files.question import CheckError, Watch, without_equal_rows
from stepnet.provers.cone_search import ConeSearch, Known
from stepnet.provers.cones import MOST_DIMENSIONS, Cones
from stepnet.provers.fan import middle_of, vectors_of
from stepnet.provers.merged_rows import MergedRows, dimension
from stepnet.provers.oracle import integer_rows
from stepnet.runtime.limits import Budget

FILE = "cones.json"
_MANY = 12  # misclassified rows, from which on cones are easier than clauses
_MOST_UNITS = 2**53  # so that sums of weights are exact in floats


class ConeTrees(Kind):
    """For one neuron without limits on errors, and bounds that many rows cost: clauses are for fewer."""

    name = "cones"

    def accepts(self, task: Task) -> bool:
        question = task.question
        is_plain = question.form is None and not question.limits
        return is_plain and question.width == 1 and is_costly(task)

    def write(self, task: Task, budget: Budget) -> Parts | None:
        if not Cones.kernels.is_done(budget.remaining):
            return None
        found = cone_trees(task.problem.dataset, task.weights.integers, task.units, budget.is_used_up)
        if isinstance(found, int):
            raise BetterNetworkError(task.weights.loss_of(found))
        return None if found is None else Parts(texts={FILE: to_text(found)})

    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        question = claim.question

        def work() -> str:
            if question.width > 1 or question.limits:
                raise CheckError("cones are for one neuron without limits on errors")
            n_cones = check_file(claim.text(FILE), claim.dataset, question.weights, question.limit, watch)
            found = f"tree of cones, of which {n_cones:,} were checked in intervals rounded outward"
            return f"{found}, with multipliers of their own"

        yield outcome("no neuron loses less", work)


def is_costly(task: Task) -> bool:
    """Whether a bound takes many rows, so that clauses would be long."""
    return task.units > _MANY * min(task.weights.integers)


def cone_trees(
    dataset: Dataset, weights: Sequence[int], target: int, should_stop: Callable[[], bool]
) -> list[Tree] | int | None:
    """Trees which prove that no neuron loses less than ``target``, for row weights in units.

    A smaller number if a neuron loses only that; None if the time is up, or cones cannot decide it.
    """
    capped = np.array([min(weight, target) for weight in weights], dtype=object)
    if int(capped.sum()) >= _MOST_UNITS or dimension(dataset, MOST_DIMENSIONS + 1) > MOST_DIMENSIONS:
        return None
    rows = MergedRows.of(dataset, capped.astype(np.int64))
    points = integer_rows(dataset.X[rows.numbers])
    search = ConeSearch(
        vectors_of(points, rows.on), rows.units, target - rows.lost, Known(), rows.numbers, is_logged=True
    )
    while not search.is_proven:
        if should_stop() or search.is_stuck:
            return None
        search.advance(should_stop)
        if search.target < target - rows.lost:
            return search.target + rows.lost
    shifts = [quantum(column) for column in dataset.X[rows.numbers].T]
    return [_tree(one, middle_of(points), shifts) for one in (*search.known.searches, search)]


def to_text(trees: Sequence[Tree]) -> str:
    parts = [
        json.dumps({"rows": tree.rows, "target": tree.target, "rays": tree.rays, "entries": tree.entries})
        for tree in trees
    ]
    return "[\n" + ",\n".join(parts) + "\n]"


def check_file(text: str, dataset: Dataset, weights: Sequence[int], limit: int, watch: Watch) -> int:
    """Check that no neuron loses as little as ``limit``, in units; how many cones were looked at.

    Raises CheckError if the file does not prove it, and TimeoutError if the time is up.
    """
    trees = [_read(entry) for entry in json.loads(text)]
    points = dataset.X.tolist()
    left, lost = without_equal_rows(dataset, weights)
    if not trees or trees[-1].target + lost <= limit:
        raise CheckError("the last tree is of a smaller target than the bound")
    signs = [1 if code else -1 for code in dataset.y.tolist()]
    n_looked, n_entries = 0, sum(len(tree.entries) for tree in trees)

    def must_stop() -> bool:
        nonlocal n_looked
        n_looked += 1
        watch.tell(n_looked / n_entries)
        return watch.must_stop()

    return check_trees(Rows(points, signs, left), trees, should_stop=must_stop)


def _tree(search: ConeSearch, middle: list[int], shifts: list[int]) -> Tree:
    """In the coordinates (w, t) of the rows as they are, all of them times the same power of two."""
    n, most = len(middle), max(0, *shifts)
    rays = []
    for ray in search.fan.rays:
        whole = [0] * (n + 1)
        for axis, value in zip(search.fan.axes, ray, strict=True):
            whole[axis] = value
        threshold = sum(a * b for a, b in zip(whole, middle, strict=False)) - whole[n]
        rays.append(
            [*(value << (most - shift) for value, shift in zip(whole, shifts, strict=False)), threshold << most]
        )
    return Tree(rays, search.log.entries().tolist(), search.numbers.tolist(), search.target)


def _read(entry: dict[str, Any]) -> Tree:
    rays, entries, rows = entry["rays"], entry["entries"], entry["rows"]
    if not all(type(value) is int for part in (*rays, entries, rows, [entry["target"]]) for value in part):
        raise ValueError("a tree consists of integers")
    return Tree(rays, entries, rows, entry["target"])
