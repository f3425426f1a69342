"""Progress: what a running fit reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """The state of a fit when it has found a better network or bound, or has begun another stage."""

    runtime: float
    loss: float
    bound: float
    gap: float
    stage: str
    network: Any = None  # the best verified network so far
    share: float | None = None  # how much of the stage is done, if known
    is_learned: bool = False  # whether the network is trained for new rows: then the gap is not what matters

    @classmethod
    def of_parts(cls, runtime: float, n_done: int, n_parts: int, noun: str, *, is_learned: bool = False) -> Progress:
        """Of work on parts of a vote, which has no loss before all of them are done."""
        stage = f"{n_done} of {n_parts} {noun}"
        return cls(runtime, math.inf, 0.0, 1.0, stage, share=n_done / n_parts, is_learned=is_learned)

    @classmethod
    def of_share(cls, runtime: float, stage: str, share: float) -> Progress:
        """Of work without losses, of which a share from 0 to 1 is done."""
        return cls(runtime, math.inf, 0.0, 1.0, stage, share=share)


# Returns True to end the fit with the best network so far.
Callback = Callable[[Progress], bool | None]


def relative_gap(loss: float, bound: float) -> float:
    """(loss - bound) / loss; 0 if they are equal."""
    return 0.0 if loss <= bound else (loss - bound) / loss
