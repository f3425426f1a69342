"""Windows of convolutions and pools: which places of the input each place of the output sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepnet.errors import ModelFileError
from stepnet.model.arithmetic import Ints

Shape = tuple[int, ...]


def windows(space: Shape, kernel: Shape, options: Mapping[str, Any]) -> tuple[Shape, Ints]:
    """The output's space, and for each of its places the places of the input (-1 outside), by position in the kernel.

    ``options`` are the attributes strides, pads, dilations, auto_pad and ceil_mode of the operator.
    """
    axes = len(space)
    strides, dilations = options.get("strides", (1,) * axes), options.get("dilations", (1,) * axes)
    spans = [dilation * (size - 1) + 1 for dilation, size in zip(dilations, kernel, strict=True)]
    begins, ends = _pads(space, spans, strides, options)
    out, index = [], np.zeros((1, 1), dtype=np.int64)
    for axis in range(axes):
        room = space[axis] + begins[axis] + ends[axis] - spans[axis]
        count = -(-room // strides[axis]) if options.get("ceil_mode", 0) else room // strides[axis]
        if room >= 0 and options.get("ceil_mode", 0) and count * strides[axis] >= space[axis] + begins[axis]:
            count -= 1  # no window begins in the padding at the end
        if room < 0:
            raise ModelFileError(f"its kernel {kernel} is larger than its input {space}")
        out.append(count + 1)
        starts = np.arange(count + 1) * strides[axis] - begins[axis]
        places = starts[:, None] + dilations[axis] * np.arange(kernel[axis])
        places = np.where((places >= 0) & (places < space[axis]), places, -1)
        joined = index[:, None, :, None] * space[axis] + places[None, :, None, :]
        outside = (index[:, None, :, None] < 0) | (places[None, :, None, :] < 0)
        index = np.where(outside, -1, joined).reshape(len(index) * len(places), -1)
    return tuple(out), index


def _pads(space: Any, spans: Any, strides: Any, options: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    axes, mode = len(space), options.get("auto_pad", b"NOTSET")
    mode = mode.decode() if isinstance(mode, bytes) else mode
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        needed = [max(0, (-(-n // s) - 1) * s + k - n) for n, k, s in zip(space, spans, strides, strict=True)]
        small, large = [one // 2 for one in needed], [one - one // 2 for one in needed]
        return (small, large) if mode == "SAME_UPPER" else (large, small)
    pads = list(options.get("pads", (0,) * (2 * axes))) if mode == "NOTSET" else [0] * (2 * axes)
    return pads[:axes], pads[axes:]


def convolution(
    shape: Shape, weights: NDArray[np.float64], options: Mapping[str, Any]
) -> tuple[Shape, sparse.csr_array]:
    """The shape of the result of a convolution, and its weights as a sparse matrix on the flat input."""
    groups = int(options.get("group", 1))
    (batch, channels, *space), (n_out, n_in, *kernel) = shape, weights.shape
    if batch != 1 or channels != n_in * groups or n_out % groups or len(space) != len(kernel):
        raise ModelFileError(f"weights of shape {weights.shape} do not fit an input of shape {shape}")
    out, index = windows(tuple(space), tuple(kernel), options)
    n_places, size = len(index), int(np.prod(space))
    flat = weights.reshape(n_out, n_in, -1)
    data, rows, columns = [], [], []
    for channel in range(n_out):
        first = channel // (n_out // groups) * n_in  # of the channels of its group
        used, position = np.nonzero(flat[channel])
        places = index[:, position]
        place, term = np.nonzero(places >= 0)
        data.append(flat[channel][used, position][term])
        rows.append(channel * n_places + place)
        columns.append((first + used[term]) * size + places[place, term])
    terms = np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))
    return (1, n_out, *out), sparse.csr_array(terms, shape=(n_out * n_places, channels * size))


def pool(shape: Shape, kernel: Shape, options: Mapping[str, Any]) -> tuple[Shape, Ints]:
    """The shape of the result of a pool, and the flat places of the input that each entry sees (-1 outside)."""
    batch, channels, *space = shape
    out, index = windows(tuple(space), kernel, options)
    first = np.arange(batch * channels)[:, None, None] * int(np.prod(space))
    return (batch, channels, *out), np.where(index < 0, -1, first + index).reshape(-1, index.shape[1])
