"""Choice: which way to an exact answer, among proofs over correct sets and mixed-integer programs."""

from __future__ import annotations

from stepnet.errors import YES, Answer, InvalidInputError
from stepnet.formulations.base import Formulation
from stepnet.formulations.registry import FORMULATIONS, accepted_formulation
from stepnet.problem.problem import Problem
from stepnet.proofs.base import Proof
from stepnet.proofs.registry import PROOFS

Way = Formulation | Proof
_MANY_ROWS = 5_000  # beyond, the search needs the time more


def accepted_way(choice: str | Way, problem: Problem, solver: str = "auto") -> tuple[Way, Answer]:
    """The way that a user chose, and whether it takes the problem.

    ``"auto"`` is the first of one_neuron, sat, gates, tight that does. Where a solver is named, only programs come into
    question, and so with very many rows, or weights of rows that have no common measure.
    """
    if choice == "auto":
        has_proofs = solver == "auto" and problem.dataset.n_rows <= _MANY_ROWS and problem.accuracy.step
        proofs = [proof for proof in PROOFS.values() if has_proofs and proof.accepts(problem)]
        return (proofs[0], YES) if proofs else accepted_formulation("auto", problem)
    way = {**PROOFS, **FORMULATIONS}.get(choice) if isinstance(choice, str) else choice
    if not isinstance(way, Formulation | Proof):
        names = ", ".join(map(repr, ["auto", *PROOFS, *FORMULATIONS]))
        raise InvalidInputError(f"formulation={choice!r} is not known; choose one of {names}.")
    return way, way.accepts(problem)
