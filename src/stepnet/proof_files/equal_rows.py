"""Equal rows: what rows with the same features and different classes cost every network; for this no file is needed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from stepnet.certificate.verification import Check
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.kind import Kind, Parts, Task
from stepnet.proof_files.question import Watch, least_loss
from stepnet.runtime.limits import Budget


class EqualRows(Kind):
    """A bound that follows from equal rows, and any bound of 0."""

    name = "equal rows"
    knows_forms = True

    def accepts(self, task: Task) -> bool:
        return task.units * task.weights.unit <= least_loss(task.problem.dataset)

    def write(self, task: Task, budget: Budget) -> Parts | None:
        return Parts()

    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        least = least_loss(claim.dataset)
        found = f"equal rows of different classes cost {float(least):.17g}" if claim.bound else "a loss is not negative"
        yield Check("no network loses less", Fraction(claim.bound) <= least, found)
