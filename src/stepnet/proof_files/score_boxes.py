"""Score boxes: checks that no scorecard has a small loss, by dividing boxes of cuts, depth first.

A scorecard is a gate, which is on where the points of its rules reach a threshold, and rules, each with a literal (a
feature and a direction) and a cut. Points are positive, so a rule that is on for one more row of class 1, or off for
one more row of class 0, never harms. Hence cuts are enough that have a row of class 1 just above and a row of class 0
just below; a rule without such a cut is always on or off, which makes the gate one of fewer rules.

A box fixes literals and intervals of cuts for all rules but the last. What the points of a row are at least and at most
shows which rows are lost whatever the last rule is, and what each costs more with the last rule on than off: then
the best of all last rules is found exactly. A box with no smaller loss than the bound is done; others are divided.
This file shares no code with the prover.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.proof_files.question import CheckError, LossError, Question, Watch
from stepnet.runtime.compiling import Compiling, kernel

MOST_RULES = 6
_LARGEST = 2**60  # sums of weights are below
_WORK = 200_000_000  # operations between two looks at the clock


class Table(NamedTuple):
    """The rows for kernels; ranks count the values of a feature, in the direction of a literal."""

    ranks: NDArray[np.int64]  # rows × literals; literal 2 f is "f is at least", 2 f + 1 "f is at most"
    n_values: NDArray[np.int64]  # of each feature
    cuts: NDArray[np.int64]  # literals × the most cuts; on from this rank
    n_cuts: NDArray[np.int64]
    on: NDArray[np.int64]
    weights: NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """What a check went through."""

    n_boxes: int
    n_gates: int


def check_scorecards(question: Question, watch: Watch) -> Found:
    """Raises LossError if a scorecard of the form loses at most the limit, and TimeoutError if the time is up."""
    if question.form is None or question.limits:
        raise CheckError("boxes are for scorecards without limits on errors")
    n_rules, points, per_feature = (question.form[name] for name in ("n_rules", "points", "rules_per_feature"))
    if n_rules > MOST_RULES:
        raise CheckError(f"boxes are for scorecards of up to {MOST_RULES} rules")
    grain = 1 + sum(question.weights) // _LARGEST
    codes, most = question.dataset.y.astype(np.int64), question.limit // grain
    table = _table(question.dataset.X, codes, np.array([weight // grain for weight in question.weights]))
    constant = min(int(table.weights[codes == code].sum()) for code in (0, 1))
    if constant <= most:
        raise LossError(constant * grain, "a constant loses no more")
    gates = list(gates_of(n_rules, points))
    n_boxes = 0
    for number, (weights, threshold) in enumerate(gates):
        search = _Search(table, weights, threshold, per_feature)
        while not search.is_done:
            watch.tell(number / len(gates))
            if watch.must_stop():
                raise TimeoutError
            loss = search.go_on(most)
            if loss >= 0:
                units = loss * grain
                raise LossError(units, f"a scorecard of points {weights} from {threshold} on loses only {units} units")
        n_boxes += search.n_boxes
    return Found(n_boxes, len(gates))


def refuses(form: Mapping[str, Any], layers: Any) -> str:
    """Why the layers of a network are no scorecard of a form; empty if they are one."""
    if len(layers) != 2 or len(layers[1].weights) != 1 or len(layers[0].weights) > form["n_rules"]:
        return "it has other layers than a scorecard"
    used = [0] * layers[0].weights.shape[1]
    for weights, points in zip(layers[0].weights.tolist(), layers[1].weights[0].tolist(), strict=True):
        features = [f for f, weight in enumerate(weights) if weight]
        if points not in range(form["points"] + 1):
            return f"a rule has {points:g} points"
        if len(features) > 1 or (points and not features):
            return "a rule looks at other than one feature"
        if points:
            used[features[0]] += 1
    if max(used) > form["rules_per_feature"]:
        return "a feature has too many rules"
    return "" if float(layers[1].thresholds[0]).is_integer() else "its threshold is not whole"


def gates_of(n_rules: int, points: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Points and threshold for every function of 1 to ``n_rules`` rules that depends on each, once."""
    for size in range(1, n_rules + 1):
        corners, seen = list(product((0, 1), repeat=size)), set[tuple[bool, ...]]()
        choices = combinations_with_replacement(range(points, 0, -1), size)
        for weights in sorted(choices, key=lambda one: (sum(one), one)):
            sums = [sum(w for w, bit in zip(weights, corner, strict=True) if bit) for corner in corners]
            for threshold in range(1, sum(weights) + 1):
                answers = tuple(total >= threshold for total in sums)
                if answers not in seen and all(_matters(answers, j, size) for j in range(size)):
                    seen.add(answers)
                    yield weights, threshold


def _matters(answers: tuple[bool, ...], j: int, size: int) -> bool:
    bit = 1 << (size - 1 - j)
    return any(answers[k] != answers[k ^ bit] for k in range(len(answers)))


def _table(X: Any, on: NDArray[np.int64], weights: NDArray[np.int64]) -> Table:
    ranks, n_values, cuts = [], [], []
    for column in X.T:
        values, up = np.unique(column, return_inverse=True)
        n_values.append(len(values))
        for rank in (up.ravel(), len(values) - 1 - up.ravel()):
            with_on, with_off = (np.isin(np.arange(len(values)), rank[on == code]) for code in (1, 0))
            ranks.append(rank)
            cuts.append(1 + np.flatnonzero(with_on[1:] & with_off[:-1]))
    padded = np.zeros((len(cuts), max(1, *map(len, cuts))), dtype=np.int64)
    for literal, one in enumerate(cuts):
        padded[literal, : len(one)] = one
    counts = np.array([len(one) for one in cuts], dtype=np.int64)
    return Table(np.ascontiguousarray(np.array(ranks).T), np.array(n_values), padded, counts, on, weights)


class _Search:
    """The boxes of one gate that are still to be looked at: a stack."""

    def __init__(self, table: Table, points: tuple[int, ...], threshold: int, per_feature: int) -> None:
        self.table, self.threshold, self.per_feature = table, threshold, per_feature
        self.points = np.array(points, dtype=np.int64)
        n_first, n_literals = len(points) - 1, len(table.cuts)
        depth = n_first * (2 + int(table.n_cuts.max()).bit_length())
        shape = (2 + n_literals * n_first + 2 * depth, 3, n_first)
        self.stack = np.full(shape, -1, dtype=np.int64)
        self.state = np.array([1, 0])  # boxes on the stack, and boxes looked at

    @property
    def is_done(self) -> bool:
        return bool(self.state[0] == 0)

    @property
    def n_boxes(self) -> int:
        return int(self.state[1])

    def go_on(self, most: int) -> int:
        """For a while; the loss of a scorecard that loses at most so much, or -1."""
        return int(_divide(self.table, self.points, self.threshold, self.per_feature, most, self.stack, self.state))


@kernel(nogil=True)
def _divide(table: Any, points: Any, threshold: int, per_feature: int, most: int, stack: Any, state: Any) -> Any:
    n_rows, n_literals = table.ranks.shape
    n_first = len(points) - 1
    gains = np.empty(n_rows, np.int64)
    sums = np.zeros((n_literals // 2, int(table.n_values.max())), np.int64)
    box = np.empty((3, n_first), np.int64)
    work = 0
    while state[0] > 0 and work < _WORK:
        state[0] -= 1
        state[1] += 1
        box[:] = stack[state[0]]
        literals, lows, highs = box[0], box[1], box[2]
        work += n_rows * (n_literals // 2 + n_first)
        loss = _least(table, points, threshold, per_feature, most, literals, lows, highs, gains, sums)
        if loss > most:
            continue
        split, widest = -1, 0
        for j in range(n_first):
            if literals[j] < 0:
                split = j
                break
            width = _n_between(table, literals[j], lows[j], highs[j])
            if highs[j] > lows[j] and width >= widest:
                split, widest = j, width
        if split < 0:
            return loss
        if literals[split] >= 0:
            middle, low, high = (lows[split] + highs[split]) // 2, lows[split], highs[split]
            for half in range(2):
                lows[split], highs[split] = (low, middle) if half else (middle + 1, high)
                stack[state[0]] = box
                state[0] += 1
            continue
        # Rules of equal points are interchangeable: their literals rise.
        first = literals[split - 1] if split > 0 and points[split] == points[split - 1] else 0
        for literal in range(first, n_literals):
            literals[split], lows[split], highs[split] = literal, 0, table.n_cuts[literal] - 1
            if table.n_cuts[literal] > 0 and _n_rules(literals, literal // 2) <= per_feature:
                stack[state[0]] = box
                state[0] += 1
    return -1


@kernel(nogil=True)
def _n_between(table: Any, literal: int, low: int, high: int) -> int:
    """How many rows an interval of cuts leaves open."""
    count = 0
    for row in range(len(table.on)):
        count += table.cuts[literal, low] <= table.ranks[row, literal] < table.cuts[literal, high]
    return count


@kernel(nogil=True)
def _n_rules(literals: Any, feature: int) -> int:
    count = 0
    for literal in literals:
        count += literal >= 0 and literal // 2 == feature
    return count


@kernel(nogil=True)
def _least(
    table: Any,
    points: Any,
    threshold: int,
    per_feature: int,
    most: int,
    literals: Any,
    lows: Any,
    highs: Any,
    gains: Any,
    sums: Any,
) -> Any:
    """What a box loses at least, with the best last rule."""
    n_first, last = len(points) - 1, points[-1]
    off, least = np.int64(0), np.int64(0)
    for row in range(len(table.on)):
        low = high = 0
        for j in range(n_first):
            if literals[j] < 0:
                high += points[j]
                continue
            rank = table.ranks[row, literals[j]]
            low += points[j] if rank >= table.cuts[literals[j], highs[j]] else 0
            high += points[j] if rank >= table.cuts[literals[j], lows[j]] else 0
        weight = table.weights[row]
        if table.on[row]:
            without, beside = (weight if high < threshold else 0), (weight if high + last < threshold else 0)
        else:
            without, beside = (weight if low >= threshold else 0), (weight if low + last >= threshold else 0)
        gains[row] = beside - without
        off += without
        least += min(without, beside)
    if least > most:
        return least
    first = literals[n_first - 1] // 2 if n_first and points[n_first - 1] == last and literals[n_first - 1] >= 0 else 0
    return off + _best_rule(table, gains, sums, first, per_feature, literals)


@kernel(nogil=True)
def _best_rule(table: Any, gains: Any, sums: Any, first: int, per_feature: int, literals: Any) -> Any:
    """The least sum of gains where a rule is on, of all rules on features from ``first`` on that may have one more."""
    n_features = len(table.n_values)
    total, best = np.int64(0), np.int64(2**62)
    for row in range(len(gains)):
        if gains[row]:
            total += gains[row]
            for feature in range(first, n_features):
                sums[feature, table.ranks[row, 2 * feature]] += gains[row]
    for feature in range(first, n_features):
        below = np.int64(0)
        is_open = _n_rules(literals, feature) < per_feature
        for rank in range(table.n_values[feature] - 1):
            below += sums[feature, rank]
            if is_open:
                best = min(best, below, total - below)
        sums[feature] = 0
    return best


def _compile() -> None:
    """Call every kernel, on four rows."""
    X, on = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    table = _table(X, on, np.ones(4, dtype=np.int64))
    _Search(table, (1, 1), 1, 2).go_on(0)


KERNELS = Compiling("scorecards of proofs", _compile, __name__, _divide)
