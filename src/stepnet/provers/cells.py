"""Cells: with few features, every largest set of rows that a neuron can get right is written down.

A hyperplane that gets some rows right can be moved until it passes through as many rows as there are dimensions, and
all rows that were right are still on their side or on it. So every hyperplane through that many rows is tried; rows on
it that are independent can all be made right by a small turn, others are divided within it in the same way. Then each
gate asks which of these sets, one a neuron, leave least to misclassify. Signs are those of floats where those are
certain, and of determinants of integers elsewhere.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Enumeration
from stepnet.errors import YES, Answer
from stepnet.model.arithmetic import Floats
from stepnet.model.gates import Gate, gates
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, Prover, accepts_correct_sets, network_of, width_of
from stepnet.provers.bits import Words, costs, largest, packed
from stepnet.provers.choices import best_sets
from stepnet.provers.clauses import spoilers
from stepnet.provers.oracle import Neuron, Oracle, integer_rows
from stepnet.provers.row_weights import RowWeights
from stepnet.provers.sides import COORDINATES, DIFFERENCES, EXACT, are_simple, right_sets, signs_of, subsets
from stepnet.runtime.compiling import Compiling

MOST_FEATURES = 5
_MOST_BYTES = 1.5e9
_SECONDS = 2e-6  # a hyperplane
_MOST_SECONDS = 60.0
_AT_ONCE = 50_000  # hyperplanes
_UNITS = 2**24  # of the best loss, where weights of rows have no common measure
_ROUNDING = 2.0**-48  # of weights and losses in units
_EXACT = 2.0**53  # integers up to here are exact in floats

Booleans = NDArray[np.bool_]


def _compile() -> None:
    """Call every kernel, for four points in the plane."""
    X, on = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([False, True, True, False])
    choices = _Choices(on, np.ones(4, dtype=np.int64))

    def never() -> bool:
        return False

    sets = _all_sets(integer_rows(X), on, lambda sets: choices.is_of_use(sets, 2, 4), never)
    assert sets is not None
    sets = largest(sets, never)
    choices.best(sets, gates(2)[0], 4, never)
    Oracle(X, on).ask(np.arange(4), never)


class Cells(Prover):
    """Correct sets by enumeration, for few features."""

    name = "cells"
    kernels = Compiling(_compile)

    def accepts(self, problem: Problem) -> Answer:
        answer = accepts_correct_sets(problem, self.name)
        if not answer:
            return answer
        n_features = problem.dataset.n_features
        if n_features > MOST_FEATURES:
            return Answer(
                f"formulation='cells' accepts up to {MOST_FEATURES} features; got {n_features}. Use formulation='sat'."
            )
        n_planes, n_bytes = estimate(problem.dataset.n_rows, n_features)
        if n_bytes > _MOST_BYTES or n_planes * _SECONDS > _MOST_SECONDS:
            return Answer(
                f"formulation='cells' would look at {n_planes:.2g} hyperplanes, in about {n_planes * _SECONDS:.2g} s "
                f"and {n_bytes / 1e9:.2g} GB. Use formulation='sat'."
            )
        return YES

    def reason(self, problem: Problem) -> str:
        n_rows, n_features = problem.dataset.n_rows, problem.dataset.n_features
        n_planes, _ = estimate(n_rows, n_features)
        return f"through {n_features} of {n_rows} rows there are only {n_planes} hyperplanes"

    def moves_before(self, problem: Problem) -> int:
        """Enumeration needs a cut-off, not a good one."""
        n_planes, _ = estimate(problem.dataset.n_rows, problem.dataset.n_features)
        return min(max(100, n_planes // 20), 2_000)

    def work(self, host: Host) -> None:
        problem, data = host.problem, host.problem.dataset
        on = np.asarray(data.y == 1)
        width = width_of(problem)
        # Fractions of units are cut off: no network loses less than it does in whole ones.
        unit = problem.accuracy.step or host.loss / _UNITS
        if unit < sys.float_info.min:
            return  # losses of next to nothing
        rounding = 0.0 if problem.accuracy.step else _ROUNDING
        units = np.floor(np.minimum(data.weights, host.loss) / unit * (1 - rounding)).astype(np.int64)
        choices = _Choices(on, units)
        most = math.ceil(host.loss / unit * (1 - _ROUNDING)) - 1
        sets = _all_sets(integer_rows(data.X), on, lambda sets: choices.is_of_use(sets, width, most), host.must_stop)
        if sets is None:
            return
        sets = largest(sets, host.must_stop)
        if sets.nbytes * width**2 > _MOST_BYTES:
            return  # so many sets cannot be combined
        oracle = Oracle(data.X, on, host.seed)
        for gate in sorted(gates(width), key=_n_alone, reverse=True):
            most = min(most, math.ceil(host.loss / unit * (1 - _ROUNDING)) - 1)
            found, is_done = choices.best(sets, gate, most, host.must_stop)
            if not is_done:
                return
            if found is not None:
                answers = [oracle.ask(np.flatnonzero(_unpacked(sets[k], data.n_rows)), host.must_stop) for k in found]
                neurons = [answer for answer in answers if isinstance(answer, Neuron)]
                if len(neurons) < width:
                    return  # too thin for a neuron in floats, or the time is up
                network = network_of(problem, gate, neurons)
                host.offer(network)
                most = min(most, int(units[network.predict(data.X) != data.y].sum()) - 1)
        least = (most + 1) * unit
        least = max(least, RowWeights.of(data.weights, host.loss).round_up(least * (1 - rounding)))
        host.raise_bound(
            Bound(
                min(host.loss, least),
                evidence=Enumeration(estimate(data.n_rows, data.n_features)[0], len(sets), len(gates(width))),
            )
        )


def _n_alone(gate: Gate) -> int:
    """Neurons that spoil rows alone: the more there are, the sooner choices are seen to be too bad."""
    return sum(len(neurons) == 1 for code in (0, 1) for neurons in spoilers(gate, code))


class _Choices:
    """What sets of rows, one a neuron, leave to misclassify."""

    def __init__(self, on: Booleans, weights: NDArray[np.int64]) -> None:
        self.classes = packed(np.array([~on, on]))
        bits = range(int(weights.max()).bit_length())
        self.weights = packed(np.array([weights >> bit & 1 for bit in bits], dtype=bool))

    def is_of_use(self, sets: Words, width: int, most: int) -> Booleans:
        """Sets that some neuron of some gate may have if at most so much is misclassified."""
        missed = [costs(sets, rows, self.weights) for rows in self.classes]
        found = np.zeros(len(sets), dtype=bool)
        alone = {tuple((j,) in spoilers(gate, code) for code in (0, 1)) for gate in gates(width) for j in range(width)}
        for spoils in alone:
            lost = [missed[code] if spoils[code] else 0 for code in (0, 1)]
            found |= np.asarray(lost[0] + lost[1] <= most)
        return found

    def best(
        self, sets: Words, gate: Gate, most: int, should_stop: Callable[[], bool]
    ) -> tuple[tuple[int, ...] | None, bool]:
        """The best choice, if it leaves at most so much, and whether all were tried."""
        rules = [[sum(1 << j for j in neurons) for neurons in spoilers(gate, code)] for code in (0, 1)]
        return best_sets(sets, self.classes, self.weights, gate.weights, rules, most, should_stop)


def estimate(n_rows: int, n_features: int) -> tuple[int, float]:
    """Hyperplanes to look at, and bytes for the sets of either side: twice their words, hashes and a table."""
    n_planes = math.comb(n_rows, min(n_features, n_rows))
    return n_planes, 2.0 * n_planes * (16 * -(-n_rows // 64) + 24)


def _unpacked(words: Words, n_rows: int) -> Booleans:
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:n_rows].astype(bool)


def _all_sets(
    rows: list[list[int]], on: Booleans, is_of_use: Callable[[Words], Booleans], should_stop: Callable[[], bool]
) -> Words | None:
    """Sets of rows that a neuron can get right, with all the largest ones of use among them; None if the time is up."""
    points = sorted(set(map(tuple, rows)))
    number = {point: k for k, point in enumerate(points)}
    where = np.array([number[tuple(row)] for row in rows])
    return _Space(points, where, on, should_stop).sets(tuple(range(len(points))), is_of_use)


class _Space:
    """Points, the rows at each of them, and hyperplanes through them."""

    def __init__(
        self, points: list[tuple[int, ...]], where: NDArray[np.int64], on: Booleans, should_stop: Callable[[], bool]
    ) -> None:
        self.points, self.where, self.on, self.should_stop = points, where, on, should_stop
        has_on, has_off = (np.bincount(where[which], minlength=len(points)) > 0 for which in (on, ~on))
        self.has_both = has_on & has_off
        self.known: dict[tuple[int, ...], Words | None] = {}

    def sets(self, chosen: tuple[int, ...], is_of_use: Callable[[Words], Booleans] | None = None) -> Words | None:
        """Of the rows at some points: sets that a neuron can get right, the largest ones among them."""
        if len(chosen) == 1:  # either class, not both
            here = self.where == chosen[0]
            return packed(np.array([here & self.on, here & ~self.on]))
        axes = independent_axes([self.points[k] for k in chosen])
        coordinates = [[self.points[k][axis] for axis in axes] for k in chosen]
        parts = []
        for signs in _sign_patterns(coordinates, self.should_stop):
            part = self._divided(np.array(chosen), signs, len(axes))
            if part is None:
                return None
            parts.append(part if is_of_use is None else part[is_of_use(part)])
        return None if self.should_stop() else np.concatenate(parts)

    def _within(self, chosen: tuple[int, ...]) -> Words | None:
        """The sets within a hyperplane, which many of its points lead to."""
        if chosen not in self.known:
            found = self.sets(chosen)
            self.known[chosen] = None if found is None else largest(found, self.should_stop)
        return self.known[chosen]

    def _divided(self, chosen: NDArray[np.int64], signs: NDArray[np.int8], dimension: int) -> Words | None:
        """The sets of some hyperplanes, given on which side of each the points are; both orientations."""
        sides = signs
        if len(chosen) < len(self.points):
            sides = np.full((len(signs), len(self.points)), 2, dtype=np.int8)  # points elsewhere count for nothing
            sides[:, chosen] = signs
        # Independent points, each with rows of one class: a small turn makes all of them right.
        is_simple = are_simple(sides, dimension, self.has_both)
        parts = [right_sets(sides[is_simple], self.where, self.on, True)]
        for pattern in np.unique(sides[~is_simple], axis=0):
            if self.should_stop():
                return None
            within = self._within(tuple(np.flatnonzero(pattern == 0).tolist()))
            if within is None:
                return None
            both = right_sets(pattern[None], self.where, self.on, False)
            parts += [both[0] | within, both[1] | within]
        return np.concatenate(parts)


def independent_axes(points: list[list[int]] | list[tuple[int, ...]]) -> list[int]:
    """Axes that tell all points apart as well as all axes do: no more than the dimension of what the points span."""
    first = points[0]
    rows = [[a - b for a, b in zip(point, first, strict=True)] for point in points[1:]]
    axes: list[int] = []
    for axis in range(len(first)):
        pivot = next((row for row in rows if row[axis]), None)
        if pivot is None:
            continue
        axes.append(axis)
        rows = [
            [pivot[axis] * a - row[axis] * b for a, b in zip(row, pivot, strict=True)]
            for row in rows
            if row is not pivot
        ]
        rows = [[value // (math.gcd(*row) or 1) for value in row] for row in rows]
    return axes


def _sign_patterns(points: list[list[int]], should_stop: Callable[[], bool]) -> Iterator[NDArray[np.int8]]:
    """On which side of hyperplanes through independent points the points are."""
    n = len(points[0])
    columns = list(zip(*points, strict=True))
    spans = [max(column) - min(column) for column in columns]
    largest_value = math.factorial(n) * math.prod(max(1, span) for span in spans)
    lows = [min(column) for column in columns]
    shifted = [[value - low for value, low in zip(point, lows, strict=True)] for point in points]
    if largest_value < _EXACT:
        accuracy = EXACT  # every minor is an integer that floats hold
        scales = [0] * n
    else:
        # Differences of the points are exact in floats if the points are; otherwise small ones are all error.
        accuracy = DIFFERENCES if max(spans) < _EXACT else COORDINATES
        scales = [span.bit_length() for span in spans]
    floats: Floats = np.array(
        [[float(Fraction(value, 1 << scale)) for value, scale in zip(point, scales, strict=True)] for point in shifted]
    )
    for chosen in subsets(len(points), n, _AT_ONCE):
        if should_stop():
            return
        signs, in_doubt = signs_of(floats, chosen, accuracy)
        for k in np.flatnonzero(in_doubt):
            if should_stop():
                return
            signs[k] = _exact_signs(shifted, tuple(chosen[k].tolist()))
        signs = signs[(signs != 0).any(axis=1) | (len(points) == n)]
        if len(signs):
            yield signs


def _exact_signs(points: list[list[int]], chosen: tuple[int, ...]) -> list[int]:
    """On which side of a hyperplane every point is; 0 everywhere if the chosen points span none."""
    base = points[chosen[0]]
    edges = [[a - b for a, b in zip(points[k], base, strict=True)] for k in chosen[1:]]
    normal = _cofactors(edges, len(base))
    values = [sum(c * (a - b) for c, a, b in zip(normal, point, base, strict=True)) for point in points]
    return [(value > 0) - (value < 0) for value in values]


def _cofactors(rows: list[list[int]], n: int) -> list[int]:
    """A vector that is orthogonal to n - 1 rows, by minors."""
    minors = {0: 1}
    for row in rows:
        larger: dict[int, int] = {}
        for mask, minor in minors.items():
            for c in range(n):
                if not mask >> c & 1:
                    sign = -1 if (mask >> c).bit_count() % 2 else 1
                    larger[mask | 1 << c] = larger.get(mask | 1 << c, 0) + sign * row[c] * minor
        minors = larger
    full = (1 << n) - 1
    return [(-1 if (full >> c + 1).bit_count() % 2 else 1) * minors[full ^ 1 << c] for c in range(n)]
