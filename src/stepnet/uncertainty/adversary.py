"""Adversary: the smallest perturbation of a row that changes a network's answer, enclosed from both sides.

From above by attacks, each verified by an exact forward pass; from below by radii within which it is proven that there
is none (:mod:`stepnet.uncertainty.decision`). The first attack comes from quick searches in growing radii, the first
radius from the nearest hyperplanes that could change the answer if each were crossed on its own. Then radii between
the two are decided until they meet: first the one just below the best attack, for few nodes, then halves, for more.

Being below a threshold is relaxed to being at or below it, so the radius found is a lower bound on the size of every
perturbation that changes the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.uncertainty.ball import Ball
from stepnet.uncertainty.circuit import Circuit
from stepnet.uncertainty.decision import Decision, Target
from stepnet.uncertainty.first_attack import first_attack, improved
from stepnet.uncertainty.hyperplanes import Hyperplanes

CLOSE = 1e-6  # relative: a radius and an attack this close meet
_TIGHT = 2e-8  # relative: the last radius is this much below the best attack
_TINY = 1e-11  # of the row's largest feature: attacks this small are as near as floats come
_FAR = 1e8  # times the distance of the farthest hyperplane
_FIRST_NODES, _GROWTH = 40, 4
_MOST_NODES = 20_000


@dataclass(frozen=True)
class Attack:
    """What an adversary can do to one row.

    Attributes
    ----------
    radius : float
        No smaller perturbation changes the answer, proven; infinite if none does.
    point : ndarray or None
        A perturbed row with another answer, verified; None if none was found.
    size : float
        The size of this perturbation, at least ``radius``; infinite without a point.
    is_complete : bool
        Whether the two meet: the smallest perturbation is known up to a relative 1e-6.
    claimed_by : str
        The solver whose word the radius rests on; empty if it is proven without one.
    """

    radius: float
    point: Floats | None
    size: float
    is_complete: bool = True
    claimed_by: str = ""

    def joined(self, other: Attack) -> Attack:
        """What two searches of the same row know together."""
        best = self if self.size <= other.size else other
        proof = self if self.radius >= other.radius else other
        is_complete = self.is_complete or other.is_complete
        return Attack(proof.radius, best.point, best.size, is_complete, proof.claimed_by)


class Adversary:
    """Attacks on one network; perturbations are measured as in a ball, whose own radius is ignored."""

    def __init__(self, network: Network, ball: Ball, most_nodes: int = _MOST_NODES) -> None:
        if network.layers[-1].activation.gives_numbers and len(network.layers) > 1:
            raise InvalidInputError("an attack changes a class; the outputs of this network are numbers.")
        if not ball.is_plain:
            raise InvalidInputError("an attack measures perturbations with scale=, not with a transform.")
        self.network, self.ball, self.most_nodes = network, ball, most_nodes
        self.planes = Hyperplanes(network, ball)
        self.circuit = Circuit(network)

    def target(self, row: Floats) -> Target:
        levels = self.network.levels(row[None])
        now = self.planes.sides(levels[0])[0]
        return Target(self.circuit, self.planes, self.ball, row, int(levels[-1][0, 0]), now)

    def attack(
        self,
        row: Floats,
        code: int | None = None,
        radius: float | None = None,
        should_stop: Callable[[], bool] = lambda: False,
        *,
        hints: Sequence[Floats] = (),
        most_nodes: int | None = None,
    ) -> Attack:
        """The smallest perturbation with an answer other than ``code`` (default: the answer for the row).

        With a radius it is only decided whether there is one up to that size. Hints are points that may be attacks.
        """
        target = self.target(row)
        if code is not None and code != target.answer:
            return Attack(0.0, row.copy(), 0.0)
        enclosure = Enclosure(target, radius)
        enclosure.begin(hints)
        enclosure.close(self.most_nodes if most_nodes is None else most_nodes, should_stop)
        return enclosure.attack()


class Enclosure:
    """The interval of one row: ``radius`` from below, ``size`` of the best attack from above."""

    def __init__(self, target: Target, wanted: float | None = None) -> None:
        self.target, self.wanted = target, wanted
        self.distances = target.distances()
        finite = self.distances[np.isfinite(self.distances)]
        self.farthest = _FAR * (1.0 + float(finite.max(initial=0.0)))
        scales = target.ball.scales(len(target.row))
        self.tiny = _TINY * float((np.abs(target.row) / scales).max(initial=0.0))
        self.radius, self.size = 0.0, np.inf
        self.point: Floats | None = None
        self.begun: dict[float, Decision] = {}

    @property
    def is_closed(self) -> bool:
        if self.wanted is not None:
            return self.radius > self.wanted or self.size <= self.wanted
        return bool(self.size <= self.radius * (1 + CLOSE) + self.tiny or np.isinf(self.radius))

    def attack(self) -> Attack:
        return Attack(min(self.radius, self.size), self.point, self.size, self.is_closed)

    def offer(self, point: Floats | None) -> None:
        """Take an attack if it is better."""
        if point is not None and (size := self.target.size(point)) < self.size:
            self.point, self.size = point, size

    def begin(self, hints: Sequence[Floats] = ()) -> None:
        """The first bound and the first attack."""
        self.radius = self._alone()
        if self.is_closed or np.isinf(self.radius):
            return
        most = self.farthest if self.wanted is None else self.wanted
        self.offer(first_attack(self.target, max(self.radius, 1e-9), most))
        for hint in hints:
            if self.target.size(hint) < 4 * self.size and self.target.is_hit(hint):
                self.offer(improved(self.target, hint))

    def _alone(self) -> float:
        """The radius from which the sides in reach, each on its own, could change the answer.

        By bisection over how many of the nearest hyperplanes may be crossed: more of them can only change more.
        """
        target = self.target
        order = np.argsort(self.distances, kind="stable")
        order = order[np.isfinite(self.distances[order])]

        def could(n_crossed: int) -> bool:
            sides = target.now.copy()
            sides[order[:n_crossed]] = -1
            low, high = target.all_bits(sides)
            return bool(target.circuit.could_miss(low[None], high[None], target.answer)[0])

        if not could(len(order)):
            return np.inf
        no, yes = -1, len(order)
        while yes - no > 1:
            middle = (no + yes) // 2
            no, yes = (no, middle) if could(middle) else (middle, yes)
        return float(self.distances[order[yes - 1]]) if yes else 0.0

    def close(self, most_nodes: int, should_stop: Callable[[], bool]) -> None:
        """Decide radii until the interval is closed, or the nodes or the time are used up."""
        left, nodes = most_nodes, _FIRST_NODES
        while not self.is_closed and left > 0 and not should_stop():
            n_before, has_ended = left, False
            for radius in self._radii():
                decision = self.begun.get(radius)
                if not self.radius <= radius < self.size or left <= 0 or (decision and decision.is_over):
                    continue
                decision = decision or Decision(self.target, radius)
                n_nodes = decision.n_nodes
                decision.run(min(nodes, left), should_stop)
                left -= max(1, decision.n_nodes - n_nodes)
                self._learn(decision)
                has_ended = decision.is_over and not decision.is_open
                if has_ended or self.is_closed or should_stop():
                    break
            if left == n_before:
                return  # rounding leaves all of them in doubt
            nodes *= 1 if has_ended else _GROWTH

    def _radii(self) -> list[float]:
        if self.wanted is not None:
            return [self.wanted]
        if np.isinf(self.size):
            return [self.farthest, max(2 * self.radius, 1e-9)]
        last = self.size * (1 - _TIGHT)
        return [last, *(self.radius + share * (self.size - self.radius) for share in (0.5, 0.25, 0.1))]

    def _learn(self, decision: Decision) -> None:
        self.offer(decision.point)
        self.begun = {one.radius: one for one in (*self.begun.values(), decision)}
        # Only those that may be continued are kept.
        self.begun = {radius: one for radius, one in self.begun.items() if self.radius <= radius < self.size}
        if decision.is_proven:
            # Within a closed ball there is none, so the smallest is larger.
            self.radius = max(self.radius, float(np.nextafter(decision.radius, np.inf)))
            if decision.radius == self.farthest:
                self.radius = np.inf
