"""Progress: what a running fit tells the outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """The state of a fit when it found a better network or bound, or went on to something else."""

    runtime: float
    loss: float
    bound: float
    gap: float
    stage: str
    network: Any = None  # the best verified network so far
    share: float | None = None  # how much of the stage is done, if that is known


# Returns True to end the fit with the best network so far.
Callback = Callable[[Progress], bool | None]


def relative_gap(loss: float, bound: float) -> float:
    """(loss - bound) / loss; 0 where they are equal."""
    return 0.0 if loss <= bound else (loss - bound) / loss
