"""Theorem 2 as printed, with its indices mended: the baseline that speed-ups are measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stepnet.errors import Answer
from stepnet.formulations.base import TOLERANCE, Encoding, Formulation
from stepnet.formulations.layered import accepts_layered, encode_layered
from stepnet.formulations.style import Style
from stepnet.problem.problem import Problem


@dataclass(frozen=True)
class Paper(Formulation):
    """The model of :mod:`stepnet.formulations.layered` as the paper has it.

    M_1 = n·r + 1 with r the largest Euclidean norm of a row, M_k = d_{k-1} + 1; u^iK with both
    implications also for the output; ε = 0.0001 on the strict side alone; the rows as they are, and
    the solver's default tolerances. Its claims are often false, and are verified like all others; a bound
    is believed only where M times the solver's tolerance stays below the margin.

    Parameters
    ----------
    two_sided : bool
        With ``True`` the same program gets the margin on both sides, the scaled rows and the tight
        tolerances of ``tight``, so that both prove the same thing: for fair comparisons of speed.
    """

    name: ClassVar[str] = "paper"
    is_layered = True
    two_sided: bool = False

    @property
    def style(self) -> Style:
        return Style(
            name=self.name,
            takes_variants=False,
            row_wise_m=False,
            one_sided_output=False,
            two_sided=self.two_sided,
            scaled=self.two_sided,
            tolerance=TOLERANCE if self.two_sided else None,
        )

    def accepts(self, problem: Problem) -> Answer:
        return accepts_layered(problem, self.style)

    def encode(self, problem: Problem) -> list[Encoding]:
        return [encode_layered(problem, self.style)]
