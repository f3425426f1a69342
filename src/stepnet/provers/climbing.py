"""Climbing: provers that search target by target, and resume; and the neurons that their searches find."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from stepnet.model.arithmetic import Bools
from stepnet.model.gates import gates
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host, Offer, Prover, network_of
from stepnet.provers.climb import Climb, Searches
from stepnet.provers.fan import Fan, vectors_of
from stepnet.provers.limits import limits_of
from stepnet.provers.merged_rows import MergedRows, Units
from stepnet.provers.oracle import Neuron, Oracle, integer_rows

_MOVES = 2_000  # of a local search before


class Climbing(Prover):
    """A branch and bound that climbs from target to target."""

    resumes = True
    dives = False  # whether the first cones of a search are near good neurons

    @abstractmethod
    def searches(self, host: Host, rows: MergedRows) -> Searches:
        """The search for each target, of these rows."""

    def moves_before(self, problem: Problem) -> int:
        """It finds good neurons on its own."""
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
            is_limited = bool(host.problem.constraints.inequalities)
            rows = MergedRows.of(host.problem.dataset, units.integers, is_limited=is_limited)
            searches = self.searches(host, rows)
            climb = host.kept[self.name] = Climb(host, units, rows, searches, dives=self.dives)
        climb.work(offer)


class Neurons:
    """The rows of a fit for searches, and neurons that get some of them right."""

    def __init__(self, host: Host, rows: MergedRows) -> None:
        data = host.problem.dataset
        self.problem, self.rows, self.limits = host.problem, rows, limits_of(host.problem)
        self.vectors = vectors_of(integer_rows(data.X[rows.numbers]), rows.on)
        self.oracle = Oracle(data.X, np.asarray(data.y == 1), host.seed)
        self.fan = Fan.of(self.vectors)

    def neuron(self, right: Bools, should_stop: Callable[[], bool]) -> Neuron | None:
        """A neuron for rows that seem to be right together."""
        answer = self.oracle.ask(self.rows.numbers[right], should_stop)
        return answer if isinstance(answer, Neuron) else None


class OneNeuron(Neurons):
    """What is found are the rows that a neuron gets right."""

    def network(self, found: Bools, should_stop: Callable[[], bool]) -> Network | None:
        neuron = self.neuron(found, should_stop)
        return None if neuron is None else network_of(self.problem, gates(1)[0], [neuron])
