"""ONNX operators on tensors of sums and steps; constants are plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from stepnet.errors import ModelFileError
from stepnet.model.foreign.bits import as_sums
from stepnet.model.foreign.neurons import Neurons
from stepnet.model.foreign.rationals import ONE, ZERO, are_exact, filled, rationals, roots
from stepnet.model.foreign.tensors import Pooled, Steps, Sums, as_bits, clipped, compared, fitting, signs

Options = Mapping[str, Any]

_BEYOND = 1.7e308  # in place of an infinite end of a clip


@dataclass(frozen=True)
class Winner:
    """The place of the largest entry, and the answers by place if the file has names for them."""

    sums: Sums
    labels: Any = None


@dataclass(frozen=True)
class Looked:
    """One of several answers, chosen by a single signal that is 0, 1, ..."""

    place: Sums
    labels: Any


@dataclass(frozen=True)
class Ordered:
    """Increasing functions of sums, such as a Softmax: only their order is known exactly."""

    sums: Sums


@dataclass
class Context:
    """What operators share: the neurons found so far, and the choice for the sign of zero."""

    neurons: Neurons
    zero: Fraction | None = None  # instead of 0

    def sums(self, value: Any) -> Sums:
        if not isinstance(value, Sums | Pooled | Steps):
            raise ModelFileError("it computes with a constant, an answer or a Softmax where sums or steps are expected")
        return as_sums(value, self.neurons)


def is_constant(value: Any) -> bool:
    return isinstance(value, np.ndarray)


# Arithmetic, entry by entry.

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide,
}  # fmt: skip


def arithmetic(name: str) -> Callable[..., Any]:
    def apply(context: Context, options: Options, left: Any, right: Any) -> Any:
        if is_constant(left) and is_constant(right):
            return _of_constants(context, name, left, right)
        if is_constant(left) or is_constant(right):
            return _with_constant(name, left, right)
        if name in ("Mul", "Div"):
            raise ModelFileError("it multiplies signals by each other; only products with constants are sums of steps")
        other = context.sums(right)
        other = other if name == "Add" else other.moved(filled(-ONE, 1), filled(ZERO, 1))
        return context.sums(left).plus(other, context.neurons)

    return apply


def _of_constants(context: Context, name: str, left: Any, right: Any) -> Any:
    if left.dtype.kind != "f" and right.dtype.kind != "f":
        return left // right if name == "Div" else _ARITHMETIC[name](left, right)
    left, right = left.astype(np.float64), right.astype(np.float64)
    with np.errstate(all="ignore"):
        result = _ARITHMETIC[name](left, right)
    if not np.isfinite(result).all():
        raise ModelFileError("its constants give numbers that are not finite")
    if not are_exact(left, right, name, result):
        context.neurons.note("constants that the file computes from others are rounded to float64")
    return result


def _with_constant(name: str, left: Any, right: Any) -> Any:
    tensor, constant = (right, left) if is_constant(left) else (left, right)
    tensor = _spread(tensor, constant.shape)
    number = fitting(constant, tensor.shape)
    if isinstance(tensor, Steps):
        if name == "Div" and not is_constant(left) and (number == ZERO).any():
            raise ModelFileError("it divides by zero")
        operator = _ARITHMETIC[name]
        return tensor.mapped(lambda own: operator(number, own) if is_constant(left) else operator(own, number))
    nothing, one = filled(ZERO, number.ndim), filled(ONE, number.ndim)
    if name in ("Add", "Sub"):
        if name == "Add":
            return tensor.moved(one, number)
        return tensor.moved(-one, number) if is_constant(left) else tensor.moved(one, -number)
    if name == "Div" and is_constant(left):
        raise ModelFileError("it divides by a signal; only products with constants are sums of steps")
    if name == "Div" and (number == ZERO).any():
        raise ModelFileError("it divides by zero")
    return tensor.moved(number if name == "Mul" else one / number, nothing)


def _spread(tensor: Any, shape: tuple[int, ...]) -> Any:
    """The tensor in the shape that it has together with another."""
    wanted = np.broadcast_shapes(tensor.shape, shape)
    if wanted == tensor.shape:
        return tensor
    index = np.arange(int(np.prod(tensor.shape))).reshape(tensor.shape)
    return tensor.arranged(np.array(np.broadcast_to(index, wanted)))


def negative(context: Context, options: Options, value: Any) -> Any:
    return -value if is_constant(value) else _with_constant("Mul", value, np.array(-1.0))


def batch_normalisation(context: Context, options: Options, value: Any, *given: Any) -> Any:
    """gamma (z - mean) / sqrt(variance + epsilon) + beta, for each channel."""
    if is_constant(value):
        raise ModelFileError("it normalises a constant")
    shape = (1, -1, *[1] * (len(value.shape) - 2))
    gamma, beta, mean, variance = (rationals(one.astype(np.float64)).reshape(shape) for one in given[:4])
    factor = gamma / roots(variance + Fraction(float(options.get("epsilon", np.float32(1e-5)))))
    offset = beta - mean * factor
    if isinstance(value, Steps):
        return value.mapped(lambda values: values * factor + offset)
    return value.moved(factor, offset)


# Steps.


def sign(context: Context, options: Options, value: Any) -> Any:
    if is_constant(value):
        return np.sign(value)
    if context.zero is not None:
        context.neurons.note(f"Sign of 0 is {context.zero}, as asked; in the file it is 0")
    return signs(value, ZERO if context.zero is None else context.zero)


def comparison(name: str) -> Callable[..., Any]:
    strict = name in ("Greater", "Less")
    plain = {"Greater": np.greater, "GreaterOrEqual": np.greater_equal, "Less": np.less, "LessOrEqual": np.less_equal}

    def apply(context: Context, options: Options, left: Any, right: Any) -> Any:
        if is_constant(left) and is_constant(right):
            return plain[name](left, right)
        if name.startswith("Less"):
            left, right = right, left
        # left > right or left >= right
        if not is_constant(left) and not is_constant(right):
            left = arithmetic("Sub")(context, options, left, right)
            right = np.array(0.0)
        if is_constant(right):
            tensor = _spread(left, right.shape)
            return compared(tensor, fitting(right, tensor.shape), strict)
        tensor = _spread(right, left.shape)  # c > z is the complement of z >= c
        return inverse(context, options, compared(tensor, fitting(left, tensor.shape), not strict))

    return apply


def equal(context: Context, options: Options, left: Any, right: Any) -> Any:
    if is_constant(left) and is_constant(right):
        return left == right
    tensor, constant = (right, left) if is_constant(left) else (left, right)
    if not isinstance(tensor, Steps) or not is_constant(constant):
        raise ModelFileError("it asks for equality with a sum, which is no step")
    number = fitting(constant, tensor.shape)
    return tensor.mapped(lambda values: as_bits(values == number))


def inverse(context: Context, options: Options, value: Any) -> Any:
    """Not."""
    if is_constant(value):
        return ~value
    return _steps(context, value).mapped(lambda values: as_bits(values == ZERO))


def where(context: Context, options: Options, condition: Any, yes: Any, no: Any) -> Any:
    if all(map(is_constant, (condition, yes, no))):
        return np.where(condition, yes, no)
    if not (is_constant(yes) and is_constant(no)) or is_constant(condition):
        raise ModelFileError("it chooses between signals; only a choice between constants is a step")
    steps = _spread(_steps(context, condition), np.broadcast_shapes(yes.shape, no.shape))
    one, other = fitting(yes, steps.shape), fitting(no, steps.shape)
    return steps.mapped(lambda values: np.where(values != ZERO, one, other))


def logical(n_needed: Callable[[int], float]) -> Callable[..., Any]:
    def apply(context: Context, options: Options, *values: Any) -> Any:
        total = context.sums(values[0])
        for one in values[1:]:
            total = total.plus(context.sums(one), context.neurons)
        return compared(total, rationals(np.full((1,) * len(total.shape), n_needed(len(values)))), False)

    return apply


def _steps(context: Context, value: Any) -> Steps:
    """A tensor that is one of steps; sums over a single bit each are steps too."""
    if isinstance(value, Steps):
        return value
    raise ModelFileError("it has numbers where bits are expected; compare them first, as with Greater")


def clip(context: Context, options: Options, value: Any, low: Any = None, high: Any = None) -> Any:
    given = low if low is not None else options.get("min"), high if high is not None else options.get("max")
    ends = [np.asarray(sign * np.inf if end is None else end, float) for end, sign in zip(given, (-1, 1), strict=True)]
    if is_constant(value):
        return np.clip(value, *ends)
    finite = (np.clip(end, -_BEYOND, _BEYOND) for end in ends)
    return clipped(value, *(fitting(end, value.shape) for end in finite))


def rectified(context: Context, options: Options, value: Any) -> Any:
    return clip(context, options, value, np.array(0.0))
