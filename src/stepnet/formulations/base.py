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
TOLERANCE = 1e-7  # far below every margin; with 1e-8 and 1e-9 HiGHS occasionally cut off solutions


class Encoding(ABC):
    """One program of a problem: the model, and the maps between its points and networks."""

    formulation: str  # its name
    name: str  # distinguishes it from the other programs of the problem
    model: Model
    margin: float  # the bound holds for networks with at least this margin; 0: for all networks
    scope: Scope
    is_safe: bool = True  # whether a solver's bound on this program can be trusted
    tolerance: float | None = TOLERANCE  # what the solver is told; None: its own default

    @abstractmethod
    def decode(self, point: Floats) -> Network:
        """The network, in the units of the data, that a point of the program represents."""

    @abstractmethod
    def start(self, network: Network) -> Floats | None:
        """The point of the program that represents a network; None if there is none."""

    def refine(self, point: Floats) -> Floats:
        """A point with the same integers that costs no more, if one can be found quickly."""
        return point


class Formulation(ABC):
    """A way to write problems as programs. The optimum is the best over all of its programs."""

    name: ClassVar[str]
    is_layered: ClassVar[bool] = False  # whether it is one program whose layers can be solved for in turn

    @abstractmethod
    def accepts(self, problem: Problem) -> Answer:
        """Whether this formulation accepts the problem; if not, the reason and the way out."""

    @abstractmethod
    def encode(self, problem: Problem) -> Sequence[Encoding]:
        """The programs of the problem."""

    def n_programs(self, problem: Problem) -> int:
        """Of a problem that it accepts."""
        return 1


def refuses_programs(problem: Problem, name: str) -> str:
    """Why no formulation accepts the problem itself; nothing if some may."""
    if not problem.is_uncertain:
        return problem.refuses_proofs
    return (
        f"formulation={name!r} accepts finitely many points per row; an uncertainty set has infinitely many. "
        f"Use method=Exact(formulation={name!r}), which generates the points that matter."
    )


def safe_margin(largest_big_m: float) -> float:
    """A margin that exceeds the integrality tolerance of a solver times big-M."""
    return max(SMALLEST_MARGIN, 2e-6 * largest_big_m)


def normalised(layer: Layer, architecture: Architecture) -> Layer:
    """The same layer with weights and thresholds in [-1, 1].

    Every neuron is divided by a power of two, which is exact; all by the same one if they share a
    threshold or are compared.
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
