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
from stepnet.provers.base import Host, Offer, Prover, accepts_correct_sets, network_of, width_of
from stepnet.provers.climb import Climb
from stepnet.provers.cone_search import ConeSearch, Known
from stepnet.provers.cone_tree import advance
from stepnet.provers.fan import Fan, Vectors
from stepnet.provers.flats import Flats
from stepnet.provers.merged_rows import MergedRows, Units, dimension
from stepnet.provers.oracle import Neuron, Oracle, integer_rows
from stepnet.provers.pair_search import GateSearch
from stepnet.provers.pair_tree import advance_pairs
from stepnet.runtime.compiling import Compiling

MOST_DIMENSIONS = 7
MOST_OF_TWO = 4  # for two neurons
_MOVES = 2_000  # of a local search before


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


class Cones(Prover):
    """One neuron, or two, by branch and bound over cones, for few dimensions."""

    name = "cones"
    kernels = Compiling("cones", _compile, __name__, advance)
    pair_kernels = Compiling("pairs of cones", _compile_pairs, __name__, advance_pairs)
    resumes = True

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

    def reason(self, problem: Problem) -> str:
        what = "cones of neurons" if width_of(problem) == 1 else "pairs of cones of neurons"
        return f"with {dimension(problem.dataset, MOST_DIMENSIONS)} dimensions {what} are soon small enough"

    def moves_before(self, problem: Problem) -> int:
        """Cones find good neurons on their own."""
        return _MOVES

    def seconds_left(self, host: Host) -> float | None:
        climb: Climb | None = host.kept.get(self.name)
        return None if climb is None else climb.seconds_left

    def work(self, host: Host, offer: Offer) -> None:
        """Continue where the last turn ended, unless the best loss has too many units by now."""
        climb: Climb | None = host.kept.get(self.name)
        if climb is None or not climb.units.are_fine_for(host.loss):
            units = Units.of(host.problem, host.loss)
            if units is None:
                return
            rows = MergedRows.of(host.problem.dataset, units.integers)
            of_width = _OneNeuron if width_of(host.problem) == 1 else _TwoNeurons
            climb = host.kept[self.name] = Climb(host, units, rows, of_width(host, rows))
        climb.work(offer)


class _Neurons:
    """The rows of a fit for searches, and neurons that get some of them right."""

    def __init__(self, host: Host, rows: MergedRows) -> None:
        data = host.problem.dataset
        self.problem, self.rows = host.problem, rows
        self.vectors = vectors_of(integer_rows(data.X[rows.numbers]), rows.on)
        self.oracle = Oracle(data.X, np.asarray(data.y == 1), host.seed)
        self.fan = Fan.of(self.vectors)

    def neuron(self, right: Bools, should_stop: Callable[[], bool]) -> Neuron | None:
        """A neuron for rows that seem to be right together."""
        answer = self.oracle.ask(self.rows.numbers[right], should_stop)
        return answer if isinstance(answer, Neuron) else None


class _OneNeuron(_Neurons):
    def __init__(self, host: Host, rows: MergedRows) -> None:
        super().__init__(host, rows)
        self.known = Known()

    def search(self, target: int) -> ConeSearch:
        return ConeSearch(self.vectors, self.rows.units, target, self.known, fan=self.fan)

    def network(self, found: Bools, should_stop: Callable[[], bool]) -> Network | None:
        neuron = self.neuron(found, should_stop)
        return None if neuron is None else network_of(self.problem, gates(1)[0], [neuron])


class _TwoNeurons(_Neurons):
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


def middle_of(points: Vectors) -> list[int]:
    return [(min(column) + max(column)) // 2 for column in zip(*points, strict=True)]


def vectors_of(points: Vectors, on: Bools) -> Vectors:
    """±(x, 1) of points with integers as coordinates, from the middle of them."""
    middle, signs = middle_of(points), np.where(on, 1, -1).tolist()
    return [
        [*(sign * (value - centre) for value, centre in zip(point, middle, strict=True)), sign]
        for point, sign in zip(points, signs, strict=True)
    ]
