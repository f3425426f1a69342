"""Cells: with few dimensions, all maximal sets of rows that a neuron can get right are enumerated.

They belong to the hyperplanes through as many rows as there are dimensions. For each gate the sets, one per neuron,
that lose the least are found. What counts is the dimension of the rows, not the number of features: a feature that
follows from others adds no hyperplane.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Enumeration
from stepnet.errors import YES, Answer
from stepnet.model.gates import Gate, gates
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, Offer, Prover, accepts_correct_sets, network_of, width_of
from stepnet.provers.bits import Words, largest, packed
from stepnet.provers.choices import best_sets
from stepnet.provers.clauses import spoilers
from stepnet.provers.correct_sets import correct_sets
from stepnet.provers.limits import limits_of
from stepnet.provers.merged_rows import MergedRows, Units, dimension
from stepnet.provers.oracle import Neuron, Oracle, integer_rows
from stepnet.provers.sides import right_sets
from stepnet.provers.use import Booleans, Use, weight_planes
from stepnet.runtime.compiling import Compiling

MOST_DIMENSIONS = 5
_MOST_BYTES = 1.5e9
_SECONDS, _SECONDS_PER_POINT = 2e-7, 1.5e-9  # per hyperplane
_SECONDS_PER_SET = 2e-6
_MOST_SECONDS = 60.0


def _compile() -> None:
    """Call every kernel, on four points in the plane."""
    X, on = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([False, True, True, False])
    units = np.ones(4, dtype=np.int64)

    def never() -> bool:
        return False

    for width in (1, 2):
        sets = correct_sets(integer_rows(X), on, Use.of(on, units, width, 4), never)
        assert sets is not None
        _best(largest(sets, never), on, units, gates(width)[0], 4, never, [])
    correct_sets(integer_rows(X), on, None, never)
    Oracle(X, on).ask(np.arange(4), never)


class Cells(Prover):
    """Correct sets by enumeration, for few dimensions."""

    name = "cells"
    kernels = Compiling("cells", _compile, __name__, right_sets)

    def accepts(self, problem: Problem) -> Answer:
        answer = accepts_correct_sets(problem, self.name)
        if not answer:
            return answer
        size = Size.of(problem)
        if size.dimension > MOST_DIMENSIONS:
            return Answer(
                f"formulation='cells' accepts up to {MOST_DIMENSIONS} features, not counting those that follow from "
                f"others; got {problem.dataset.n_features}. Use formulation='sat'."
            )
        if size.n_bytes > _MOST_BYTES or size.seconds > _MOST_SECONDS:
            return Answer(
                f"formulation='cells' would try {size.n_planes:.2g} hyperplanes, in about {size.seconds:.2g} s "
                f"and {size.n_bytes / 1e9:.2g} GB. Use formulation='sat'."
            )
        return YES

    def reason(self, problem: Problem) -> str:
        size = Size.of(problem)
        return f"through {size.dimension} of {size.n_points} points there are only {size.n_planes} hyperplanes"

    def seconds(self, problem: Problem) -> float:
        return Size.of(problem).seconds

    def moves_before(self, problem: Problem) -> int:
        """Enumeration needs a cutoff, not a good one."""
        return min(max(100, Size.of(problem).n_planes // 20), 2_000)

    def work(self, host: Host, offer: Offer) -> None:
        problem, data = host.problem, host.problem.dataset
        width = width_of(problem)
        units = Units.of(problem, host.loss)
        limits = [(weight_planes(one.coefficients), one.most) for one in limits_of(problem)]
        if units is None:
            return
        rows = MergedRows.of(data, units.integers, is_limited=bool(limits))
        most = units.below(host.loss)
        sets = rows.sets(width, most, host.must_stop)
        if sets is None:
            return
        sets = largest(sets, host.must_stop)
        if sets.nbytes * width**2 > _MOST_BYTES:
            return  # so many sets cannot be combined
        oracle = Oracle(data.X, np.asarray(data.y == 1), host.seed)
        for gate in sorted(gates(width), key=_n_alone, reverse=True):
            most = min(most, units.below(host.loss))
            found, is_done = _best(sets, rows.on, rows.units, gate, most - rows.lost, host.must_stop, limits)
            if not is_done:
                return
            if found is not None:
                answers = [oracle.ask(rows.members(sets[k]), host.must_stop) for k in found]
                neurons = [answer for answer in answers if isinstance(answer, Neuron)]
                if len(neurons) < width:
                    return  # too thin for a neuron in floats, or the time is up
                network = network_of(problem, gate, neurons)
                if math.isinf(offer(network)):
                    return  # limits were rounded
                most = min(most, int(units.integers[network.predict(data.X) != data.y].sum()) - 1)
        evidence = Enumeration(Size.of(problem).n_planes, len(sets), len(gates(width)))
        host.raise_bound(Bound(units.loss_of(most + 1, host.loss), evidence=evidence))


@dataclass(frozen=True)
class Size:
    """How much there is to enumerate: the distinct points of the rows, their dimension (up to 6) and the neurons."""

    n_points: int
    dimension: int
    n_rows: int
    width: int
    is_limited: bool = False  # by limits on errors

    @classmethod
    def of(cls, problem: Problem) -> Size:
        data, is_limited = problem.dataset, bool(problem.constraints.inequalities)
        return cls(
            int(data.group[-1]) + 1, dimension(data, MOST_DIMENSIONS + 1), data.n_rows, width_of(problem), is_limited
        )

    @property
    def keeps_one(self) -> bool:
        """Whether only the best set of a single neuron is kept."""
        return self.width == 1 and not self.is_limited

    @property
    def n_planes(self) -> int:
        """The number of hyperplanes through as many points as there are dimensions."""
        return math.comb(self.n_points, self.dimension)

    @property
    def seconds(self) -> float:
        """Most sets of more than one neuron are of use, or looked at to find out."""
        per_plane = _SECONDS + _SECONDS_PER_POINT * self.n_points
        return self.n_planes * (per_plane if self.keeps_one else max(per_plane, _SECONDS_PER_SET))

    @property
    def n_bytes(self) -> float:
        """For the sets of both sides: twice their words, hashes and a table. Of a single neuron one set is kept."""
        return 2.0 * self.n_planes * (16 * -(-self.n_rows // 64) + 24) if not self.keeps_one else 0.0


def _n_alone(gate: Gate) -> int:
    """The number of neurons that spoil rows alone: the more, the sooner bad choices are ruled out."""
    return sum(len(neurons) == 1 for code in (0, 1) for neurons in spoilers(gate, code))


def _best(
    sets: Words,
    on: Booleans,
    units: NDArray[np.int64],
    gate: Gate,
    most: int,
    should_stop: Callable[[], bool],
    limits: list[tuple[Words, int]],
) -> tuple[tuple[int, ...] | None, bool]:
    """The choice of sets, one per neuron, that loses the least, if that is at most ``most``; whether all were tried."""
    rules = [[sum(1 << j for j in neurons) for neurons in spoilers(gate, code)] for code in (0, 1)]
    classes, weights = packed(np.array([~on, on])), weight_planes(units)
    return best_sets(sets, classes, weights, gate.weights, rules, most, should_stop, limits)
