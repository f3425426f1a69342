"""Lemma 1: the products of weights and activations are left to the solver."""

from __future__ import annotations

from stepnet.formulations.layered import Layered
from stepnet.formulations.style import Style


class Bilinear(Layered):
    """The model of :mod:`stepnet.formulations.layered` without s-variables.

    a^ik_j = Σ_l w^k_jl · u^i,k-1_l is bilinear, so it needs SCIP or Gurobi. Margins and big-M are
    those of ``tight``.
    """

    name = "bilinear"
    style = Style(linear=False, takes_variants=False)
