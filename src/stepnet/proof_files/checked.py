"""Checked proofs: verifies what a directory of ``written`` claims from its files alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from stepnet.certificate.verification import Check, Verification
from stepnet.errors import InvalidInputError, StepnetError
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.kinds import kind_named
from stepnet.proof_files.question import Watch
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Progress

_OFTEN = 1.0  # seconds between two reports of the same check
_DAMAGES = (
    OSError, StepnetError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError,
    MemoryError,
)  # fmt: skip


def verify_proof(
    directory: str | os.PathLike[str],
    *,
    time_limit: float = float("inf"),
    show: Callable[[Progress], None] | None = None,
) -> Verification:
    """Check a directory of ``write_proof`` from its files alone; the result is false if a claim is false or left open.

    The network is checked in exact arithmetic. Rows that no neuron gets right together are checked in rational
    arithmetic, the clauses against what they must follow from, and the steps to a contradiction by propagation. If a
    proof is small enough, the verified checker ``drup`` checks it too; otherwise a second SAT solver repeats it. Trees
    are checked cone by cone: those of branches in whole numbers, those of cones in interval arithmetic. ``show`` is
    called after every check, and during long ones.
    """
    folder, budget = Path(directory), Budget(time_limit)
    if not folder.is_dir():
        raise InvalidInputError(f"there is no directory {str(folder)!r}; give one written by stepnet prove --save.")
    if not any((folder / name).is_file() for name in ("proof.json", "network.json")):
        raise InvalidInputError(f"{str(folder)!r} has no proof.json; give a directory written by stepnet prove --save.")
    checks: list[Check] = []
    try:
        with budget.catching_interrupts():
            _check(folder, budget, checks, show or _ignored)
    except _DAMAGES as error:
        what = f"{error.strerror}: {Path(error.filename or '').name}" if isinstance(error, OSError) else str(error)
        checks.append(Check("the files are intact", False, f"{type(error).__name__}: {what}"))
    return Verification(tuple(checks), is_strict=True)


def _check(folder: Path, budget: Budget, checks: list[Check], show: Callable[[Progress], None]) -> None:
    """Append the checks of the claim, then those of its kind."""
    claim = Claim(folder)
    kind = kind_named(claim.kind)
    if claim.form is not None and not kind.knows_forms:
        raise ValueError(f"a proof by {kind.name} is about networks of one width, not about scorecards of a form")
    n_checks = claim.n_checks + kind.n_checks(claim)

    told = budget.elapsed

    def tell(share: float) -> None:
        nonlocal told
        if budget.elapsed < told + _OFTEN:
            return
        told = budget.elapsed
        stage = f"check {len(checks) + 1} of {n_checks}"
        show(Progress.of_share(budget.elapsed, stage, min(1.0, (len(checks) + share) / n_checks)))

    for part in (claim.checks(), kind.checks(claim, Watch(budget, tell))):
        for check in part:
            checks.append(check)
            told = budget.elapsed
            show(Progress.of_parts(budget.elapsed, len(checks), n_checks, "checks"))


def _ignored(progress: Progress) -> None:
    pass
