"""The solvers by name."""

from __future__ import annotations

from stepnet.backends.base import Backend
from stepnet.backends.cpsat import CpSat
from stepnet.backends.gurobi import Gurobi
from stepnet.backends.highs import Highs
from stepnet.backends.scip import Scip
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.milp.model import Model

BACKENDS: dict[str, Backend] = {backend.name: backend for backend in (Highs(), Scip(), Gurobi(), CpSat())}


def backend_for(solver: str, model: Model) -> Backend:
    """The solver a user named, or for ``"auto"`` the first installed one that takes the program.

    Programs of integers alone go to CP-SAT where it is installed, bilinear ones to SCIP, all
    others to HiGHS.
    """
    if solver != "auto":
        backend = named_backend(solver)
        backend.require()
        answer = backend.accepts(model)
        if not answer:
            raise NotAcceptedError(answer.reason)
        return backend
    reasons = []
    for name in ("cpsat", "highs", "scip"):
        backend = BACKENDS[name]
        answer = backend.accepts(model)
        if answer and backend.is_available():
            return backend
        reasons.append(answer.reason or f"{backend.title} is not installed (pip install 'stepnet[{backend.extra}]').")
    raise NotAcceptedError("no installed solver takes this program: " + " ".join(reasons))


def named_backend(solver: str) -> Backend:
    if solver not in BACKENDS:
        names = ", ".join(map(repr, ["auto", *BACKENDS]))
        raise InvalidInputError(f"solver={solver!r} is not known; choose one of {names}.")
    return BACKENDS[solver]
