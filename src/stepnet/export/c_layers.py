"""Layers as C: each is a function and its tables of numbers.

A form has the templates ``<name>_steps``, for neurons with levels, and ``<name>_argmax``, for neurons that are
compared, and names the routines that these call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.export.c_text import filled, int_type, literal, table, type_bytes
from stepnet.export.integers import Sums, digits, n_digits
from stepnet.export.size import CodeSize
from stepnet.model.arithmetic import MOST_SLICES, slice_bits, slices
from stepnet.model.network import Layer

_MOST_PLANES = 8  # with more, adding integers is as fast as counting bits
_WORDS_PER_PLACE = 2  # with more words of planes than so many per weight, listing the weights takes less time
_MOST_PLACES = 2**16  # of signals that can be listed
_BASE = 32  # bits of a digit
_SAFE = 2**62  # sums up to this cannot overflow 64 bits
_MOST_INPUTS = 2**20  # the bound on rounding errors holds for sums of at most so many terms


class Form(ABC):
    """The tables, the function and the cost of a layer."""

    name: ClassVar[str]
    routines: ClassVar[tuple[str, ...]]  # templates that its function calls, in the order of their definitions
    headers: ClassVar[tuple[str, ...]] = ()
    takes: ClassVar[str] = "double"  # C type of its inputs, if it is a first layer

    def __init__(self, layer: Layer, number: int) -> None:
        self.layer, self.number = layer, number
        self.is_compared = layer.activation.is_compared
        self.reads_levels = layer.activation.has_levels  # whether a prediction calls the routine `level`
        self.n_inputs = int(layer.weights.shape[1])
        self.n_thresholds = layer.activation.n_thresholds
        self.n_ends = int(layer.thresholds.size)  # number of thresholds
        self.n_words = n_words(layer.width * self.n_thresholds)  # of its output bits
        self.options: dict[str, object] = {
            "k": number, "width": layer.width, "n_inputs": self.n_inputs, "n_thresholds": self.n_thresholds,
        }  # fmt: skip

    def needs(self) -> list[str]:
        """The routines that it calls, as C."""
        unused = {"set_bit"} if self.is_compared else set()
        return [filled(one, **self.options) for one in self.routines if one not in unused]

    def code(self) -> str:
        function = f"{self.name}_argmax" if self.is_compared else f"{self.name}_steps"
        return "\n".join([*self.tables(), filled(function, **self.options)])

    def bits(self, signals: str) -> list[str]:
        """Lines that compute its bits from ``signals``."""
        name = f"h{self.number}"
        return [f"uint32_t {name}[{self.n_words}] = {{0}};", f"@layer{self.number}({signals}, {name});"]

    def answer(self, signals: str) -> list[str]:
        """Lines that return or write the answer, for the last layer."""
        if self.is_compared:
            return [f"return @layer{self.number}({signals});"]
        return [*self.bits(signals), f"return @level(h{self.number}, 0, {self.n_thresholds});"]

    @abstractmethod
    def tables(self) -> list[str]: ...

    @abstractmethod
    def size(self) -> CodeSize: ...


class FloatForm(Form):
    """A first layer over doubles.

    Each sum has a bound on its rounding error. If that leaves the sign in doubt, the products are added again in a
    fixed-point number that is wide enough for any double, so the sign is always exact.
    """

    name, routines, headers = "floats", ("set_bit", "exact", "floats"), ("string.h",)

    def __init__(self, layer: Layer, number: int) -> None:
        super().__init__(layer, number)
        if self.n_inputs > _MOST_INPUTS:
            raise InvalidInputError(
                f"{self.n_inputs} features are too many for C, which takes at most {_MOST_INPUTS}; export to JSON."
            )
        # Products and sums lose up to n + 1 units of 2^-53 of the size; the rest covers the rounding of the bound.
        self.options["error"] = ((self.n_inputs + 8) * 2.0**-53 * (1 + 2.0**-16)).hex()

    def tables(self) -> list[str]:
        weights = self.layer.weights
        numbers = {"weights": weights.ravel(), "thresholds": self.layer.thresholds.ravel()}
        if not self.is_compared:
            numbers["largest"] = np.abs(weights).max(axis=1)
        return [_doubles(f"{name}{self.number}", values.tolist()) for name, values in numbers.items()]

    def size(self) -> CodeSize:
        n_products, n_ends, width = self.layer.weights.size, self.n_ends, self.layer.width
        sizes = (
            n_products if self.is_compared else self.n_inputs
        )  # absolute products or features, which bound the error
        return CodeSize(
            weights=8 * (n_products + (0 if self.is_compared else width)),
            thresholds=8 * n_ends,
            multiplications=n_products + n_ends + (n_products if self.is_compared else width),
            additions=n_products + sizes + 3 * n_ends,
            comparisons=sizes + 3 * n_ends,
        )


class IntegerForm(Form):
    """A first layer over 32-bit integers."""

    name, routines, takes = "integers", ("set_bit", "integers"), "int32_t"

    def __init__(self, layer: Layer, number: int, sums: Sums) -> None:
        super().__init__(layer, number)
        reach = _reach(sums)
        if not has_small_weights(sums):
            raise InvalidInputError(
                "inputs='integers' needs first-layer weights that are small integers; these are not. Train with "
                "weights='ternary' or Integers(P), or use inputs='floats'."
            )
        if not has_small_thresholds(layer, sums):
            raise InvalidInputError(
                "inputs='integers' needs thresholds below 2^62; these are larger. Use inputs='floats'."
            )
        self.weights = [weight for row in sums.weights for weight in row]
        self.ends = sums.ends if self.is_compared else [min(max(end, -reach - 1), reach + 1) for end in sums.ends]
        self.type = int_type(self.weights)
        self.options |= {"type": f"{self.type}_t", "factor": sums.factor}

    def tables(self) -> list[str]:
        return [table(f"{self.type}_t @weights{self.number}", self.weights), _integers(self.number, self.ends)]

    def size(self) -> CodeSize:
        n_products = self.layer.weights.size
        return CodeSize(
            weights=n_products * type_bytes(self.type),
            thresholds=self.n_ends * type_bytes(int_type(self.ends)),
            multiplications=n_products,
            additions=n_products,
            comparisons=self.n_ends,
        )


def has_small_weights(sums: Sums) -> bool:
    """Whether sums of any 32-bit integers with these weights fit into 64 bits."""
    return sums.largest_weight < 2**31 and _reach(sums) * sums.factor < _SAFE


def has_small_thresholds(layer: Layer, sums: Sums) -> bool:
    """Whether scores fit into 64 bits; thresholds of levels are cut to what sums can reach."""
    return not layer.activation.is_compared or sums.largest < _SAFE


def _reach(sums: Sums) -> int:
    return max(sum(map(abs, row)) for row in sums.weights) * 2**31


class BitForm(Form):
    """Integer weights over bits; each neuron stores its weights from the first non-zero one to the last."""

    def __init__(self, layer: Layer, number: int, sums: Sums) -> None:
        super().__init__(layer, number)
        self.sums, self.ends = sums, sums.ends
        self.spans: list[tuple[int, int, int]] = []  # first signal, number of signals, and where their weights begin
        self.stored: list[int] = []
        for row in sums.weights:
            used = [b for b, weight in enumerate(row) if weight]
            self._store(row, *((used[0], used[-1] + 1) if used else (0, 0)))

    @abstractmethod
    def _store(self, row: Sequence[int], first: int, end: int) -> None: ...

    def _spans(self) -> str:
        return table(f"@span @spans{self.number}", (f"{{{first}, {count}, {at}}}" for first, count, at in self.spans))


class PlaneForm(BitForm):
    """Small integer weights over bits, as bit planes; sums are popcounts."""

    name, routines = "planes", ("popcount", "span", "set_bit", "planes")

    def __init__(self, layer: Layer, number: int, sums: Sums) -> None:
        self.n_planes = max(1, sums.largest_weight.bit_length())
        self.n_signs = 2 if any(weight < 0 for row in sums.weights for weight in row) else 1
        super().__init__(layer, number, sums)
        self.options |= {"n_planes": self.n_planes, "n_signs": self.n_signs, "factor": sums.factor}

    def _store(self, row: Sequence[int], first: int, end: int) -> None:
        words = range(first // 32, n_words(end))
        self.spans.append((words.start, len(words), len(self.stored)))
        for plane in range(self.n_planes):
            for sign in (1, -1)[: self.n_signs]:
                bits = sum(1 << b for b, weight in enumerate(row) if sign * weight > 0 and (abs(weight) >> plane) & 1)
                self.stored += [(bits >> (32 * word)) & 0xFFFFFFFF for word in words]

    def tables(self) -> list[str]:
        words = table(f"uint32_t @planes{self.number}", (f"0x{word:08X}" for word in self.stored or [0]))
        return [words, self._spans(), _integers(self.number, self.ends)]

    def size(self) -> CodeSize:
        return CodeSize(
            bits=4 * len(self.stored or [0]) + 12 * len(self.spans),
            thresholds=self.n_ends * type_bytes(int_type(self.ends)),
            additions=len(self.stored),
            comparisons=self.n_ends,
            popcounts=len(self.stored),
        )


class ListForm(BitForm):
    """Small integer weights over few of many bits: each neuron lists the signals that it reads, and their weights."""

    name, routines = "lists", ("span", "set_bit", "lists")

    def __init__(self, layer: Layer, number: int, sums: Sums) -> None:
        self.places: list[int] = []
        super().__init__(layer, number, sums)
        self.options["factor"] = sums.factor

    def _store(self, row: Sequence[int], first: int, end: int) -> None:
        used = [b for b in range(first, end) if row[b]]
        self.spans.append((first, len(used), len(self.stored)))
        self.places += used
        self.stored += [row[b] for b in used]

    def tables(self) -> list[str]:
        numbers = {"uint16_t @places": self.places, "int16_t @weights": self.stored}
        lists = [table(f"{name}{self.number}", map(str, values or [0])) for name, values in numbers.items()]
        return [*lists, self._spans(), _integers(self.number, self.ends)]

    def size(self) -> CodeSize:
        n_listed = len(self.stored)
        return CodeSize(
            weights=4 * max(n_listed, 1) + 12 * len(self.spans),
            thresholds=self.n_ends * type_bytes(int_type(self.ends)),
            multiplications=n_listed,
            additions=n_listed,
            comparisons=self.n_ends,
        )


class DigitForm(BitForm):
    """Integer weights of any size over bits, in digits of 32 bits."""

    name, routines, headers = "digits", ("span", "set_bit", "digits"), ("string.h",)

    def __init__(self, layer: Layer, number: int, sums: Sums) -> None:
        super().__init__(layer, number, sums)
        self.n_digits = n_digits(sums.largest, _BASE)
        self.options["n_digits"] = self.n_digits

    def _store(self, row: Sequence[int], first: int, end: int) -> None:
        self.spans.append((first, end - first, len(self.stored)))
        self.stored += [weight * self.sums.factor for weight in row[first:end]]

    def tables(self) -> list[str]:
        weights = table(f"int32_t @weights{self.number}", self._digits(self.stored or [0]))
        return [weights, self._spans(), table(f"int32_t @thresholds{self.number}", self._digits(self.ends))]

    def _digits(self, values: Iterable[int]) -> list[str]:
        return [literal(digit) for value in values for digit in digits(value, _BASE, self.n_digits)]

    def size(self) -> CodeSize:
        return CodeSize(
            weights=4 * self.n_digits * len(self.stored or [0]) + 12 * len(self.spans),
            thresholds=4 * self.n_digits * self.n_ends,
            additions=self.n_digits * (len(self.stored) + 2 * self.n_ends),
            comparisons=len(self.stored) + self.n_ends,
        )


class NumberForm(Form):
    """A last layer whose sums are the answer, over doubles: the values of the layer below or the features."""

    routines, headers = (), ("math.h", "string.h")

    def __init__(self, layer: Layer, number: int, below: Layer | None) -> None:
        super().__init__(layer, number)
        self.below, self.reads_levels = below, below is not None
        n_bits = slice_bits(self.n_inputs)
        self.slices = slices(layer.weights, n_bits) or [np.zeros_like(layer.weights)]
        self.options |= {"n_slices": len(self.slices), "n_bits": n_bits, "most_slices": MOST_SLICES}

    def code(self) -> str:
        values = [] if self.below is None else [_doubles("values", self.below.activation.values)]
        return "\n".join([*self.tables(), filled("numbers", **self.options), *values])

    def tables(self) -> list[str]:
        weights = [weight for part in self.slices for weight in part.ravel().tolist()]
        ends = self.layer.thresholds.tolist()
        return [_doubles(f"weights{self.number}", weights), _doubles(f"thresholds{self.number}", ends)]

    def answer(self, signals: str) -> list[str]:
        if self.below is None:
            return [f"@layer{self.number}({signals}, y);"]
        return [
            f"double v[{self.n_inputs}];",
            f"for (int j = 0; j < {self.n_inputs}; j++)",
            f"    v[j] = @values[@level({signals}, j, {self.below.activation.n_thresholds})];",
            f"@layer{self.number}(v, y);",
        ]

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
    """The smallest of the forms over bits that can hold the sums."""
    if sums.largest_weight >= 2**_MOST_PLANES or sums.largest >= _SAFE:
        return DigitForm(layer, number, sums)
    planes = PlaneForm(layer, number, sums)
    n_listed = sum(weight != 0 for row in sums.weights for weight in row)
    is_sparse = _WORDS_PER_PLACE * n_listed < len(planes.stored) and len(sums.weights[0]) <= _MOST_PLACES
    return ListForm(layer, number, sums) if is_sparse else planes


def n_words(n_bits: int) -> int:
    """The number of 32-bit words that hold so many bits."""
    return -(-n_bits // 32)


def _doubles(name: str, values: Iterable[float]) -> str:
    return table(f"double @{name}", map(float.hex, values))


def _integers(number: int, ends: Sequence[int]) -> str:
    return table(f"{int_type(ends)}_t @thresholds{number}", map(literal, ends))
