"""Result: what a method hands back."""

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
    fewest: Bound | None = None  # on the number of non-zero weights at this loss, where that was asked for
    rounds: tuple[Round, ...] = ()  # of column-and-constraint generation, where rows are uncertain
    subsystems: tuple[Subsystem, ...] = field(default=(), repr=False)  # rows that no neuron gets right together
    ways: tuple[str, ...] = ()  # to an exact answer that were tried, and why
    points: Points = field(default=(), repr=False)  # the trace in short, with that of runs this one resumes
    plan: Any = field(default=None, repr=False)  # what the method was going to do


def points_of(trace: Sequence[Progress]) -> Points:
    """Seconds, loss and bound whenever one of them changed."""
    points: list[tuple[float, float, float]] = []
    for one in trace:
        is_new = not points or points[-1][1:] != (one.loss, one.bound)
        if is_new and math.isfinite(one.loss) and math.isfinite(one.bound):
            points.append((one.runtime, one.loss, one.bound))
    return tuple(points)


@dataclass(frozen=True)
class Round:
    """One round of column-and-constraint generation: what was known after it."""

    scenarios: int  # points besides the rows themselves that its program had
    master: float  # the loss of its network on those points
    loss: float  # the best worst-case loss so far
    bound: float
    runtime: float  # seconds since the fit began


@dataclass(frozen=True)
class Claim:
    """A loss that a solver claimed for its best point, and that of the decoded network."""

    program: str
    solver: str
    claimed: float
    verified: float

    @property
    def is_true(self) -> bool:
        return self.verified <= self.claimed + 1e-6 * max(1.0, abs(self.claimed))
