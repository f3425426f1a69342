"""The features of a C file: doubles, 32-bit integers, or bits packed into words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepnet.errors import InvalidInputError
from stepnet.export.c_layers import FloatForm, Form, IntegerForm, bits_form
from stepnet.export.c_text import filled
from stepnet.export.integers import over_bits, over_integers
from stepnet.model.network import Layer

_EQUAL = "answers equal those of stepnet's predict for every row of"


@dataclass(frozen=True)
class Inputs:
    """One kind of feature: its C types, how cells of a table are read, and the form of the first layer."""

    name: str
    type: str  # of what predict takes
    cell: str  # C type of a cell
    kind: str  # of a cell, in words
    promise: str
    form: Callable[[Layer], Form]
    limits: tuple[str, str] | None = None  # smallest and largest integer; None for doubles
    is_packed: bool = False

    @property
    def has_floats(self) -> bool:
        return self.limits is None

    def reader(self) -> str:
        """The function that reads a cell."""
        if self.limits is None:
            return filled("read_float")
        return filled("read_integer", lowest=self.limits[0], highest=self.limits[1])


_KINDS = (
    Inputs(
        "floats",
        type="double",
        cell="double",
        kind="a finite number",
        promise=f"The {_EQUAL} finite doubles, to the last bit.",
        form=lambda layer: FloatForm(layer, 1),
    ),
    Inputs(
        "integers",
        type="int32_t",
        cell="int32_t",
        kind="a 32-bit integer",
        promise=f"Integers only; the {_EQUAL} 32-bit integers.",
        form=lambda layer: IntegerForm(layer, 1, over_integers(layer)),
        limits=("INT32_MIN", "INT32_MAX"),
    ),
    Inputs(
        "bits",
        type="uint32_t",
        cell="int32_t",
        kind="0 or 1",
        promise=f"Integers only; the {_EQUAL} zeros and ones.",
        form=lambda layer: bits_form(layer, 1, over_bits(layer, (0.0, 1.0))),
        limits=("0", "1"),
        is_packed=True,
    ),
)
INPUTS = {one.name: one for one in _KINDS}


def inputs_named(choice: str) -> Inputs:
    if choice not in INPUTS:
        raise InvalidInputError(f"inputs={choice!r} is not known; choose one of {', '.join(map(repr, INPUTS))}.")
    return INPUTS[choice]
