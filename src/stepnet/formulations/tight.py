"""Theorem 2 with what makes it true and smaller: the formulation for any depth."""

from __future__ import annotations

from stepnet.errors import Answer
from stepnet.formulations.base import Formulation
from stepnet.formulations.layered import accepts_layered, encode_layered
from stepnet.formulations.layered_encoding import LayeredEncoding
from stepnet.formulations.style import Style
from stepnet.problem.problem import Problem

_STYLE = Style(name="tight")


class Tight(Formulation):
    """The model of :mod:`stepnet.formulations.layered` with

    a margin on both sides of every threshold, a big-M of each row's own,
    M^i = ‖x^i‖_1 + max |t|, rows scaled to [-1, 1], and for the output neuron only the one
    implication that the row's class needs:
        class 1:  a^iK >= t^K + ε - M e^i          class 0:  a^iK <= t^K - ε + M e^i
    """

    name = "tight"
    is_layered = True

    def accepts(self, problem: Problem) -> Answer:
        return accepts_layered(problem, _STYLE)

    def encode(self, problem: Problem) -> list[LayeredEncoding]:
        return [encode_layered(problem, _STYLE)]
