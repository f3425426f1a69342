"""What the features of a C file are: doubles, integers of 32 bits, or bits in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepnet.errors import InvalidInputError
from stepnet.export.c_layers import FloatForm, Form, IntegerForm, bits_form
from stepnet.export.integers import over_bits, over_integers
from stepnet.model.network import Layer


@dataclass(frozen=True)
class Inputs:
    """One kind of features: C's types, how cells of a table are read, and the first layer over them."""

    name: str
    type: str  # that predict takes
    cell: str  # C's type of a cell
    kind: str  # a cell in words
    lowest: str
    highest: str
    reader: str  # template of the function that reads a cell
    promise: str
    form: Callable[[Layer], Form]
    has_floats: bool = False
    is_packed: bool = False


_KINDS = (
    Inputs(
        name="floats",
        type="double",
        cell="double",
        kind="a finite number",
        lowest="",
        highest="",
        reader="read_float",
        promise="The answers equal those of stepnet's predict for every row of finite doubles, to the last bit.",
        form=lambda layer: FloatForm(layer, 1),
        has_floats=True,
    ),
    Inputs(
        name="integers",
        type="int32_t",
        cell="int32_t",
        kind="a 32-bit integer",
        lowest="INT32_MIN",
        highest="INT32_MAX",
        reader="read_integer",
        promise="Integers only; the answers equal those of stepnet's predict for every row of 32-bit integers.",
        form=lambda layer: IntegerForm(layer, 1, over_integers(layer)),
    ),
    Inputs(
        name="bits",
        type="uint32_t",
        cell="int32_t",
        kind="0 or 1",
        lowest="0",
        highest="1",
        reader="read_integer",
        promise="Integers only; the answers equal those of stepnet's predict for every row of zeros and ones.",
        form=lambda layer: bits_form(layer, 1, over_bits(layer, (0.0, 1.0))),
        is_packed=True,
    ),
)
INPUTS = {one.name: one for one in _KINDS}


def inputs_named(choice: str) -> Inputs:
    if choice not in INPUTS:
        raise InvalidInputError(f"inputs={choice!r} is not known; choose one of {', '.join(map(repr, INPUTS))}.")
    return INPUTS[choice]
