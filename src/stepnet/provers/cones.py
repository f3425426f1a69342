"""Cones: branch and bound over the neurons themselves, for one or two neurons and few dimensions.

A neuron is a ray in a space of one dimension more than the rows span. Cones of rays, or pairs of them for two neurons,
are pruned where all of their neurons lose at least a target, and divided elsewhere. Targets climb until one is the best
loss: each that is reached is a bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.errors import Answer
from stepnet.model.arithmetic import Bools
from stepnet.model.gates import gates
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, accepts_correct_sets, network_of, width_of
from stepnet.provers.climb import Searches
from stepnet.provers.climbing import Climbing, Neurons, OneNeuron
from stepnet.provers.cone_search import ConeSearch, Known
from stepnet.provers.cone_tree import advance
from stepnet.provers.fan import vectors_of
from stepnet.provers.flats import Flats
from stepnet.provers.merged_rows import MergedRows, dimension
from stepnet.provers.oracle import Oracle, integer_rows
from stepnet.provers.pair_search import GateSearch
from stepnet.provers.pair_tree import advance_pairs
from stepnet.runtime.compiling import Compiling

MOST_DIMENSIONS = 7
MOST_OF_TWO = 4  # for two neurons


def _compile() -> None:
    """Call every kernel: three points on a line that no neuron gets right."""
    vectors = vectors_of(integer_rows(np.array([[0.0], [1.0], [2.0]])), np.array([True, False, True]))
    search = ConeSearch(vectors, np.ones(3, dtype=np.int64), 2)
    while not search.is_proven:
        search.advance(lambda: False)
    Oracle(np.array([[0.0], [1.0]]), np.array([True, False])).ask(np.arange(2))


def _compile_pairs() -> None:
    """Call every kernel: five points on a line that no two neurons get right."""
    on = np.array([True, False, True, False, True])
    search = GateSearch(vectors_of([[place] for place in range(5)], on), on, np.ones(5, dtype=np.int64), 2)
    while not search.is_proven:
        search.advance(lambda: False)
    Oracle(np.array([[0.0], [1.0]]), np.array([True, False])).ask(np.arange(2))


class Cones(Climbing):
    """One neuron, or two, by branch and bound over cones, for few dimensions."""

    name = "cones"
    kernels = Compiling("cones", _compile, __name__, advance)
    pair_kernels = Compiling("pairs of cones", _compile_pairs, __name__, advance_pairs)

    def kernels_for(self, problem: Problem) -> Compiling:
        return self.kernels if width_of(problem) == 1 else self.pair_kernels

    def accepts(self, problem: Problem) -> Answer:
        if problem.architecture.hidden not in ((), (1,), (2,)):
            return Answer(
                f"formulation='cones' accepts hidden=(1,), (2,) or (); got hidden={problem.architecture.hidden}. "
                f"Use formulation='sat'."
            )
        answer = accepts_correct_sets(problem, self.name)
        is_one = width_of(problem) == 1
        other, most = ("one_neuron", MOST_DIMENSIONS) if is_one else ("sat", MOST_OF_TWO)
        if answer and not problem.is_plain:
            return Answer(f"formulation='cones' accepts no limits on errors. Use formulation={other!r}.")
        if answer and dimension(problem.dataset, most + 1) > most:
            return Answer(
                f"formulation='cones' accepts up to {most} features{' for two neurons' * (not is_one)}, not counting "
                f"those that follow from others; got {problem.dataset.n_features}. Use formulation={other!r}."
            )
        return answer

    def is_promising(self, problem: Problem) -> bool:
        """For one neuron branches take all problems that cones take, and cones are as fast on few of them."""
        return width_of(problem) > 1

    def reason(self, problem: Problem) -> str:
        what = "cones of neurons" if width_of(problem) == 1 else "pairs of cones of neurons"
        return f"with {dimension(problem.dataset, MOST_DIMENSIONS)} dimensions {what} are soon small enough"

    def searches(self, host: Host, rows: MergedRows) -> Searches:
        return (_OneNeuron if width_of(host.problem) == 1 else _TwoNeurons)(host, rows)


class _OneNeuron(OneNeuron):
    def __init__(self, host: Host, rows: MergedRows) -> None:
        super().__init__(host, rows)
        self.known = Known()

    def search(self, target: int) -> ConeSearch:
        return ConeSearch(self.vectors, self.rows.units, target, self.known, fan=self.fan)


class _TwoNeurons(Neurons):
    def __init__(self, host: Host, rows: MergedRows) -> None:
        super().__init__(host, rows)
        self.flats = Flats(self.vectors)

    def search(self, target: int) -> GateSearch:
        return GateSearch(self.vectors, self.rows.on, self.rows.units, target, self.flats, fan=self.fan)

    def network(self, found: tuple[str, Bools, Bools], should_stop: Callable[[], bool]) -> Network | None:
        name, *rights = found
        gate = next(gate for gate in gates(2) if gate.name == name)
        neurons = [self.neuron(right, should_stop) for right in rights]
        if any(neuron is None for neuron in neurons):
            return None
        return network_of(self.problem, gate, [neuron for neuron in neurons if neuron is not None])
