"""Identity: the numbers a - t themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepnet.model.activations.base import Codes, Levels, Output
from stepnet.model.arithmetic import Floats, Weights, accurate_sums


@dataclass(frozen=True)
class Identity(Output):
    """The numbers a - t are the answer, the same on every machine."""

    name = "identity"
    gives_numbers = True

    def read(self, signals: Floats, weights: Weights, thresholds: Floats) -> tuple[Floats, Levels]:
        return accurate_sums(signals, weights, thresholds), np.empty((len(signals), 0), dtype=np.int16)

    def n_answers(self, width: int) -> int:
        return 0

    def answers(self, sums: Floats, thresholds: Floats) -> Codes:
        raise TypeError("the outputs are numbers, not classes")

    def switches(self, sums: Floats, thresholds: Floats, j: int) -> tuple[Floats, Codes]:
        raise TypeError("the outputs are numbers, not classes")

    def scores(self, values: Floats, levels: Levels) -> Floats:
        return values

    def distances(self, weights: Floats, values: Floats, levels: Levels) -> Floats:
        return np.full(len(values), np.inf)


IDENTITY = Identity()
