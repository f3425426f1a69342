"""Style: how the layered formulations differ."""

from __future__ import annotations

from dataclasses import dataclass

from stepnet.formulations.base import TOLERANCE


@dataclass(frozen=True, kw_only=True)
class Style:
    """How the layered formulations differ."""

    takes_variants: bool = True  # integer weights, staircases and several classes too
    linear: bool = True  # products as s-variables, or left to the solver
    row_wise_m: bool = True  # a big-M for each row, or the paper's for all rows
    two_sided: bool = True  # a margin on both sides of a threshold, or on the strict one
    one_sided_output: bool = True  # e^i only, or the paper's u^iK with both implications
    scaled: bool = True  # rows in [-1, 1], or in the units of the data
    tolerance: float | None = TOLERANCE
