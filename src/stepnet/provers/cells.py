"""Cells: with few features, all maximal sets of rows that a neuron can get right are enumerated.

A hyperplane that gets some rows right can be moved until it passes through as many rows as there are dimensions, with
all of those rows still on their side or on it. So every hyperplane through that many rows is tried; independent rows
on it can all be made right by a small rotation, others are divided within it in the same way. Then for each gate the
sets, one per neuron, that lose the least are found. Signs are computed in floats if those are certain, otherwise by
determinants of integers.
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
from stepnet.provers.base import Host, Offer, Prover, accepts_correct_sets, network_of, width_of
from stepnet.provers.bits import Words, costs, largest, packed
from stepnet.provers.choices import best_sets
from stepnet.provers.clauses import spoilers
from stepnet.provers.oracle import Neuron, Oracle, integer_rows
from stepnet.provers.row_weights import RowWeights
from stepnet.provers.sides import COORDINATES, DIFFERENCES, EXACT, are_simple, right_sets, signs_of, subsets
from stepnet.runtime.compiling import Compiling

MOST_FEATURES = 5
_MOST_BYTES = 1.5e9
_SECONDS = 2e-6  # per hyperplane
_MOST_SECONDS = 60.0
_AT_ONCE = 50_000  # hyperplanes per block
_UNITS = 2**24  # that the best loss is divided into, if the row weights have no common unit
_ROUNDING = 2.0**-48  # relative, of weights and losses in units
_EXACT = 2.0**53  # integers up to here are exact in floats

Booleans = NDArray[np.bool_]


def _compile() -> None:
    """Call every kernel, on four points in the plane."""
    X, on = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([False, True, True, False])
    choices = _Choices(on, np.ones(4, dtype=np.int64))

    def never() -> bool:
        return False

    sets = _all_sets(integer_rows(X), on, lambda sets: choices.is_useful(sets, 2, 4), never)
    assert sets is not None
    sets = largest(sets, never)
    choices.best(sets, gates(2)[0], 4, never)
    Oracle(X, on).ask(np.arange(4), never)


class Cells(Prover):
    """Correct sets by enumeration, for few features."""

    name = "cells"
    kernels = Compiling("cells", _compile, __name__, right_sets)

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
                f"formulation='cells' would try {n_planes:.2g} hyperplanes, in about {n_planes * _SECONDS:.2g} s "
                f"and {n_bytes / 1e9:.2g} GB. Use formulation='sat'."
            )
        return YES

    def reason(self, problem: Problem) -> str:
        n_rows, n_features = problem.dataset.n_rows, problem.dataset.n_features
        n_planes, _ = estimate(n_rows, n_features)
        return f"through {n_features} of {n_rows} rows there are only {n_planes} hyperplanes"

    def moves_before(self, problem: Problem) -> int:
        """Enumeration needs a cutoff, not a good one."""
        n_planes, _ = estimate(problem.dataset.n_rows, problem.dataset.n_features)
        return min(max(100, n_planes // 20), 2_000)

    def work(self, host: Host, offer: Offer) -> None:
        problem, data = host.problem, host.problem.dataset
        on = np.asarray(data.y == 1)
        width = width_of(problem)
        # Weights are rounded down to whole units, so no network loses less than they say.
        unit = problem.accuracy.step or host.loss / _UNITS
        if unit < sys.float_info.min:
            return  # the loss is almost 0
        rounding = 0.0 if problem.accuracy.step else _ROUNDING
        units = np.floor(np.minimum(data.weights, host.loss) / unit * (1 - rounding)).astype(np.int64)
        choices = _Choices(on, units)
        most = math.ceil(host.loss / unit * (1 - _ROUNDING)) - 1
        sets = _all_sets(integer_rows(data.X), on, lambda sets: choices.is_useful(sets, width, most), host.must_stop)
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
                offer(network)
                most = min(most, int(units[network.predict(data.X) != data.y].sum()) - 1)
        least = (most + 1) * unit
        least = max(least, RowWeights.of(data.weights, host.loss).round_up(least * (1 - rounding)))
        evidence = Enumeration(estimate(data.n_rows, data.n_features)[0], len(sets), len(gates(width)))
        host.raise_bound(Bound(min(host.loss, least), evidence=evidence))


def _n_alone(gate: Gate) -> int:
    """The number of neurons that spoil rows alone: the more, the sooner bad choices are ruled out."""
    return sum(len(neurons) == 1 for code in (0, 1) for neurons in spoilers(gate, code))


class _Choices:
    """The loss of choices of sets of rows, one per neuron."""

    def __init__(self, on: Booleans, weights: NDArray[np.int64]) -> None:
        self.classes = packed(np.array([~on, on]))
        bits = range(int(weights.max()).bit_length())
        self.weights = packed(np.array([weights >> bit & 1 for bit in bits], dtype=bool))

    def is_useful(self, sets: Words, width: int, most: int) -> Booleans:
        """The sets that some neuron of some gate may have if the loss is at most ``most``."""
        missed = [costs(sets, rows, self.weights) for rows in self.classes]
        alone = {tuple((j,) in spoilers(gate, code) for code in (0, 1)) for gate in gates(width) for j in range(width)}
        lost = [spoils[0] * missed[0] + spoils[1] * missed[1] for spoils in alone]
        return np.asarray(np.min(lost, axis=0) <= most)

    def best(
        self, sets: Words, gate: Gate, most: int, should_stop: Callable[[], bool]
    ) -> tuple[tuple[int, ...] | None, bool]:
        """The best choice, if its loss is at most ``most``, and whether all were tried."""
        rules = [[sum(1 << j for j in neurons) for neurons in spoilers(gate, code)] for code in (0, 1)]
        return best_sets(sets, self.classes, self.weights, gate.weights, rules, most, should_stop)


def estimate(n_rows: int, n_features: int) -> tuple[int, float]:
    """The number of hyperplanes, and bytes for the sets of both sides: twice their words, hashes and a table."""
    n_planes = math.comb(n_rows, min(n_features, n_rows))
    return n_planes, 2.0 * n_planes * (16 * -(-n_rows // 64) + 24)


def _unpacked(words: Words, n_rows: int) -> Booleans:
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:n_rows].astype(bool)


def _all_sets(
    rows: list[list[int]], on: Booleans, is_useful: Callable[[Words], Booleans], should_stop: Callable[[], bool]
) -> Words | None:
    """Sets of rows that a neuron can get right, including all useful maximal ones; None if the time is up."""
    points = sorted(set(map(tuple, rows)))
    number = {point: k for k, point in enumerate(points)}
    where = np.array([number[tuple(row)] for row in rows])
    return _Space(points, where, on, should_stop).sets(tuple(range(len(points))), is_useful)


class _Space:
    """The distinct points of the rows, and hyperplanes through them."""

    def __init__(
        self, points: list[tuple[int, ...]], where: NDArray[np.int64], on: Booleans, should_stop: Callable[[], bool]
    ) -> None:
        self.points, self.where, self.on, self.should_stop = points, where, on, should_stop
        has_on, has_off = (np.bincount(where[which], minlength=len(points)) > 0 for which in (on, ~on))
        self.has_both = has_on & has_off
        self.known: dict[tuple[int, ...], Words | None] = {}

    def sets(self, chosen: tuple[int, ...], is_useful: Callable[[Words], Booleans] | None = None) -> Words | None:
        """Sets of the rows at some points that a neuron can get right, including all maximal ones."""
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
            parts.append(part if is_useful is None else part[is_useful(part)])
        return None if self.should_stop() else np.concatenate(parts)

    def _within(self, chosen: tuple[int, ...]) -> Words | None:
        """The sets within a hyperplane; many choices of its points lead to it."""
        if chosen not in self.known:
            found = self.sets(chosen)
            self.known[chosen] = None if found is None else largest(found, self.should_stop)
        return self.known[chosen]

    def _divided(self, chosen: NDArray[np.int64], signs: NDArray[np.int8], dimension: int) -> Words | None:
        """The sets of some hyperplanes in both orientations, given on which side of each the points are."""
        sides = signs
        if len(chosen) < len(self.points):
            sides = np.full((len(signs), len(self.points)), 2, dtype=np.int8)  # other points are ignored
            sides[:, chosen] = signs
        # Independent points, each with rows of one class: a small rotation makes all of them right.
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
    """As few axes as the dimension of what the points span, on which their projection is one-to-one."""
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
    """On which side of every hyperplane through independent points the points are."""
    n = len(points[0])
    columns = list(zip(*points, strict=True))
    spans = [max(column) - min(column) for column in columns]
    largest_value = math.factorial(n) * math.prod(max(1, span) for span in spans)
    lows = [min(column) for column in columns]
    shifted = [[value - low for value, low in zip(point, lows, strict=True)] for point in points]
    accuracy, scales = EXACT, [0] * n
    if largest_value >= _EXACT:  # minors may be integers that floats cannot represent
        # Differences of the points are exact in floats if the points are; otherwise small ones are mostly error.
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
    """On which side of the hyperplane through the chosen points each point is; 0 everywhere if they span none."""
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
