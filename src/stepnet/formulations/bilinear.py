"""Lemma 1: the products of weights and activations are left to the solver."""

from __future__ import annotations

from stepnet.errors import Answer
from stepnet.formulations.base import Encoding, Formulation
from stepnet.formulations.layered import accepts_layered, encode_layered
from stepnet.formulations.style import Style
from stepnet.problem.problem import Problem

_STYLE = Style(name="bilinear", linear=False, takes_variants=False)


class Bilinear(Formulation):
    """The model of :mod:`stepnet.formulations.layered` without s-variables:

    a^ik_j = Σ_l w^k_jl · u^i,k-1_l is bilinear, so it needs SCIP or Gurobi. Margins and big-M are
    those of ``tight``.
    """

    name = "bilinear"
    is_layered = True

    def accepts(self, problem: Problem) -> Answer:
        return accepts_layered(problem, _STYLE)

    def encode(self, problem: Problem) -> list[Encoding]:
        return [encode_layered(problem, _STYLE)]
