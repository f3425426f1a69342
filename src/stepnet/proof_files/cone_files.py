"""Cone files: a tree of cones which proves that no neuron loses less than a bound, written and checked.

cones.json   trees; the last one is for all rows that count, the others for rows by themselves on which later ones rely
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stepnet.model.arithmetic import quantum
from stepnet.problem.dataset import Dataset
from stepnet.proof_files.cone_trees import CheckError, Rows, Tree, check_trees
from stepnet.provers.cone_search import ConeSearch, Known
from stepnet.provers.cones import MOST_DIMENSIONS
from stepnet.provers.fan import middle_of, vectors_of
from stepnet.provers.merged_rows import MergedRows, dimension
from stepnet.provers.oracle import integer_rows

FILE = "cones.json"
_MOST_UNITS = 2**53  # so that sums of weights are exact in floats


def cone_trees(
    dataset: Dataset, weights: Sequence[int], target: int, should_stop: Callable[[], bool]
) -> list[Tree] | int | None:
    """Trees which prove that no neuron loses less than ``target``, for row weights in units.

    A smaller number if a neuron loses only that; None if the time is up, or cones cannot decide it.
    """
    capped = np.array([min(weight, target) for weight in weights], dtype=object)
    if int(capped.sum()) >= _MOST_UNITS or dimension(dataset, MOST_DIMENSIONS + 1) > MOST_DIMENSIONS:
        return None
    rows = MergedRows.of(dataset, capped.astype(np.int64), 1)
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


def check_file(text: str, dataset: Dataset, weights: Sequence[int], limit: int, should_stop: Callable[[], bool]) -> int:
    """Check that no neuron loses as little as ``limit``, in units; how many cones were looked at.

    Raises CheckError if the file does not prove it, and TimeoutError if the time is up.
    """
    trees = [_read(entry) for entry in json.loads(text)]
    points = dataset.X.tolist()
    totals: dict[tuple[float, ...], list[int]] = {}
    for point, code, weight in zip(points, dataset.y.tolist(), weights, strict=True):
        totals.setdefault(tuple(point), [0, 0])[code] += weight
    # Equal rows of both classes: the lighter class is lost, and of the heavier one counts what is left.
    left = [
        max(0, totals[tuple(point)][code] - totals[tuple(point)][1 - code])
        for point, code in zip(points, dataset.y.tolist(), strict=True)
    ]
    lost = sum(min(pair) for pair in totals.values())
    if not trees or trees[-1].target + lost <= limit:
        raise CheckError("the last tree is of a smaller target than the bound")
    signs = [1 if code else -1 for code in dataset.y.tolist()]
    return check_trees(Rows(points, signs, left), trees, should_stop=should_stop)


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
    return Tree(rays, search.entries().tolist(), search.numbers.tolist(), search.target)


def _read(entry: dict[str, Any]) -> Tree:
    rays, entries, rows = entry["rays"], entry["entries"], entry["rows"]
    if not all(type(value) is int for part in (*rays, entries, rows, [entry["target"]]) for value in part):
        raise ValueError("a tree consists of integers")
    return Tree(rays, entries, rows, entry["target"])
