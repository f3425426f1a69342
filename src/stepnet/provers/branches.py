"""Branches: branch and bound over which rows a neuron gets right, for one neuron.

Taking sides on rows bounds a cone of neurons. What a cone loses at least follows from rows of which no neuron in it
gets all right: these are the fewer, the more sides are taken. Targets climb until one is the best loss.
"""

from __future__ import annotations

import numpy as np

from stepnet.errors import Answer
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, accepts_correct_sets
from stepnet.provers.branch_search import BranchSearch, Learned
from stepnet.provers.branch_tree import advance
from stepnet.provers.climb import Searches
from stepnet.provers.climbing import Climbing, OneNeuron
from stepnet.provers.fan import Fan, vectors_of
from stepnet.provers.merged_rows import MergedRows, dimension
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

    def accepts(self, problem: Problem) -> Answer:
        if problem.architecture.hidden not in ((), (1,)):
            return Answer(
                f"formulation='branches' accepts hidden=(1,) or (); got hidden={problem.architecture.hidden}. "
                f"Use formulation='sat'."
            )
        answer = accepts_correct_sets(problem, self.name)
        if answer and dimension(problem.dataset, MOST_DIMENSIONS + 1) > MOST_DIMENSIONS:
            return Answer(
                f"formulation='branches' accepts up to {MOST_DIMENSIONS} features, not counting those that follow from "
                f"others; got {problem.dataset.n_features}. Use formulation='one_neuron'."
            )
        return answer

    def reason(self, problem: Problem) -> str:
        return "taking sides on few rows decides a single neuron"

    def searches(self, host: Host, rows: MergedRows) -> Searches:
        return _Searches(host, rows)


class _Searches(OneNeuron):
    def __init__(self, host: Host, rows: MergedRows) -> None:
        super().__init__(host, rows)
        self.learned = Learned.of(self.fan)

    def search(self, target: int) -> BranchSearch:
        return BranchSearch(self.fan, self.rows.units, target, self.learned, self.limits)
