"""Choice: which way to an exact answer, among proofs over correct sets and mixed-integer programs."""

from __future__ import annotations

from stepnet.errors import Answer, InvalidInputError
from stepnet.formulations.base import Formulation
from stepnet.formulations.registry import FORMULATIONS, accepted_formulation
from stepnet.problem.problem import Problem
from stepnet.provers.base import Prover
from stepnet.provers.registry import PROVERS

Way = Formulation | Prover
_MANY_ROWS = 5_000  # beyond, the search needs the time more


def accepted_way(choice: str | Way, problem: Problem, solver: str = "auto") -> tuple[Way, Answer]:
    """The way that a user chose, and whether it takes the problem; for ``"auto"`` the first of :func:`ways`."""
    if choice == "auto":
        first = ways(problem, solver)[0]
        return first, first.accepts(problem)
    way = {**PROVERS, **FORMULATIONS}.get(choice) if isinstance(choice, str) else choice
    if not isinstance(way, Formulation | Prover):
        names = ", ".join(map(repr, ["auto", *PROVERS, *FORMULATIONS]))
        raise InvalidInputError(f"formulation={choice!r} is not known; choose one of {names}.")
    return way, way.accepts(problem)


def ways(problem: Problem, solver: str = "auto") -> list[Way]:
    """What ``"auto"`` tries in turn: the proofs over correct sets that take the problem, then a program.

    Where a solver is named, only programs come into question, and so with very many rows.
    """
    has_proofs = solver == "auto" and problem.dataset.n_rows <= _MANY_ROWS
    proofs = [proof for proof in PROVERS.values() if has_proofs and proof.accepts(problem)]
    return [*proofs, accepted_formulation("auto", problem)[0]]


def why(way: Way, problem: Problem, solver: str = "auto") -> str:
    """Why ``"auto"`` tries a way: what speaks for it, or against correct sets."""
    if isinstance(way, Prover):
        return way.reason(problem)
    if solver != "auto":
        return f"solver={solver!r} solves programs"
    if problem.dataset.n_rows > _MANY_ROWS:
        return f"{problem.dataset.n_rows} rows are too many for correct sets"
    answers = [proof.accepts(problem) for proof in PROVERS.values()]
    return "correct sets left it open" if any(answers) else answers[-1].reason.split(". ")[0]
