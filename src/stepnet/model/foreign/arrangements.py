"""ONNX operators that arrange entries: they are run on the places of the entries, or on constants themselves."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepnet.errors import ModelFileError
from stepnet.model.foreign.operators import Context, Looked, Options, Ordered, Winner, is_constant
from stepnet.model.foreign.rationals import filled, rationals
from stepnet.model.foreign.tensors import Steps, Sums

Places = NDArray[Any]


def arranging(function: Callable[..., Places]) -> Callable[..., Any]:
    """An operator from what it does with an array; its further inputs are constants."""

    def apply(context: Context, options: Options, value: Any, *constants: Any) -> Any:
        if isinstance(value, Winner | Looked):
            return value
        if isinstance(value, Ordered):
            return Ordered(apply(context, options, value.sums, *constants))
        if not all(one is None or is_constant(one) for one in constants):
            raise ModelFileError("its shape or places depend on the input")
        if is_constant(value):
            return np.asarray(function(options, value, *constants))
        index = np.arange(int(np.prod(value.shape))).reshape(value.shape)
        return value.arranged(np.asarray(function(options, index, *constants)))

    return apply


def reshape(options: Options, array: Places, shape: Places) -> Places:
    wanted = [array.shape[k] if n == 0 and not options.get("allowzero", 0) else n for k, n in enumerate(shape.tolist())]
    return array.reshape(wanted)


def flatten(options: Options, array: Places) -> Places:
    axis = int(options.get("axis", 1))
    axis = axis + array.ndim if axis < 0 else axis
    return array.reshape(int(np.prod(array.shape[:axis])), -1)


def transpose(options: Options, array: Places) -> Places:
    return np.transpose(array, options.get("perm"))


def squeeze(options: Options, array: Places, axes: Places | None = None) -> Places:
    chosen = options.get("axes") if axes is None else axes.tolist()
    return np.squeeze(array, axis=None if chosen is None else tuple(chosen))


def unsqueeze(options: Options, array: Places, axes: Places | None = None) -> Places:
    chosen: Any = options["axes"] if axes is None else axes.tolist()
    return np.expand_dims(array, tuple(chosen))


def cut(options: Options, array: Places, *given: Any) -> Places:
    """Slice."""
    starts, ends, axes, steps = (given[k] if k < len(given) else None for k in range(4))
    first = options["starts"] if starts is None else starts.tolist()
    last = options["ends"] if ends is None else ends.tolist()
    along = options.get("axes", range(len(first))) if axes is None else axes.tolist()
    by = [1] * len(first) if steps is None else steps.tolist()
    parts: list[Any] = [slice(None)] * array.ndim
    for axis, begin, end, step in zip(along, first, last, by, strict=True):
        parts[axis] = slice(begin, None if step < 0 and end < -array.shape[axis] else end, step)
    return np.asarray(array[tuple(parts)])


def gather(context: Context, options: Options, value: Any, places: Any) -> Any:
    axis = int(options.get("axis", 0))
    if is_constant(places):
        return arranging(lambda _, array, index: np.take(array, index, axis=axis))(context, options, value, places)
    if not is_constant(value):
        raise ModelFileError("its places depend on the input")
    if isinstance(places, Winner):
        return Winner(places.sums, value)
    sums = context.sums(places)
    if int(np.prod(sums.shape)) == 1:
        return Looked(sums, value)
    if value.ndim != 1 or not sums.is_integer(context.neurons.n_features):
        raise ModelFileError("its places are not levels of steps")
    n_axes = len(sums.shape)  # the number in place l from l - 1/2 on
    cuts = tuple((filled(Fraction(2 * level - 1, 2), n_axes), False) for level in range(1, len(value)))
    return Steps(sums, cuts, tuple(filled(number, n_axes) for number in rationals(value).tolist()))


def concat(context: Context, options: Options, *values: Any) -> Any:
    axis = int(options["axis"])
    if all(map(is_constant, values)):
        return np.concatenate(values, axis=axis)
    if any(map(is_constant, values)):
        raise ModelFileError("it joins constants and signals; use Pad for constants")
    parts = [context.sums(one) for one in values]
    sizes = np.cumsum([0, *(int(np.prod(one.shape)) for one in parts)])
    index = [
        first + np.arange(int(np.prod(one.shape))).reshape(one.shape)
        for first, one in zip(sizes[:-1], parts, strict=True)
    ]
    return stacked(context, parts).arranged(np.concatenate(index, axis=axis))


def stacked(context: Context, parts: list[Any]) -> Any:
    """The entries of all tensors, one after the other."""
    scales, shifts = (
        np.concatenate([np.broadcast_to(getattr(one, name), one.shape).ravel() for one in parts])
        for name in ("scale", "shift")
    )
    if any(one.low is not None for one in parts):
        raise ModelFileError("it joins numbers that are clipped; put a Sign after the Clip")
    matrix = sparse.csr_array(sparse.vstack([one.wide(context.neurons.n_signals) for one in parts]))
    return Sums((len(scales),), matrix, scales, shifts)


def pad(
    context: Context, options: Options, value: Any, pads: Any = None, constant: Any = None, axes: Any = None
) -> Any:
    mode = options.get("mode", b"constant")
    if mode not in (b"constant", "constant") or axes is not None:
        raise ModelFileError("only padding of all axes by a constant can be read")
    widths = list(options["pads"] if pads is None else pads.tolist())
    number = float(options.get("value", 0.0) if constant is None else constant)
    n_axes = len(value.shape)
    both = list(zip(widths[:n_axes], widths[n_axes:], strict=True))
    if is_constant(value):
        return np.pad(value, both, constant_values=number)
    index = np.arange(int(np.prod(value.shape))).reshape(value.shape)
    if min(widths) < 0:
        raise ModelFileError("its pads are negative; use Slice")
    return value.arranged(np.pad(index, both, constant_values=-1), Fraction(number))


def shape_of(context: Context, options: Options, value: Any) -> Any:
    return np.array(value.shape, dtype=np.int64)[options.get("start", 0) : options.get("end")]


def expand(context: Context, options: Options, value: Any, shape: Any) -> Any:
    return arranging(
        lambda _, array, to: np.array(np.broadcast_to(array, np.broadcast_shapes(array.shape, tuple(to))))
    )(context, options, value, shape)
