"""Operations: what a number goes through on its way from a table to the first layer, one after the other.

Each is rounded to a double as numpy rounds it, so that model files and exports can repeat it to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError

Floats = NDArray[np.float64]
Operations = tuple[tuple[str, float], ...]  # names and numbers


class Operation(NamedTuple):
    """One kind: how it is written of a text and a number, and done to numbers."""

    text: str
    apply: Callable[[Any, float], Any]
    is_linear: bool = True


OPERATIONS = {
    "add": Operation("{} + {}", lambda x, number: x + number),
    "subtract": Operation("{} - {}", lambda x, number: x - number),
    "multiply": Operation("{} * {}", lambda x, number: x * number),
    "divide": Operation("{} / {}", lambda x, number: x / number),
    # To the nearest whole number, of two the even one; the number is 1. Adding 0 makes 0 of -0.
    "round": Operation("round({})", lambda x, number: np.rint(x) + 0.0, is_linear=False),
    "at_least": Operation("max({}, {})", np.maximum, is_linear=False),
    "at_most": Operation("min({}, {})", np.minimum, is_linear=False),
}
_SUMS = ("add", "subtract")


def is_operation(name: Any, number: float) -> bool:
    """Whether there is such an operation."""
    return name in OPERATIONS and (name != "round" or number == 1)


def are_linear(operations: Operations) -> bool:
    return all(OPERATIONS[name].is_linear for name, _ in operations)


def limits_of(operations: Operations) -> tuple[float, float] | None:
    """The smallest and the largest number that can come out, if only whole ones can; None otherwise."""
    names = [name for name, _ in operations]
    if names[-3:] != ["round", "at_least", "at_most"]:
        return None
    lowest, highest = operations[-2][1], operations[-1][1]
    return (lowest, highest) if lowest == np.rint(lowest) and highest == np.rint(highest) else None


def after(arithmetic: Sequence[Operations], numbers: Floats) -> Floats:
    """The numbers after the operations on each of their columns."""
    if not any(arithmetic):
        return numbers
    numbers = np.array(numbers, dtype=np.float64)
    for i, operations in enumerate(arithmetic):
        with np.errstate(over="warn" if are_linear(operations) else "ignore"):  # what overflows is beyond all limits
            for name, number in operations:
                numbers[:, i] = OPERATIONS[name].apply(numbers[:, i], number)
    return numbers


def require_lines(arithmetic: Sequence[Operations], what: str) -> None:
    """Raise if features are rounded to a grid, which what is asked for cannot undo or repeat."""
    if not all(map(are_linear, arithmetic)):
        raise InvalidInputError(
            f"this model rounds its features to a grid, which {what} cannot do. Give the last step of the pipeline "
            f"alone: it takes rows of the grid, such as pipeline[:-1].transform(X) or Table.read(file, like=model).X."
        )


def lines_of(arithmetic: Sequence[Operations]) -> tuple[Floats, Floats]:
    """Slope and intercept of the line that the operations on each column are, rounded."""
    slopes, intercepts = np.ones(len(arithmetic)), np.zeros(len(arithmetic))
    for i, operations in enumerate(arithmetic):
        if not are_linear(operations):
            raise InvalidInputError(
                "this model rounds its features to a grid, so perturbations in the units of the table are not those of "
                "the rows that its network takes. Attack the network on rows of the grid, such as "
                "attack(pipeline[-1], pipeline[:-1].transform(X)) or attack(model, Table.read(file, like=model).X): "
                "radii are then in steps of the grid."
            )
        for name, number in operations:
            apply = OPERATIONS[name].apply
            intercepts[i] = apply(intercepts[i], number)
            slopes[i] = slopes[i] if name in _SUMS else apply(slopes[i], number)
    return slopes, intercepts


def formula(name: str, operations: Operations) -> str:
    """In symbols, such as "(age - 40) / 12"; numbers of lines are rounded for reading, those of a grid are not."""
    text, before = name, ""
    is_rounded = are_linear(operations)
    for operation, number in operations:
        if operation in ("multiply", "divide") and before in _SUMS:
            text = f"({text})"
        text = OPERATIONS[operation].text.format(text, f"{number:g}" if is_rounded else _exact(number))
        before = operation
    return text


def _exact(number: float) -> str:
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
