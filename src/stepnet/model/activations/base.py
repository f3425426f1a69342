"""Activation: how the values of a layer are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Bools, Floats, Ints

Levels = NDArray[np.int16]  # how many thresholds a neuron's value has reached: for steps, its bits
Codes = Ints  # of classes


class Activation(ABC):
    """What a layer makes of its values.

    Its neurons have levels (then it is a staircase, and may stand in any layer), are compared with each other,
    give numbers, or are read in a way of their own; layers without levels are the last.
    """

    name: str
    values: tuple[float, ...]  # what neurons hand on, by their level
    thresholds: tuple[float, ...] | None  # where they are given and not learned
    n_thresholds: int  # of a neuron

    has_levels: ClassVar[bool] = False
    is_compared: ClassVar[bool] = False
    gives_numbers: ClassVar[bool] = False
    reading: ClassVar[str] = ""  # a sentence below the rules of the neurons, where they do not say it all

    @property
    def is_unusual(self) -> bool:
        """Whether only its own methods know the answers: programs, proofs, descents and exports do not."""
        return not (self.has_levels or self.is_compared or self.gives_numbers)

    @abstractmethod
    def read(self, signals: Floats, weights: Floats, thresholds: Floats) -> tuple[Floats, Levels]:
        """``w·h - t`` (of the first threshold) and exact levels, or the answers as one column."""

    @abstractmethod
    def n_answers(self, width: int) -> int:
        """How many answers a last layer of this width has; 0 if they are numbers."""

    @abstractmethod
    def answers(self, sums: Floats, thresholds: Floats) -> Codes:
        """The answers to the sums w·h (rows × neurons) in plain floats, for searches; thresholds are neurons × L."""

    @abstractmethod
    def switches(self, sums: Floats, thresholds: Floats, j: int) -> tuple[Floats, Codes]:
        """Where answers change as the sum of neuron ``j`` rises alone (rows × L, in order), and the L + 1 answers."""

    def width_for(self, n_classes: int) -> int:
        """How wide a last layer is that tells so many classes apart."""
        return 1

    def scores(self, values: Floats, levels: Levels) -> Floats:
        """What ``decision_function`` shows, from what :meth:`read` gave: 1 in the column of the answer."""
        return np.eye(self.n_answers(values.shape[1]))[levels[:, 0]]

    def distances(self, weights: Floats, values: Floats, levels: Levels) -> Floats:
        """Of a single layer: how far each row at least is from another answer."""
        return np.zeros(len(values))

    def level_ranges(self, weights: Floats, thresholds: Floats, least: Floats, most: Floats) -> tuple[Codes, Codes]:
        """The lowest and highest levels (rows × neurons) of signals between two ends; wider where that is in doubt."""
        raise TypeError(f"neurons of {self.name} have no levels")

    def could_miss(self, weights: Floats, thresholds: Floats, least: Floats, most: Floats, classes: Codes) -> Bools:
        """Whether signals between ``least`` and ``most`` could have another answer than the class; if in doubt, yes."""
        return np.ones(len(least), dtype=bool)

    def constant_thresholds(self, code: int, width: int, beyond: float) -> Floats:
        """Thresholds with which the answer is ``code``, where no sum goes beyond a size and thresholds are free."""
        return np.zeros(width)


class Output(Activation):
    """What a last layer makes of its values where its neurons have no levels."""

    values = ()
    thresholds = None
    n_thresholds = 1
