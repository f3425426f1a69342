"""Activations by name, and the outputs that classifiers can have."""

from __future__ import annotations

from collections.abc import Callable

from stepnet.errors import InvalidInputError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.base import Activation
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN, STEP, Staircase

ACTIVATIONS: dict[str, Activation] = {one.name: one for one in (STEP, SIGN, ARGMAX, IDENTITY)}

# The activation and the width of the last layer, from the number of classes.
OUTPUTS: dict[str, Callable[[int], tuple[Activation, int]]] = {
    "one_vs_one": lambda n_classes: (STEP, 1),  # of each pair
    "one_hot": lambda n_classes: (ARGMAX, n_classes),
    "ordinal": lambda n_classes: (Staircase(tuple(range(n_classes))), 1),
}


def activation(choice: object) -> Staircase:
    """The activation of hidden layers that a name or an object stands for."""
    if isinstance(choice, Staircase):
        return choice
    if choice in ("step", "sign"):
        return STEP if choice == "step" else SIGN
    raise InvalidInputError(f"activation={choice!r} is not known; choose 'step', 'sign' or Staircase(values).")


def output_of(choice: object, n_classes: int) -> tuple[Activation, int]:
    """The last layer for so many classes; for one_vs_one that of each pair's network."""
    if not isinstance(choice, str) or choice not in OUTPUTS:
        raise InvalidInputError(f"output={choice!r} is not known; choose one of {', '.join(map(repr, OUTPUTS))}.")
    return (STEP, 1) if n_classes == 2 else OUTPUTS[choice](n_classes)


def to_plain(activation: Activation) -> str | list[float]:
    """For JSON: a name, or the values of a staircase."""
    return activation.name if activation.name in ACTIVATIONS else list(activation.values)


def from_plain(plain: object) -> Activation:
    if isinstance(plain, str) and plain in ACTIVATIONS:
        return ACTIVATIONS[plain]
    if isinstance(plain, list):
        return Staircase(tuple(plain))
    raise InvalidInputError(f"unknown activation {plain!r}")
