"""The solvers by name."""

from __future__ import annotations

from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.solvers.backends.base import Backend
from stepnet.solvers.backends.cpsat import CpSat
from stepnet.solvers.backends.gurobi import Gurobi
from stepnet.solvers.backends.highs import Highs
from stepnet.solvers.backends.scip import Scip
from stepnet.solvers.model import Model

BACKENDS: dict[str, Backend] = {backend.name: backend for backend in (Highs(), Scip(), Gurobi(), CpSat())}


def backend_for(solver: str, model: Model) -> Backend:
    """The solver a user named, or for ``"auto"`` the first installed one that accepts the program.

    All-integer programs go to CP-SAT if it is installed, bilinear ones to SCIP, all others to HiGHS.
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
    raise NotAcceptedError("no installed solver accepts this program: " + " ".join(reasons))


def named_backend(solver: str) -> Backend:
    if solver not in BACKENDS:
        names = ", ".join(map(repr, ["auto", *BACKENDS]))
        raise InvalidInputError(f"solver={solver!r} is not known; choose one of {names}.")
    return BACKENDS[solver]
