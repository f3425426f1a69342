"""The package's own exceptions, each also the standard one a caller would expect; and refusals."""

from __future__ import annotations

from dataclasses import dataclass


class StepnetError(Exception):
    """Base of every error that stepnet raises on purpose."""


class InvalidInputError(StepnetError, ValueError):
    """Data, a parameter or a file is not what is accepted; the message names the way out."""


class NotAcceptedError(StepnetError, ValueError):
    """A formulation, a solver or a method does not take this problem; the message says why."""


class MissingExtraError(StepnetError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class SolverError(StepnetError, RuntimeError):
    """A solver failed in a way that is no property of the problem."""


class SolverFailure(SolverError):  # noqa: N818 - a kind of SolverError
    """A solver broke down on a program; what was found before stays."""


class NoNetworkError(StepnetError, RuntimeError):
    """Nothing was found within the limits."""


class OutOfMemoryError(StepnetError, MemoryError):
    """The work would not fit into memory; it has not begun."""


class ModelFileError(StepnetError, ValueError):
    """A model file is damaged or was not written by stepnet."""


@dataclass(frozen=True)
class Answer:
    """What ``accepts`` returns: true, or false with the reason and the way out."""

    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason


YES = Answer()
