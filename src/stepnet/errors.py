"""Exceptions of the package, each also of the standard type that callers expect, and the answers of ``accepts``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class StepnetError(Exception):
    """Base of every error that stepnet raises on purpose."""


class InvalidInputError(StepnetError, ValueError):
    """Data, a parameter or a file is not accepted; the message names the way out."""


class NotAcceptedError(StepnetError, ValueError):
    """A formulation, a solver or a method does not accept this problem; the message says why."""


class MissingExtraError(StepnetError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class SolverError(StepnetError, RuntimeError):
    """A solver failed, for a reason that is not a property of the problem."""


class SolverFailure(SolverError):  # noqa: N818 - a kind of SolverError
    """A solver broke down on a program; earlier results are kept."""


class NoNetworkError(StepnetError, RuntimeError):
    """No network was found within the limits."""


class InfeasibleError(NoNetworkError, ValueError):
    """No network of the architecture meets the limits on errors, and that is proven.

    Attributes
    ----------
    statement : Statement
        The limit that cannot be met, with the value of the network that comes nearest; None if none is known.
    bound : Bound
        What is proven: of the sum that this limit is about; with its scope and evidence.
    network : Network
        The network that comes nearest to it while it meets the others.
    """

    status = "INFEASIBLE"

    def __init__(self, message: str, statement: Any = None, bound: Any = None, network: Any = None) -> None:
        super().__init__(message)
        self.statement, self.bound, self.network = statement, bound, network


class OutOfMemoryError(StepnetError, MemoryError):
    """The work would not fit into memory and was not started."""


class ModelFileError(StepnetError, ValueError):
    """A model file is damaged or was not written by stepnet."""


@dataclass(frozen=True)
class Answer:
    """What ``accepts`` returns: true, or false with the reason and the way out."""

    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason


YES = Answer()
