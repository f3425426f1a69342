"""Cones: branch and bound over the neurons themselves, for one neuron and few dimensions.

A neuron is a ray in a space of one dimension more than the rows span. Cones of rays are pruned where all of their
neurons lose at least a target, and divided elsewhere. Targets climb until one is the best loss.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.model.arithmetic import Ints
from stepnet.problem.problem import Problem
from stepnet.provers.climb import Climbing, Search
from stepnet.provers.cone_search import ConeSearch, Known
from stepnet.provers.cone_tree import advance
from stepnet.provers.fan import Fan, Vectors, vectors_of
from stepnet.provers.merged_rows import dimension
from stepnet.provers.oracle import Oracle, integer_rows
from stepnet.runtime.compiling import Compiling

MOST_DIMENSIONS = 7


def _compile() -> None:
    """Call every kernel: three points on a line that no neuron gets right."""
    vectors = vectors_of(integer_rows(np.array([[0.0], [1.0], [2.0]])), np.array([True, False, True]))
    search = ConeSearch(vectors, np.ones(3, dtype=np.int64), 2)
    while not search.is_proven:
        search.advance(lambda: False)
    Oracle(np.array([[0.0], [1.0]]), np.array([True, False])).ask(np.arange(2))


class Cones(Climbing):
    """One neuron by branch and bound over cones, for few dimensions."""

    name = "cones"
    kernels = Compiling("cones", _compile, __name__, advance)
    most_dimensions = MOST_DIMENSIONS

    def reason(self, problem: Problem) -> str:
        return f"with {dimension(problem.dataset, MOST_DIMENSIONS)} dimensions cones of neurons are soon small enough"

    @staticmethod
    def searches(vectors: Vectors, weights: Ints) -> Callable[[int], Search]:
        known, fan = Known(), Fan.of(vectors)
        return lambda target: ConeSearch(vectors, weights, target, known, fan=fan)
