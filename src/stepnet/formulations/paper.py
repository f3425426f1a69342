"""Theorem 2 as printed, with its indices corrected: the baseline against which speed-ups are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stepnet.formulations.base import TOLERANCE
from stepnet.formulations.layered import Layered
from stepnet.formulations.style import Style


@dataclass(frozen=True)
class Paper(Layered):
    """The model of :mod:`stepnet.formulations.layered` as in the paper.

    M_1 = n·r + 1 with r the largest Euclidean norm of a row, M_k = d_{k-1} + 1; u^iK with both
    implications for the output as well; ε = 0.0001 on the strict side only; unscaled rows, and the
    solver's default tolerances. Its claims are often false, and are verified like all others; a bound
    is trusted only if M times the solver's tolerance stays below the margin.

    Parameters
    ----------
    two_sided : bool
        If ``True``, the same program gets the margin on both sides, the scaled rows and the tight
        tolerances of ``tight``, so that both prove the same thing: for fair comparisons of speed.
    """

    name: ClassVar[str] = "paper"
    two_sided: bool = False

    @property
    def style(self) -> Style:
        return Style(
            takes_variants=False,
            row_wise_m=False,
            one_sided_output=False,
            two_sided=self.two_sided,
            scaled=self.two_sided,
            tolerance=TOLERANCE if self.two_sided else None,
        )
