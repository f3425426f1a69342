"""Enumeration: checks that no network of one hidden layer has a small loss, by trying all sets of wrong answers.

Whatever a neuron is, there is a hyperplane through as many points as the rows have dimensions that has every row which
is not on it on the same side as the neuron has; on the rows on it, the neuron is one of fewer dimensions. Conversely,
a small rotation of the hyperplane divides the rows on it in any such way. So all sets of rows that neurons get wrong
come from all hyperplanes, in both orientations, and from the same question for the rows on each of them. Sets that
contain another one can be left out, since under the gates one more right row never harms. Then all choices of such
sets, one for each neuron of every gate, are tried. This file shares no code with the provers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.model.gates import Gate, gates
from stepnet.proof_files.bit_sets import KERNELS, Words, in_words, minimal, of_words, weights_in
from stepnet.proof_files.hyperplanes import blocks, exact_side
from stepnet.proof_files.question import ErrorLimit, LossError, Question, Watch

_FINE = 2**40  # units that sums of weights are compared in first; then exactly
_FIRST_ROWS = 50  # that show the dimension of wide tables
_SEARCH = 0.5  # of the progress that is shown

__all__ = ["KERNELS", "Found", "check_enumeration", "dimension_of"]


@dataclass(frozen=True)
class Found:
    """What a check went through."""

    n_planes: int
    n_sets: int
    n_gates: int


@dataclass(frozen=True)
class _Weighing:
    """What wrong rows weigh, and may weigh: exactly, and rounded down to whole numbers that fit."""

    exact: list[int]
    exact_most: int
    weights: NDArray[np.int64]
    most: int

    @classmethod
    def of(cls, weights: Sequence[int], most: int) -> _Weighing:
        capped = [min(weight, most + 1) for weight in weights]
        grain = 1 + sum(capped) // _FINE
        return cls(capped, most, np.array([value // grain for value in capped], dtype=np.int64), most // grain)

    def allows(self, wrong: NDArray[np.bool_]) -> bool:
        return sum(self.exact[row] for row in np.flatnonzero(wrong)) <= self.exact_most


def check_enumeration(question: Question, watch: Watch) -> Found:
    """Raises LossError if a network answers the question with yes, and TimeoutError if the time is up."""
    rows = _Rows.of(question)
    if rows is None:
        return Found(0, 0, len(gates(question.width)))  # equal rows cost too much already
    space = _Space(rows, question.width, watch)
    sets = minimal(space.sets(tuple(range(len(rows.points))), rows.weighings[0].most), watch.must_stop)
    for number, gate in enumerate(gates(question.width)):
        _Choices(rows, gate, sets, watch, number / len(gates(question.width))).refute()
    return Found(space.n_planes, len(sets), len(gates(question.width)))


def dimension_of(question: Question, most: int) -> int:
    """Of what the rows span; ``most`` if that is no more. In wide tables, few rows show it."""
    X = question.dataset.X
    first = len(_axes(_integers(X[:_FIRST_ROWS]), most))
    return first if first == most else len(_axes(_integers(X), most))


@dataclass(frozen=True)
class _Rows:
    """Rows with the number of their point, whether neurons must be on for them, and what they weigh."""

    points: list[tuple[int, ...]]
    where: NDArray[np.int64]
    on: NDArray[np.int64]
    weighings: list[_Weighing]
    lost: int  # in any case, by equal rows of a single neuron

    @classmethod
    def of(cls, question: Question) -> _Rows | None:
        """For a single neuron, equal rows of both classes are one row with the difference of their weights."""
        coordinates, codes = list(map(tuple, _integers(question.dataset.X))), question.dataset.y.tolist()
        weights, most, limits = list(question.weights), question.limit, list(question.limits)
        if question.width == 1 and not limits:
            totals: dict[tuple[int, ...], list[int]] = {}
            for point, code, weight in zip(coordinates, codes, weights, strict=True):
                totals.setdefault(point, [0, 0])[code] += weight
            most -= sum(min(pair) for pair in totals.values())
            if most < 0:
                return None
            coordinates = list(totals)
            codes = [int(pair[1] > pair[0]) for pair in totals.values()]
            weights = [abs(pair[1] - pair[0]) for pair in totals.values()]
        numbers = {point: number for number, point in enumerate(dict.fromkeys(coordinates))}
        loss = ErrorLimit("loss", tuple(weights), most)
        return cls(
            list(numbers),
            np.array([numbers[point] for point in coordinates]),
            np.array(codes, dtype=np.int64),
            [_Weighing.of(one.coefficients, one.most) for one in (loss, *limits)],
            question.limit - most,
        )


class _Space:
    """Sets of rows that neurons get wrong."""

    def __init__(self, rows: _Rows, width: int, watch: Watch) -> None:
        self.rows, self.watch = rows, watch
        self.on, self.off = in_words(np.array([rows.on == 1, rows.on == 0]))
        pairs = {_alone(gate, j) for gate in gates(width) for j in range(width)}
        self.alone = np.array(sorted(pairs), dtype=np.int64)
        self.known: dict[tuple[int, ...], tuple[int, Words]] = {}
        self.n_planes = 0

    def sets(self, chosen: tuple[int, ...], room: int) -> Words:
        """Sets of the rows at some points that a neuron gets wrong, of which some gate loses at most ``room``.

        Of sets that contain each other, the smallest ones are among them.
        """
        before = self.known.get(chosen)
        if before is not None and before[0] >= room:
            return before[1]
        points = [self.rows.points[k] for k in chosen]
        axes = _axes([list(point) for point in points])
        if len(points) == len(axes) + 1:  # a simplex: all points are divided in any way
            found = self._of_simplex(chosen)
        else:
            found = self._of_planes(chosen, [[point[axis] for axis in axes] for point in points], room)
        found = minimal(found[self._cost(found) <= room], self.watch.must_stop)
        if len(chosen) < len(self.rows.points):
            self.known[chosen] = room, found
        return found

    def _cost(self, sets: Words) -> NDArray[np.int64]:
        """What wrong rows cost at least, whatever gate and neuron."""
        weights = self.rows.weighings[0].weights
        by_class = [weights_in(sets, one, weights) for one in (self.off, self.on)]
        cost: NDArray[np.int64] = (self.alone @ np.array(by_class)).min(axis=0)
        return cost

    def _of_simplex(self, chosen: tuple[int, ...]) -> Words:
        """Every point gets either answer: the rows of the other class at it are wrong."""
        choices = []
        for point in chosen:
            here = self.rows.where == point
            both = [here & (self.rows.on == code) for code in (0, 1)]
            choices.append([one for one in both if not one.any()] or both)
        return in_words(np.array([np.logical_or.reduce(one) for one in product(*choices)]))

    def _of_planes(self, chosen: tuple[int, ...], points: list[list[int]], room: int) -> Words:
        rows, is_whole = self.rows, len(chosen) == len(self.rows.points)
        here = np.flatnonzero(np.isin(rows.where, chosen))
        where = np.searchsorted(chosen, rows.where[here])
        weights = rows.weighings[0].weights[here]
        n, seen = len(points[0]), set[tuple[int, ...]]()
        parts = [np.zeros((0, len(self.on)), dtype=np.uint64)]
        for block in blocks(points, where, rows.on[here], weights, self.alone, room):
            self._go_on()
            if is_whole:
                self.watch.tell(_SEARCH * block.share)
            is_clean = block.n_left == n  # nothing is on them but the points that span them, which are right
            above, below = (_spread(one, here, len(rows.on)) for one in (block.above, block.below))
            parts += self._of_use(self._wrong(above[is_clean], below[is_clean]), room)
            for k in _different(above | below, ~is_clean) if block.is_exact else np.flatnonzero(~is_clean):
                self._go_on()
                corners = None if block.is_exact else [points[c] for c in block.chosen[k]]
                plane = self._plane(chosen, points, corners, here, above[k], below[k])
                if plane is not None and plane[0] not in seen:
                    seen.add(plane[0])
                    parts += self._of_plane(*plane, room)
        if is_whole:
            self.n_planes = math.comb(len(points), n)
        return np.concatenate(parts)

    def _go_on(self) -> None:
        if self.watch.must_stop():
            raise TimeoutError

    def _plane(
        self,
        chosen: tuple[int, ...],
        points: list[list[int]],
        corners: list[list[int]] | None,
        here: NDArray[np.int64],
        above: Words,
        below: Words,
    ) -> tuple[tuple[int, ...], Words, Words] | None:
        """The points on a hyperplane, and the rows beside it; None if its corners span none.

        Rows that are too close to it for floats are divided exactly, given its corners.
        """
        rows = self.rows
        left = here[~of_words((above | below)[None], len(rows.on))[0][here]]
        inside, beyond = [], np.zeros((2, len(rows.on)), dtype=bool)
        for point in np.unique(rows.where[left]).tolist():
            side = 0 if corners is None else exact_side(corners, points[chosen.index(point)])
            if side:
                beyond[(1 - side) // 2] |= rows.where == point
            else:
                inside.append(point)
        if len(inside) == len(chosen):
            return None
        more = in_words(beyond)
        return tuple(inside), above | more[0], below | more[1]

    def _of_plane(self, inside: tuple[int, ...], above: Words, below: Words, room: int) -> list[Words]:
        """The sets of a hyperplane with more on it than the points that span it."""
        both = self._wrong(above[None], below[None])
        left = room - int(self._cost(both).min())
        if left < 0:
            return []
        within = self.sets(inside, left)
        return [part for one in both for part in self._of_use(one | within, room)]

    def _of_use(self, sets: Words, room: int) -> list[Words]:
        return [sets[self._cost(sets) <= room]] if len(sets) else []

    def _wrong(self, above: Words, below: Words) -> Words:
        """Rows on the wrong side, with neurons on above or on below."""
        one, other = (above & self.off) | (below & self.on), (above & self.on) | (below & self.off)
        return np.concatenate([one, other])


class _Choices:
    """All choices of sets for the neurons of a gate."""

    def __init__(self, rows: _Rows, gate: Gate, sets: Words, watch: Watch, share: float) -> None:
        self.rows, self.gate, self.watch, self.share = rows, gate, watch, share
        self.sets, self.bits = sets, of_words(sets, len(rows.on))

    def refute(self) -> None:
        """Raises LossError if a choice is a network as the question asks for."""
        nothing = np.zeros(len(self.rows.on), dtype=np.int64)
        numbers = np.arange(len(self.sets))
        candidates = [self._possible(numbers, nothing, 0, j) for j in range(len(self.gate.weights))]
        self._choose(0, nothing, candidates, -1)

    def _choose(self, j: int, wrong: NDArray[np.int64], candidates: list[NDArray[np.int64]], last: int) -> None:
        """Choose the set of neuron j; ``wrong`` is the weight in the gate of those before that get a row wrong."""
        own = candidates[0]
        if j and self.gate.weights[j] == self.gate.weights[j - 1]:  # interchangeable: in the order of the sets
            own = own[own >= last]
        for k, number in enumerate(own.tolist()):
            if self.watch.must_stop():
                raise TimeoutError
            if not j:
                self.watch.tell(_SEARCH + (1 - _SEARCH) * (self.share + k / len(own) / len(gates(len(candidates)))))
            now = wrong + self.gate.weights[j] * self.bits[number]
            if j == len(self.gate.weights) - 1:
                self._refuse(now)
                continue
            later = [self._possible(one, now, j + 1, i) for i, one in enumerate(candidates[1:], j + 1)]
            if all(map(len, later)):
                self._choose(j + 1, now, later, number)

    def _possible(
        self, numbers: NDArray[np.int64], wrong: NDArray[np.int64], n_chosen: int, j: int
    ) -> NDArray[np.int64]:
        """The sets that neuron j may have, if all other neurons that are left get everything right."""
        is_lost = self._is_lost(wrong)
        at_stake = in_words((self._is_lost(wrong + self.gate.weights[j]) & ~is_lost)[None])[0]
        for one in self.rows.weighings:
            lost = int(one.weights[is_lost].sum())
            numbers = numbers[lost + weights_in(self.sets[numbers], at_stake, one.weights) <= one.most]
        return numbers

    def _is_lost(self, wrong: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A row of class 0 is lost if wrong neurons turn the gate on, one of class 1 if the others do not."""
        total, threshold = sum(self.gate.weights), self.gate.threshold
        lost: NDArray[np.bool_] = np.where(self.rows.on == 1, total - wrong < threshold, wrong >= threshold)
        return lost

    def _refuse(self, wrong: NDArray[np.int64]) -> None:
        is_lost = self._is_lost(wrong)
        if all(one.allows(is_lost) for one in self.rows.weighings):
            units = self.rows.lost + sum(self.rows.weighings[0].exact[row] for row in np.flatnonzero(is_lost))
            raise LossError(units, f"a network of gate {self.gate.name} loses only {units} units")


def _alone(gate: Gate, j: int) -> tuple[int, int]:
    """For both classes, whether a row is lost if neuron j alone gets it wrong."""
    own, total = gate.weights[j], sum(gate.weights)
    return int(own >= gate.threshold), int(total - own < gate.threshold)


def _integers(X: Any) -> list[list[int]]:
    """Rows in integers, every column in a unit of its own."""
    columns = []
    for column in X.T.tolist():
        ratios = [float(value).as_integer_ratio() for value in column]
        unit = max(denominator for _, denominator in ratios)
        columns.append([numerator * (unit // denominator) for numerator, denominator in ratios])
    return [list(row) for row in zip(*columns, strict=True)]


def _axes(points: list[list[int]], most: int | None = None) -> list[int]:
    """Axes on which the projection of what the points span is one-to-one; the first ``most`` of them."""
    first, axes = points[0], list[int]()
    rows = [[a - b for a, b in zip(point, first, strict=True)] for point in points[1:]]
    for axis in range(len(first)):
        pivot = next((row for row in rows if row[axis]), None)
        if pivot is None:
            continue
        axes.append(axis)
        if len(axes) == most:
            break
        reduced = []
        for row in rows:
            if row is not pivot:
                row = [pivot[axis] * a - row[axis] * b for a, b in zip(row, pivot, strict=True)] if row[axis] else row
                common = math.gcd(*row)
                if common:
                    reduced.append([value // common for value in row])
        rows = reduced
    return axes


def _different(words: Words, is_asked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The numbers of those asked for, without repetitions."""
    numbers = np.flatnonzero(is_asked)
    first: NDArray[np.int64] = np.unique(words[numbers], axis=0, return_index=True)[1]
    return numbers[first]


def _spread(words: Words, rows: NDArray[np.int64], n_rows: int) -> Words:
    """Bits of some rows, as bits of all rows."""
    if len(rows) == n_rows:
        return words
    bits = np.zeros((len(words), n_rows), dtype=bool)
    bits[:, rows] = of_words(words, len(rows))
    return in_words(bits)
