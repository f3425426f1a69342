"""ONNX operators that add up signals: products with matrices, convolutions, pools and sums along axes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepnet.errors import ModelFileError
from stepnet.model.arithmetic import Ints
from stepnet.model.foreign.operators import Context, Options, Ordered, Winner, arithmetic, is_constant
from stepnet.model.foreign.rationals import ONE, ZERO, filled
from stepnet.model.foreign.tensors import Pooled, Steps, Sums
from stepnet.model.foreign.windows import convolution, pool


def matmul(context: Context, options: Options, left: Any, right: Any) -> Any:
    if is_constant(left) and is_constant(right):
        raise ModelFileError("it multiplies constants by each other; fold them before the export")
    if is_constant(left):
        return _times(context, _turned(context.sums(right)), np.swapaxes(left, -1, -2).astype(float), is_turned=True)
    if not is_constant(right):
        raise ModelFileError("it multiplies signals by each other; only products with constants are sums of steps")
    return _times(context, context.sums(left), right.astype(float))


def _turned(tensor: Sums) -> Sums:
    index = np.arange(int(np.prod(tensor.shape))).reshape(tensor.shape)
    return tensor.arranged(np.swapaxes(index, -1, -2) if index.ndim > 1 else index)


def _times(context: Context, tensor: Sums, weights: NDArray[np.float64], is_turned: bool = False) -> Sums:
    """``tensor @ weights`` along the last axis."""
    if weights.ndim > 2 and int(np.prod(weights.shape[:-2])) == 1:
        weights = weights.reshape(weights.shape[-2:])
    if weights.ndim == 1:
        weights = weights[:, None]
    *outer, n_inputs = tensor.shape
    if weights.ndim != 2 or weights.shape[0] != n_inputs:
        raise ModelFileError(f"weights of shape {weights.shape} do not fit an input of shape {tensor.shape}")
    own = sparse.csr_array(weights.T)
    matrix = own if int(np.prod(outer)) == 1 else sparse.csr_array(sparse.block_diag([own] * int(np.prod(outer))))
    found = tensor.linear(matrix, (*outer, weights.shape[1]), context.neurons)
    return _turned(found) if is_turned else found


def gemm(context: Context, options: Options, left: Any, right: Any, bias: Any = None) -> Any:
    """alpha A B + beta C, each of A and B turned if asked."""
    alpha, beta = (np.array(float(options.get(name, 1.0))) for name in ("alpha", "beta"))
    left = _turned_if(context, left, bool(options.get("transA", 0)))
    right = _turned_if(context, right, bool(options.get("transB", 0)))
    found = matmul(context, {}, left, right)
    if alpha != 1:
        found = arithmetic("Mul")(context, {}, found, alpha)
    if bias is None:
        return found
    added = arithmetic("Mul")(context, {}, bias, beta) if beta != 1 else bias
    return arithmetic("Add")(context, {}, found, added)


def _turned_if(context: Context, value: Any, wanted: bool) -> Any:
    if not wanted:
        return value
    return np.swapaxes(value, -1, -2) if is_constant(value) else _turned(context.sums(value))


def conv(context: Context, options: Options, value: Any, weights: Any, bias: Any = None) -> Any:
    if not is_constant(weights):
        raise ModelFileError("its weights depend on the input; only constant weights are sums of steps")
    tensor = context.sums(value)
    shape, matrix = convolution(tensor.shape, weights.astype(float), options)
    found = tensor.linear(matrix, shape, context.neurons)
    if bias is None:
        return found
    return arithmetic("Add")(context, {}, found, bias.reshape(-1, *[1] * (len(shape) - 2)))


def max_pool(context: Context, options: Options, value: Any) -> Any:
    if is_constant(value):
        raise ModelFileError("it pools a constant")
    shape, index = pool(value.shape, tuple(options["kernel_shape"]), options)
    return _largest(context, value, shape, index)


def global_max_pool(context: Context, options: Options, value: Any) -> Any:
    shape, index = pool(value.shape, tuple(value.shape[2:]), {})
    return _largest(context, value, shape, index)


def _largest(context: Context, value: Any, shape: tuple[int, ...], index: Ints) -> Any:
    one, zero = filled(ONE, len(shape)), filled(ZERO, len(shape))
    if isinstance(value, Pooled):
        raise ModelFileError("it pools the result of a MaxPool; put a Sign between them, or pool once")
    if not isinstance(value, Steps):
        return Pooled(value, index, shape, one, zero)
    pooled = Pooled(context.sums(value), index, shape, one, zero)
    # The largest of steps is a step again: at each of their values but the lowest.
    values = sorted({number for own in value.values for number in own.ravel().tolist()})
    cuts = tuple((filled(number, len(shape)), False) for number in values[1:])
    return Steps(pooled, cuts, tuple(filled(number, len(shape)) for number in values))


def average_pool(context: Context, options: Options, value: Any) -> Any:
    tensor = context.sums(value)
    shape, index = pool(tensor.shape, tuple(options["kernel_shape"]), options)
    counts = np.full(len(index), index.shape[1]) if options.get("count_include_pad", 0) else (index >= 0).sum(axis=1)
    return _averages(context, tensor, shape, index, counts)


def global_average_pool(context: Context, options: Options, value: Any) -> Any:
    tensor = context.sums(value)
    shape, index = pool(tensor.shape, tuple(tensor.shape[2:]), {})
    return _averages(context, tensor, shape, index, np.full(len(index), index.shape[1]))


def _averages(context: Context, tensor: Sums, shape: Any, index: Ints, counts: Ints) -> Sums:
    """Sums over the windows, divided by counts."""
    rows, places = np.nonzero(index >= 0)
    matrix = sparse.csr_array(
        (np.ones(len(rows)), (rows, index[rows, places])), shape=(len(index), int(np.prod(tensor.shape)))
    )
    kinds = {count: Fraction(1, count) for count in np.unique(counts).tolist()}
    factors = np.array([*(kinds[count] for count in counts.tolist()), None], dtype=object)[:-1].reshape(shape)
    factors = filled(factors.flat[0], len(shape)) if len(kinds) == 1 else factors
    return tensor.linear(matrix, shape, context.neurons).moved(factors, filled(ZERO, len(shape)))


def reduction(is_mean: bool) -> Any:
    """ReduceSum and ReduceMean."""

    def apply(context: Context, options: Options, value: Any, axes: Any = None) -> Any:
        tensor = context.sums(value)
        chosen = options.get("axes") if axes is None else axes.tolist()
        n_axes = len(tensor.shape)
        chosen = tuple(range(n_axes)) if chosen is None else tuple(one % n_axes for one in chosen)
        index = np.arange(int(np.prod(tensor.shape))).reshape(tensor.shape)
        moved = np.moveaxis(index, chosen, range(n_axes - len(chosen), n_axes))
        kept = moved.shape[: n_axes - len(chosen)]
        keeps = bool(options.get("keepdims", 1))
        shape = tuple(1 if a in chosen else n for a, n in enumerate(tensor.shape)) if keeps else kept
        windows = moved.reshape(int(np.prod(kept)), -1)
        counts = np.full(len(windows), windows.shape[1] if is_mean else 1)
        return _averages(context, tensor, shape, windows, counts)

    return apply


def argmax(context: Context, options: Options, value: Any) -> Any:
    tensor = context.sums(value.sums if isinstance(value, Ordered) else value)
    axis = int(options.get("axis", 0)) % len(tensor.shape)
    if tensor.shape[axis] != int(np.prod(tensor.shape)):
        raise ModelFileError(f"it looks along axis {axis} of shape {tensor.shape}; only one answer per row can be read")
    if options.get("select_last_index", 0):
        raise ModelFileError("it prefers the last of equal numbers; export it with select_last_index=0")
    return Winner(tensor)


def softmax(context: Context, options: Options, value: Any) -> Any:
    return Ordered(context.sums(value))
