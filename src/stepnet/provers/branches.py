"""Branches: branch and bound over which rows a neuron gets right, for one neuron.

Taking sides on rows bounds a cone of neurons. What a cone loses at least follows from rows of which no neuron in it
gets all right: these are the fewer, the more sides are taken. Targets climb until one is the best loss.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.model.arithmetic import Ints
from stepnet.problem.problem import Problem
from stepnet.provers.branch_search import BranchSearch, Learned
from stepnet.provers.branch_tree import advance
from stepnet.provers.climb import Climbing, Search
from stepnet.provers.fan import Fan, Vectors, vectors_of
from stepnet.provers.oracle import Oracle, integer_rows
from stepnet.runtime.compiling import Compiling

MOST_DIMENSIONS = 30


def _compile() -> None:
    """Call every kernel: three points on a line that no neuron gets right."""
    vectors = vectors_of(integer_rows(np.array([[0.0], [1.0], [2.0]])), np.array([True, False, True]))
    search = BranchSearch(Fan.of(vectors), np.ones(3, dtype=np.int64), 2)
    search.tree.learn(np.arange(3), np.ones(3, dtype=np.int64))
    while not search.is_proven:
        search.advance(lambda: False)
    Oracle(np.array([[0.0], [1.0]]), np.array([True, False])).ask(np.arange(2))


class Branches(Climbing):
    """One neuron by branch and bound over the sides of rows."""

    name = "branches"
    kernels = Compiling("branches", _compile, __name__, advance)
    dives = True
    most_dimensions = MOST_DIMENSIONS

    def reason(self, problem: Problem) -> str:
        return "taking sides on few rows decides a single neuron"

    @staticmethod
    def searches(vectors: Vectors, weights: Ints) -> Callable[[int], Search]:
        fan = Fan.of(vectors)
        learned = Learned.of(fan)
        return lambda target: BranchSearch(fan, weights, target, learned)
