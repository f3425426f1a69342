"""Activations by name, and the outputs of classifiers."""

from __future__ import annotations

from stepnet.errors import InvalidInputError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.base import Activation
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN, STEP, Staircase

# By their names in files; under the same name, unusual ones are choices of ``output=``.
ACTIVATIONS: dict[str, Activation] = {one.name: one for one in (STEP, SIGN, ARGMAX, IDENTITY)}

_REGISTER = "Add it to ACTIVATIONS of stepnet.model.activations.registry first."


def activation(choice: object) -> Staircase:
    """The activation of hidden layers, from a name or an object."""
    if isinstance(choice, Staircase):
        return choice
    if choice in ("step", "sign"):
        return STEP if choice == "step" else SIGN
    raise InvalidInputError(f"activation={choice!r} is not known; choose 'step', 'sign' or Staircase(values).")


def output_of(choice: object, n_classes: int) -> tuple[Activation, int]:
    """The activation and width of the last layer for this many classes; for one_vs_one, of each pair's network."""
    outputs: dict[str, Activation] = {
        "one_vs_one": STEP,
        "one_hot": ARGMAX,
        "ordinal": Staircase(tuple(range(n_classes))),
        **{name: one for name, one in ACTIVATIONS.items() if one.is_unusual},
    }
    if not isinstance(choice, str) or choice not in outputs:
        raise InvalidInputError(
            f"output={choice!r} is not known; choose one of 'auto', {', '.join(map(repr, outputs))}."
        )
    found = STEP if n_classes == 2 else outputs[choice]
    return found, found.width_for(n_classes)


def to_plain(activation: Activation) -> str | list[float]:
    """For JSON: a name, or the values of a staircase."""
    if activation.name not in ACTIVATIONS and not activation.has_levels:
        raise InvalidInputError(f"the activation {activation.name!r} cannot be written to a file. {_REGISTER}")
    return activation.name if activation.name in ACTIVATIONS else list(activation.values)


def from_plain(plain: object) -> Activation:
    if isinstance(plain, str) and plain in ACTIVATIONS:
        return ACTIVATIONS[plain]
    if isinstance(plain, list):
        return Staircase(tuple(plain))
    raise InvalidInputError(f"the activation {plain!r} is not known. {_REGISTER}")
