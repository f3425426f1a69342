"""Result: what a method returns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stepnet.bounds.bound import Bound
from stepnet.model.network import Network
from stepnet.provers.subsystem import Subsystem
from stepnet.runtime.progress import Progress

Points = tuple[tuple[float, float, float], ...]  # seconds, loss, bound


@dataclass(frozen=True)
class Result:
    """The best verified network, its exact loss, the best bound, and why the method stopped."""

    network: Network
    loss: float
    bound: Bound
    stop_reason: str
    runtime: float
    found_by: str = ""  # the stage that found the network
    claims: tuple[Claim, ...] = ()
    trace: tuple[Progress, ...] = field(default=(), repr=False)
    fewest: Bound | None = None  # on the number of non-zero weights at this loss, if it was requested
    rounds: tuple[Round, ...] = ()  # of column-and-constraint generation, if rows are uncertain
    subsystems: tuple[Subsystem, ...] = field(default=(), repr=False)  # rows that no neuron gets right together
    ways: tuple[str, ...] = ()  # the exact methods that were tried, and why
    points: Points = field(default=(), repr=False)  # the trace in short, including the runs that this one resumes
    plan: Any = field(default=None, repr=False)  # what the method planned to do
    is_learned: bool = False  # trained for new rows, not for the smallest loss
    reached: tuple[str, ...] = ()  # the exact methods in the order of their turns, and what was known after each


def points_of(trace: Sequence[Progress]) -> Points:
    """Seconds, loss and bound at every change of loss or bound."""
    points: list[tuple[float, float, float]] = []
    for one in trace:
        is_new = not points or points[-1][1:] != (one.loss, one.bound)
        if is_new and math.isfinite(one.loss) and math.isfinite(one.bound):
            points.append((one.runtime, one.loss, one.bound))
    return tuple(points)


@dataclass(frozen=True)
class Round:
    """What was known after one round of column-and-constraint generation."""

    scenarios: int  # perturbed rows in its program, besides the rows themselves
    master: float  # the loss of its network on these perturbed rows
    loss: float  # the best worst-case loss so far
    bound: float
    runtime: float  # seconds since the fit began


@dataclass(frozen=True)
class Claim:
    """The loss that a solver claimed for its best point, and the exact loss of the decoded network."""

    program: str
    solver: str
    claimed: float
    verified: float

    @property
    def is_true(self) -> bool:
        return self.verified <= self.claimed + 1e-6 * max(1.0, abs(self.claimed))
