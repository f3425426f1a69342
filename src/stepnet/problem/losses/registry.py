"""Losses by name."""

from __future__ import annotations

from stepnet.errors import InvalidInputError
from stepnet.problem.losses.absolute import Absolute
from stepnet.problem.losses.base import Loss
from stepnet.problem.losses.hinge import Hinge
from stepnet.problem.losses.misclassified import Misclassified
from stepnet.problem.losses.squared import Squared

LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Misclassified, Hinge, Squared, Absolute)}


def loss_of(choice: object, task: str) -> Loss:
    """The loss for a task ("classes" or "numbers"), from a name or an object."""
    accepted = [name for name, loss in LOSSES.items() if loss.task == task]
    if isinstance(choice, str) and choice in accepted:
        return LOSSES[choice]()
    if isinstance(choice, Loss) and choice.task == task:
        return choice
    raise InvalidInputError(
        f"loss={choice!r} is not known here; choose one of {', '.join(map(repr, accepted))}, or an object with options "
        f"such as Squared(ridge=0.1)."
    )
