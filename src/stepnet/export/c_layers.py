"""Layers as C: a table of numbers and a function each."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.export import c_routines as routines
from stepnet.export.integers import Sums, digits, n_digits
from stepnet.export.size import CodeSize
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.arithmetic import MOST_SLICES, slice_bits, slices
from stepnet.model.network import Layer

_MOST_PLANES = 8  # beyond, adding integers is as fast as counting bits
_BASE = 32  # bits of a digit
_SAFE = 2**62  # sums up to here are safe in 64 bits
_MOST_INPUTS = 2**20  # the bound on rounding errors is for sums of so many


def fill(text: str, **values: object) -> str:
    """C text with the names in braces replaced; other braces are C's own."""
    return re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], match[0])), text)


def table(declaration: str, items: Iterable[object]) -> str:
    """A constant table in lines of a readable length."""
    lines, line = [], "   "
    for item in items:
        if len(line) > 100:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return f"static const {declaration}[] = {{\n" + "\n".join([*lines, line]) + "\n};\n"


class Form(ABC):
    """One layer's tables, function and cost. ``takes`` and ``gives`` are C's types of what goes in and out."""

    headers: ClassVar[tuple[str, ...]] = ()
    takes: ClassVar[str] = "uint32_t"

    def __init__(self, layer: Layer, number: int) -> None:
        self.layer, self.number = layer, number
        self.is_argmax = layer.activation == ARGMAX
        self.n_inputs = int(layer.weights.shape[1])
        self.n_thresholds = layer.activation.n_thresholds
        self.n_bits = layer.width * self.n_thresholds  # that it hands on

    @property
    def values(self) -> dict[str, Any]:
        return {
            "k": self.number,
            "width": self.layer.width,
            "n_inputs": self.n_inputs,
            "n_thresholds": self.n_thresholds,
        }

    @property
    def n_ends(self) -> int:
        """Thresholds of the layer."""
        return int(self.layer.thresholds.size)

    @abstractmethod
    def needs(self) -> list[str]:
        """The routines it is made of."""

    @abstractmethod
    def code(self) -> str: ...

    @abstractmethod
    def size(self) -> CodeSize: ...


class FloatForm(Form):
    """A first layer over doubles."""

    headers = ("float.h", "string.h")
    takes = "double"

    def __init__(self, layer: Layer, number: int) -> None:
        super().__init__(layer, number)
        if self.n_inputs > _MOST_INPUTS:
            raise InvalidInputError(f"{self.n_inputs} features are too many for C; at most {_MOST_INPUTS} are taken.")

    def needs(self) -> list[str]:
        # Products and sums lose up to n + 1 units of 2^-53 of the size; the rest is for the rounding of the bound.
        error = (self.n_inputs + 8) * 2.0**-53 * (1 + 2.0**-16)
        shared = [fill(text, error=error.hex(), **self.values) for text in (routines.EXACT, routines.FLOATS)]
        return [*([] if self.is_argmax else [routines.SET_BIT]), *shared]

    def code(self) -> str:
        k, weights = self.number, self.layer.weights
        tables = {"weights": weights.ravel(), "thresholds": self.layer.thresholds.ravel()}
        if not self.is_argmax:
            tables["largest"] = np.abs(weights).max(axis=1)
        return "\n".join(
            [
                *(table(f"double @{name}{k}", map(float.hex, values.tolist())) for name, values in tables.items()),
                fill(routines.FLOATS_ARGMAX if self.is_argmax else routines.FLOATS_STEPS, **self.values),
            ]
        )

    def size(self) -> CodeSize:
        n_products, n_ends, width = self.layer.weights.size, self.n_ends, self.layer.width
        sizes = n_products if self.is_argmax else self.n_inputs  # absolute values that bound the error
        return CodeSize(
            weights=8 * (n_products + (0 if self.is_argmax else width)),
            thresholds=8 * n_ends,
            multiplications=n_products + n_ends + (n_products if self.is_argmax else width),
            additions=n_products + sizes + 3 * n_ends,
            comparisons=sizes + 3 * n_ends,
        )


class IntegerForm(Form):
    """A first layer over integers of 32 bits."""

    takes = "int32_t"

    def __init__(self, layer: Layer, number: int, sums: Sums) -> None:
        super().__init__(layer, number)
        self.sums = sums
        reach = max(sum(map(abs, row)) for row in sums.weights) * 2**31
        if sums.largest_weight >= 2**31 or reach * sums.factor >= _SAFE:
            raise InvalidInputError(
                "inputs='integers' needs first-layer weights that are small integers; these are not. Train with "
                "weights='ternary' or Integers(P), or use inputs='floats'."
            )
        if self.is_argmax and sums.largest >= _SAFE:
            raise InvalidInputError(
                "inputs='integers' needs thresholds below 2^62; these are larger. Use inputs='floats'."
            )
        ends = [
            end if self.is_argmax else min(max(end, -reach - 1), reach + 1) for row in sums.thresholds for end in row
        ]
        self.ends, self.type = ends, int_type(weight for row in sums.weights for weight in row)
        self.end_type = int_type(ends)

    def needs(self) -> list[str]:
        dot = fill(routines.INTEGERS, type=f"{self.type}_t", **self.values)
        return [*([] if self.is_argmax else [routines.SET_BIT]), dot]

    def code(self) -> str:
        text = routines.INTEGERS_ARGMAX if self.is_argmax else routines.INTEGERS_STEPS
        return "\n".join(
            [
                table(f"{self.type}_t @weights{self.number}", (w for row in self.sums.weights for w in row)),
                table(f"{self.end_type}_t @thresholds{self.number}", map(literal, self.ends)),
                fill(text, factor=self.sums.factor, **self.values),
            ]
        )

    def size(self) -> CodeSize:
        n_products = self.layer.weights.size
        return CodeSize(
            weights=n_products * type_bytes(self.type),
            thresholds=self.n_ends * type_bytes(self.end_type),
            multiplications=n_products,
            additions=n_products,
            comparisons=self.n_ends,
        )


class PlaneForm(Form):
    """Small integer weights over bits: planes of bits, and popcounts."""

    def __init__(self, layer: Layer, number: int, sums: Sums) -> None:
        super().__init__(layer, number)
        self.sums = sums
        self.n_planes = max(1, sums.largest_weight.bit_length())
        self.n_signs = 2 if any(weight < 0 for row in sums.weights for weight in row) else 1
        self.spans: list[tuple[int, int, int]] = []
        self.words: list[int] = []
        for row in sums.weights:
            first, end = _span(row)
            first, end = first // 32, -(-end // 32)
            self.spans.append((first, end - first, len(self.words)))
            self.words += self._planes(row, first, end)
        self.ends = [end for row in sums.thresholds for end in row]
        self.end_type = int_type(self.ends)

    def _planes(self, row: Sequence[int], first: int, end: int) -> list[int]:
        words = []
        for plane in range(self.n_planes):
            for sign in (1, -1)[: self.n_signs]:
                bits = sum(1 << b for b, weight in enumerate(row) if sign * weight > 0 and (abs(weight) >> plane) & 1)
                words += [(bits >> (32 * word)) & 0xFFFFFFFF for word in range(first, end)]
        return words

    def needs(self) -> list[str]:
        return [routines.POPCOUNT, routines.SPAN, *([] if self.is_argmax else [routines.SET_BIT]), routines.COUNT]

    def code(self) -> str:
        text = routines.PLANES_ARGMAX if self.is_argmax else routines.PLANES_STEPS
        options = {"n_planes": self.n_planes, "n_signs": self.n_signs, "factor": self.sums.factor}
        return "\n".join(
            [
                table(f"uint32_t @planes{self.number}", (f"0x{word:08X}" for word in self.words or [0])),
                _spans_table(self.number, self.spans),
                table(f"{self.end_type}_t @thresholds{self.number}", map(literal, self.ends)),
                fill(text, **options, **self.values),
            ]
        )

    def size(self) -> CodeSize:
        return CodeSize(
            bits=4 * len(self.words or [0]) + 12 * len(self.spans),
            thresholds=self.n_ends * type_bytes(self.end_type),
            additions=len(self.words),
            comparisons=self.n_ends,
            popcounts=len(self.words),
        )


class DigitForm(Form):
    """Integer weights of any size over bits, in digits of 32 bits."""

    headers = ("string.h",)

    def __init__(self, layer: Layer, number: int, sums: Sums) -> None:
        super().__init__(layer, number)
        self.n_digits = n_digits(sums.largest, _BASE)
        self.spans: list[tuple[int, int, int]] = []
        self.weights: list[int] = []
        for row in sums.weights:
            first, end = _span(row)
            self.spans.append((first, end - first, len(self.weights)))
            self.weights += [weight * sums.factor for weight in row[first:end]]
        self.ends = [end for row in sums.thresholds for end in row]

    def needs(self) -> list[str]:
        return [routines.SPAN, *([] if self.is_argmax else [routines.SET_BIT]), routines.DIGITS]

    def code(self) -> str:
        text = routines.DIGITS_ARGMAX if self.is_argmax else routines.DIGITS_STEPS
        return "\n".join(
            [
                table(f"int32_t @weights{self.number}", self._digits(self.weights or [0])),
                _spans_table(self.number, self.spans),
                table(f"int32_t @thresholds{self.number}", self._digits(self.ends)),
                fill(text, n_digits=self.n_digits, **self.values),
            ]
        )

    def _digits(self, values: Iterable[int]) -> list[str]:
        return [literal(digit) for value in values for digit in digits(value, _BASE, self.n_digits)]

    def size(self) -> CodeSize:
        return CodeSize(
            weights=4 * self.n_digits * len(self.weights or [0]) + 12 * len(self.spans),
            thresholds=4 * self.n_digits * self.n_ends,
            additions=self.n_digits * (len(self.weights) + 2 * self.n_ends),
            comparisons=len(self.weights) + self.n_ends,
        )


class IdentityForm(Form):
    """A last layer whose sums are the answer, over doubles."""

    headers = ("math.h", "string.h")
    takes = "double"

    def __init__(self, layer: Layer, number: int) -> None:
        super().__init__(layer, number)
        self.digits = slice_bits(self.n_inputs)
        self.slices = slices(layer.weights, self.digits) or [np.zeros_like(layer.weights)]

    def needs(self) -> list[str]:
        return []

    def code(self) -> str:
        options = {"n_slices": len(self.slices), "n_bits": self.digits, "most_slices": MOST_SLICES}
        return "\n".join(
            [
                table(
                    f"double @weights{self.number}", (w.hex() for part in self.slices for w in part.ravel().tolist())
                ),
                table(f"double @thresholds{self.number}", map(float.hex, self.layer.thresholds.tolist())),
                fill(routines.IDENTITY, **options, **self.values),
            ]
        )

    def size(self) -> CodeSize:
        n_products = len(self.slices) * self.layer.weights.size
        n_sums = len(self.slices) * self.layer.width
        return CodeSize(
            weights=8 * n_products,
            thresholds=8 * self.n_ends,
            multiplications=n_products,
            additions=n_products + 7 * n_sums + self.layer.width + 3 * self.n_inputs,
            comparisons=2 * self.n_inputs,
        )


def bits_form(layer: Layer, number: int, sums: Sums) -> Form:
    """Of the two forms over bits the smaller that holds the sums."""
    is_small = sums.largest_weight < 2**_MOST_PLANES and sums.largest < _SAFE
    return PlaneForm(layer, number, sums) if is_small else DigitForm(layer, number, sums)


def _span(row: Sequence[int]) -> tuple[int, int]:
    """From the first weight that is not zero to behind the last."""
    used = [b for b, weight in enumerate(row) if weight]
    return (used[0], used[-1] + 1) if used else (0, 0)


def _spans_table(number: int, spans: Sequence[tuple[int, int, int]]) -> str:
    return table(f"@span @spans{number}", (f"{{{first}, {count}, {at}}}" for first, count, at in spans))


def int_type(values: Iterable[int]) -> str:
    """The smallest of C's types that holds them all."""
    largest = max(map(abs, values))
    return next(
        name for name, end in (("int8", 2**7), ("int16", 2**15), ("int32", 2**31), ("int64", 2**63)) if largest < end
    )


def type_bytes(name: str) -> int:
    return int(name.removeprefix("int")) // 8


def literal(value: int) -> str:
    """An integer constant of any size up to 64 bits, without the traps of the lowest ones."""
    if value == -(2**31):
        return "INT32_MIN"
    return str(value) if abs(value) < 2**31 else f"INT64_C({value})"
