"""The formulations by name, and the choice of ``"auto"``."""

from __future__ import annotations

from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.formulations.base import Formulation
from stepnet.formulations.bilinear import Bilinear
from stepnet.formulations.gates import Gates
from stepnet.formulations.paper import Paper
from stepnet.formulations.tight import Tight
from stepnet.problem.problem import Problem

FORMULATIONS: dict[str, Formulation] = {f.name: f for f in (Gates(), Tight(), Bilinear(), Paper())}


def formulation_for(choice: str | Formulation, problem: Problem) -> Formulation:
    """The formulation a user chose, if it accepts the problem; ``"auto"`` is gates if possible, else tight."""
    if choice == "auto":
        choice = "gates" if FORMULATIONS["gates"].accepts(problem) else "tight"
    formulation = FORMULATIONS.get(choice) if isinstance(choice, str) else choice
    if not isinstance(formulation, Formulation):
        names = ", ".join(map(repr, ["auto", *FORMULATIONS]))
        raise InvalidInputError(f"formulation={choice!r} is not known; choose one of {names}.")
    if not (answer := formulation.accepts(problem)):
        raise NotAcceptedError(answer.reason)
    return formulation
