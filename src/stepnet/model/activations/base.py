"""Activation: how a layer turns its sums into outputs or answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Bools, Floats, Ints, Weights

Levels = NDArray[np.int16]  # how many thresholds a neuron has reached; for a step, its bit
Codes = Ints  # of classes
Condition = tuple[Floats, float, bool]  # weights w and a number d: w·h >= d, or w·h > d where the last is True


class Activation(ABC):
    """How a layer turns its sums into outputs or answers.

    Its neurons have levels (a staircase, allowed in any layer), are compared with each other, give numbers, or are
    interpreted in another way. A layer without levels can only be the last.
    """

    name: str
    values: tuple[float, ...]  # the output of a neuron at each level
    thresholds: tuple[float, ...] | None  # if they are given, not learned
    n_thresholds: int  # per neuron

    has_levels: ClassVar[bool] = False
    is_compared: ClassVar[bool] = False
    gives_numbers: ClassVar[bool] = False
    reading: ClassVar[str] = ""  # a sentence printed below the rules of the neurons, where these need one

    @property
    def is_unusual(self) -> bool:
        """Whether only its own methods define the answers; programs, proofs, descents and exports do not support it."""
        return not (self.has_levels or self.is_compared or self.gives_numbers)

    @abstractmethod
    def read(self, signals: Floats, weights: Weights, thresholds: Floats) -> tuple[Floats, Levels]:
        """``w·h - t`` for the first threshold, and the exact levels or the answers as one column."""

    @abstractmethod
    def n_answers(self, width: int) -> int:
        """The number of answers of a last layer of this width; 0 if they are numbers."""

    @abstractmethod
    def answers(self, sums: Floats, thresholds: Floats) -> Codes:
        """The answers for sums w·h (rows × neurons) in plain floats, for searches; thresholds are neurons × L."""

    @abstractmethod
    def switches(self, sums: Floats, thresholds: Floats, j: int) -> tuple[Floats, Codes]:
        """The values of the sum of neuron ``j`` at which answers change (rows × L, rising), and the L + 1 answers."""

    def width_for(self, n_classes: int) -> int:
        """The width of a last layer for this many classes."""
        return 1

    def scores(self, values: Floats, levels: Levels) -> Floats:
        """For ``decision_function``, from the result of :meth:`read`: by default 1 in the column of the answer."""
        return np.eye(self.n_answers(values.shape[1]))[levels[:, 0]]

    def distances(self, weights: Floats, values: Floats, levels: Levels) -> Floats:
        """For a single layer: a lower bound on the distance of each row to another answer."""
        return np.zeros(len(values))

    def level_ranges(self, weights: Weights, thresholds: Floats, least: Floats, most: Floats) -> tuple[Codes, Codes]:
        """The lowest and highest levels (rows × neurons) of signals between two ends; in doubt, the wider range."""
        raise TypeError(f"neurons of {self.name} have no levels")

    def could_miss(self, weights: Weights, thresholds: Floats, least: Floats, most: Floats, classes: Codes) -> Bools:
        """Whether signals between ``least`` and ``most`` could get an answer other than the class; in doubt, yes."""
        return np.ones(len(least), dtype=bool)

    def rivals(self, weights: Floats, thresholds: Floats, answer: int) -> list[Condition] | None:
        """What sums every other answer needs: one of these must hold for it to be given; None if that is unknown."""
        return None

    def constant_thresholds(self, code: int, width: int, beyond: float) -> Floats:
        """Thresholds for which the answer is always ``code`` if no sum exceeds ``beyond`` in size."""
        return np.zeros(width)

    def threshold_shape(self, width: int) -> tuple[int, ...]:
        """One number per neuron, or one row of them."""
        return (width,) if self.n_thresholds == 1 else (width, self.n_thresholds)


class Output(Activation):
    """The activation of a last layer whose neurons have no levels."""

    values = ()
    thresholds = None
    n_thresholds = 1
