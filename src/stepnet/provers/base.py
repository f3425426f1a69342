"""Prover: closes a problem without a mixed-integer program; Host: the fit that it works for."""

from __future__ import annotations

import importlib.util
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.errors import YES, Answer, MissingExtraError
from stepnet.model.gates import MAX_GATE_INPUTS, Gate
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.provers.oracle import KERNELS as ORACLE
from stepnet.provers.oracle import Neuron
from stepnet.provers.pool import Pool
from stepnet.runtime.compiling import Compiling
from stepnet.runtime.limits import Budget

Offer = Callable[[Network], float]  # evaluates a network, keeps it if it is better, and returns its exact loss


class Host(Protocol):
    """The fit that a prover works for: its problem and budget, the best verified loss, and the subsystems known."""

    problem: Problem
    budget: Budget
    loss: float
    seed: int
    pool: Pool
    kept: dict[str, Any]  # by name, what provers that resume have done so far

    def raise_bound(self, bound: Bound) -> None: ...

    def must_stop(self) -> bool: ...

    @property
    def is_over(self) -> bool: ...


class Prover(ABC):
    """An algorithm over the sets of rows that neurons get right; its bounds hold for all networks."""

    name: ClassVar[str]
    kernels: ClassVar[Compiling] = ORACLE
    resumes: ClassVar[bool] = False  # whether it continues where its last turn ended
    package: ClassVar[str] = ""  # that has to be installed
    extra: ClassVar[str] = ""  # which installs it

    def is_available(self) -> bool:
        """Whether the package that it needs can be imported."""
        return not self.package or importlib.util.find_spec(self.package) is not None

    def require(self) -> None:
        if not self.is_available():
            raise MissingExtraError(
                f"formulation={self.name!r} needs the package {self.package!r}, which is not installed. "
                f"Install it with: pip install 'stepnet[{self.extra}]'"
            )

    def kernels_for(self, problem: Problem) -> Compiling:
        """What is compiled before it works on a problem that it accepts."""
        return self.kernels

    @abstractmethod
    def accepts(self, problem: Problem) -> Answer:
        """Whether this prover accepts the problem; if not, the reason and the way out."""

    @abstractmethod
    def reason(self, problem: Problem) -> str:
        """Why to use this prover for a problem that it accepts."""

    def is_promising(self, problem: Problem) -> bool:
        """Whether an automatic choice should use this prover for a problem that it accepts."""
        return self.is_available()

    def moves_before(self, problem: Problem) -> int | None:
        """How many moves of a local search find a good enough cutoff; None for the usual number."""
        return None

    def seconds(self, problem: Problem) -> float:
        """About how long it takes for a problem that it accepts; infinite if that cannot be told."""
        return math.inf

    def seconds_left(self, host: Host) -> float | None:
        """About how long it still takes, after a turn; None if it cannot tell."""
        return None

    def release(self, host: Host) -> None:
        """End what still runs for a host, after its last turn."""
        return

    @abstractmethod
    def work(self, host: Host, offer: Offer) -> None:
        """Offer networks and raise bounds until the host is over, or nothing is left to try."""


def width_of(problem: Problem) -> int:
    """The number of neurons below the gate; 1 without a hidden layer, where the gate passes its input on."""
    return problem.architecture.hidden[0] if problem.architecture.hidden else 1


def network_of(problem: Problem, gate: Gate, neurons: Sequence[Neuron]) -> Network:
    """The neurons below a gate, or the neuron alone if there is no hidden layer."""
    layer = Layer(np.array([neuron.weights for neuron in neurons]), np.array([neuron.threshold for neuron in neurons]))
    return Network((layer, gate.layer) if problem.architecture.hidden else (layer,))


def accepts_correct_sets(problem: Problem, name: str) -> Answer:
    """One hidden layer of few neurons with their own thresholds and real weights, and two classes."""
    hidden, threshold = problem.architecture.hidden, problem.architecture.threshold
    if reason := problem.refuses_proofs:
        return Answer(reason)
    requirements = {
        "accepts rows that are certain": not problem.is_uncertain and problem.scenarios is None,
        f"accepts one hidden layer of up to {MAX_GATE_INPUTS} neurons; got {hidden=}": len(hidden) <= 1
        and max(hidden, default=1) <= MAX_GATE_INPUTS,
        f"needs threshold='neuron', so that neurons can be complemented; got {threshold=}": threshold == "neuron",
        "accepts real weights, steps and misclassified rows of two classes, without constraints other than limits on "
        "errors that one more right row never breaks": problem.has_correct_sets,
    }
    missed = [need for need, is_met in requirements.items() if not is_met]
    return Answer(f"formulation={name!r} {missed[0]}. Use formulation='tight'.") if missed else YES
