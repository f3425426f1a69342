"""Formulation: how a problem becomes one or several mixed-integer programs, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from stepnet.bounds.scope import Scope
from stepnet.errors import Answer
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem
from stepnet.solvers.model import Model

SMALLEST_MARGIN = 1e-4
TOLERANCE = 1e-7  # far below every margin; with 1e-8 and 1e-9 HiGHS now and then cut off solutions


class Encoding(ABC):
    """One program of a problem: the model, and the way between its points and networks."""

    formulation: str  # its name
    name: str  # with what tells it from the other programs of the problem
    model: Model
    margin: float  # the bound holds for networks with at least this margin; 0: for all networks
    scope: Scope
    is_safe: bool = True  # whether a solver's bound on this program can be believed
    tolerance: float | None = TOLERANCE  # what the solver is told; None: its own default

    @abstractmethod
    def decode(self, point: Floats) -> Network:
        """The network, in the units of the data, that a point of the program stands for."""

    @abstractmethod
    def start(self, network: Network) -> Floats | None:
        """The point of the program that stands for a network; None if it has none."""

    def refine(self, point: Floats) -> Floats:
        """A point with the same integers that costs no more, where there is a quick way to one."""
        return point


class Formulation(ABC):
    """A way to write problems as programs. The optimum is the best over all of its programs."""

    name: ClassVar[str]
    is_layered: ClassVar[bool] = False  # whether the layers of its one program can be solved for in turn

    @abstractmethod
    def accepts(self, problem: Problem) -> Answer:
        """Whether this formulation takes the problem; if not, the reason and what would do."""

    @abstractmethod
    def encode(self, problem: Problem) -> Sequence[Encoding]:
        """The programs of the problem."""


def refuses_programs(problem: Problem, name: str) -> str:
    """Why no formulation takes the problem itself, or nothing if some may."""
    if not problem.is_uncertain:
        return problem.refuses_proofs
    return (
        f"formulation={name!r} takes finitely many points a row; a set of moves has infinitely many. "
        f"Use method=Exact(formulation={name!r}), which generates the points that matter."
    )


def safe_margin(largest_big_m: float) -> float:
    """A margin that the integrality tolerance of a solver times big-M cannot eat up."""
    return max(SMALLEST_MARGIN, 2e-6 * largest_big_m)


def normalised(layer: Layer, architecture: Architecture) -> Layer:
    """The layer with weights and thresholds in [-1, 1], computing the same.

    Every neuron is divided by a power of two, which is exact; where a layer shares its threshold or
    compares its neurons, all by the same one.
    """
    thresholds = layer.thresholds.reshape(layer.width, -1)
    sizes = np.maximum(np.abs(layer.weights).max(axis=1, initial=0.0), np.abs(thresholds).max(axis=1))
    if architecture.threshold == "layer" or layer.activation.is_compared:
        sizes = np.full_like(sizes, sizes.max())
    exponents = np.where(sizes > 0, np.ceil(np.log2(np.where(sizes > 0, sizes, 1.0))), 0.0)
    factors = np.ldexp(1.0, -exponents.astype(int))
    return layer.with_(layer.weights * factors[:, None], (layer.thresholds.T * factors).T)


def with_fixed_threshold(layer: Layer, fixed: float | tuple[float, ...]) -> Layer:
    """The layer with every neuron scaled so that its thresholds are the given numbers (not all 0)."""
    wanted = np.atleast_1d(fixed)
    largest = int(np.abs(wanted).argmax())
    factors = wanted[largest] / layer.thresholds.reshape(layer.width, -1)[:, largest]
    return layer.with_(layer.weights * factors[:, None], np.broadcast_to(fixed, layer.thresholds.shape))
