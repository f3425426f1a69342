"""Theorem 2, corrected and made smaller: the formulation for any depth."""

from __future__ import annotations

from stepnet.formulations.layered import Layered
from stepnet.formulations.style import Style


class Tight(Layered):
    """The model of :mod:`stepnet.formulations.layered` with

    a margin on both sides of every threshold, a big-M for each row,
    M^i = ‖x^i‖_1 + max |t|, rows scaled to [-1, 1], and for the output neuron only the
    implication that the row's class needs:
        class 1:  a^iK >= t^K + ε - M e^i          class 0:  a^iK <= t^K - ε + M e^i
    """

    name = "tight"
    style = Style()
