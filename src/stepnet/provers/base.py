"""Prover: a way to close a problem without a mixed-integer program; Host: the fit that it works for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.errors import YES, Answer
from stepnet.model.gates import MAX_GATE_INPUTS, Gate
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.provers.oracle import KERNELS as ORACLE
from stepnet.provers.oracle import Neuron
from stepnet.provers.pool import Pool
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.limits import Budget


class Host(Protocol):
    """What a proof asks of the fit: the best verified loss, and to be told of networks and bounds."""

    @property
    def problem(self) -> Problem: ...

    @property
    def budget(self) -> Budget: ...

    @property
    def loss(self) -> float: ...

    @property
    def seed(self) -> int: ...

    @property
    def pool(self) -> Pool: ...

    def offer(self, network: Network) -> float: ...

    def raise_bound(self, bound: Bound) -> None: ...

    def must_stop(self) -> bool: ...

    @property
    def is_over(self) -> bool: ...


class Prover(ABC):
    """An algorithm over the sets of rows that neurons get right; its bounds hold for all networks."""

    name: ClassVar[str]
    kernels: ClassVar[Compiling] = ORACLE

    @abstractmethod
    def accepts(self, problem: Problem) -> Answer:
        """Whether this proof takes the problem; if not, the reason and what would do."""

    @abstractmethod
    def reason(self, problem: Problem) -> str:
        """What speaks for this proof, of a problem that it takes."""

    def moves_before(self, problem: Problem) -> int | None:
        """How many moves of a local search find a cut-off that is good enough; None for as many as usual."""
        return None

    @abstractmethod
    def work(self, host: Host) -> None:
        """Offer networks and raise bounds until the host is over, or nothing is left to try."""


def width_of(problem: Problem) -> int:
    """The neurons below the gate; a single neuron is one below a gate that hands it on."""
    return problem.architecture.hidden[0] if problem.architecture.hidden else 1


def network_of(problem: Problem, gate: Gate, neurons: Sequence[Neuron]) -> Network:
    """The neurons below a gate; alone where there is no hidden layer."""
    layer = Layer(np.array([neuron.weights for neuron in neurons]), np.array([neuron.threshold for neuron in neurons]))
    return Network((layer, gate.layer) if problem.architecture.hidden else (layer,))


def accepts_correct_sets(problem: Problem, name: str) -> Answer:
    """One hidden layer of few neurons, each with a threshold and real weights of its own, and two classes."""
    architecture = problem.architecture
    instead = "Use formulation='tight'."
    if reason := problem.refuses_proofs:
        return Answer(reason)
    if problem.is_uncertain or problem.scenarios is not None:
        return Answer(f"formulation={name!r} takes rows that are certain. {instead}")
    if len(architecture.hidden) > 1 or max(architecture.hidden, default=1) > MAX_GATE_INPUTS:
        return Answer(
            f"formulation={name!r} accepts one hidden layer of up to {MAX_GATE_INPUTS} neurons; got "
            f"hidden={architecture.hidden}. {instead}"
        )
    if architecture.threshold != "neuron":
        return Answer(
            f"formulation={name!r} needs threshold='neuron', where neurons can be complemented freely; got "
            f"threshold={architecture.threshold!r}. {instead}"
        )
    if not problem.is_plain:
        return Answer(
            f"formulation={name!r} takes real weights, steps and misclassified rows of two classes, without "
            f"constraints on the weights. {instead}"
        )
    return YES
