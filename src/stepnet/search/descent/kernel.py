"""Compiled loop of the noisy straight-through descent.

Inside, units are ±1: h_j = sign(a_j + s·noise) with a = W x + b; outputs are z = v·h + c. The loss is
logistic for one output and two classes, cross-entropy for several outputs and classes, or the square of
z less its target. Backward, the step has the slope 1/(1 + |a|)² at the noiseless a. A batch lies in memory
unit by unit, so that every inner loop runs over its rows and becomes vector instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from stepnet.runtime.compiling import kernel

_NOISE_TABLE = 8192
ADAM_1, ADAM_2, ADAM_TINY = 0.9, 0.999, 1e-8
TO_UNIT_VARIANCE = 0.551329  # of the logistic distribution

# What Python never calls needs no wrapper for it, nor a cache of its own.
_inner = njit(fastmath=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
_kernel = kernel(fastmath=True, nogil=True)


def logistic_noise(rng: np.random.Generator) -> Any:
    """Values of the logistic distribution, shuffled: drawing from a table is nearly free."""
    levels = (np.arange(_NOISE_TABLE) + 0.5) / _NOISE_TABLE
    return rng.permutation(np.log(levels / (1 - levels))).astype(np.float32)


class Training(NamedTuple):
    """The state of a descent: rows, weights, and what Adam and the average remember."""

    X: Any  # m × n standardised rows, float32
    targets: Any  # m × 1 classes, or m × outputs numbers; float32
    row_weights: Any  # m, float32, 1 on average
    order: Any  # rows in the order of an epoch; a row may come several times
    noise: Any
    widths: Any  # n, d_1, ..., d_K
    W: Any  # K × d × c, float32, padded
    b: Any  # K × d
    weight_moments: Any  # 2 × K × d × c
    offset_moments: Any
    weight_sums: Any  # sums over the last steps
    offset_sums: Any


class Settings(NamedTuple):
    """How to descend; shares are of all steps."""

    batch: int
    n_steps: int
    rate: float
    noise_from: float
    noise_to: float
    decay: float
    shrink: float
    dropout: float
    smoothing: float
    jitter: float
    averaged: float
    is_regression: bool = False


@_inner
def _shuffle(order: Any) -> None:
    for i in range(order.size - 1, 0, -1):
        other = np.random.randint(i + 1)
        order[i], order[other] = order[other], order[i]


@_inner
def _draw(noise: Any, size: int) -> Any:
    """A random stretch of the table."""
    begin = np.random.randint(noise.size - size)
    return noise[begin : begin + size]


@_inner
def _add(values: Any, factor: float, other: Any) -> None:
    for r in range(values.size):
        values[r] += factor * other[r]


@_inner
def _dot(left: Any, right: Any) -> Any:
    total = np.float32(0.0)
    for r in range(left.size):
        total += left[r] * right[r]
    return total


@_inner
def _fire(values: Any, noise: Any, level: float, units: Any) -> None:
    """units = sign(values + level · noise)."""
    for r in range(values.size):
        units[r] = np.float32(1.0) if values[r] + level * noise[r] >= 0 else np.float32(-1.0)


@_inner
def _drop(units: Any, noise: Any, cut: float) -> None:
    """Units whose noise lies below ``cut`` fall out."""
    for r in range(units.size):
        units[r] = np.float32(0.0) if noise[r] < cut else units[r]


@_inner
def _through_step(deltas: Any, values: Any, units: Any) -> None:
    """The gradient below a step, from the one above it; none where the unit fell out."""
    for r in range(deltas.size):
        slope = np.float32(1.0) + abs(values[r])
        deltas[r] *= units[r] * units[r] / (slope * slope)


@_inner
def _adam(weights: Any, gradients: Any, first: Any, second: Any, rate: float, cut: float, keep: float) -> None:
    """One Adam step in place with a decoupled decay and a proximal L1 step."""
    for p in range(weights.size):
        gradient = gradients[p]
        first[p] = np.float32(ADAM_1) * first[p] + np.float32(1 - ADAM_1) * gradient
        second[p] = np.float32(ADAM_2) * second[p] + np.float32(1 - ADAM_2) * gradient * gradient
        value = weights[p] * keep - rate * first[p] / (np.sqrt(second[p]) + np.float32(ADAM_TINY))
        weights[p] = max(value - cut, np.float32(0.0)) + min(value + cut, np.float32(0.0))


@_inner
def _output_gradient(t: Training, s: Settings, rows: Any, values: Any, deltas: Any) -> None:
    """The gradient of the mean loss of a batch in the outputs."""
    n_outputs, batch = t.widths[t.widths.size - 1], rows.size
    keep = np.float32(1.0 - s.smoothing)
    for r in range(batch):
        weight = t.row_weights[rows[r]] / np.float32(batch)
        if s.is_regression:
            for j in range(n_outputs):
                deltas[j, r] = (values[j, r] - t.targets[rows[r], j]) * weight
        elif n_outputs == 1:
            answer = np.float32(1.0) / (np.float32(1.0) + np.exp(-values[0, r]))
            deltas[0, r] = (answer - t.targets[rows[r], 0] * keep - np.float32(0.5 * s.smoothing)) * weight
        else:
            largest, total = values[0, r], np.float32(0.0)
            for j in range(n_outputs):
                largest = max(largest, values[j, r])
            for j in range(n_outputs):
                deltas[j, r] = np.exp(values[j, r] - largest)
                total += deltas[j, r]
            shift = np.float32(s.smoothing / n_outputs)
            for j in range(n_outputs):
                aim = keep + shift if j == t.targets[rows[r], 0] else shift
                deltas[j, r] = (deltas[j, r] / total - aim) * weight


@_inner
def _batch_gradient(
    t: Training, s: Settings, rows: Any, level: float, units: Any, values: Any, deltas: Any, gW: Any, gb: Any
) -> None:
    """The mean gradient of a batch of rows, seen through noise, into ``gW`` and ``gb``."""
    W, b, noise, widths, X = t.W, t.b, t.noise, t.widths, t.X
    last, batch = W.shape[0] - 1, rows.size
    for r in range(batch):
        for c in range(widths[0]):
            units[0, c, r] = X[rows[r], c]
    if s.jitter > 0:
        for c in range(widths[0]):
            _add(units[0, c], np.float32(s.jitter * TO_UNIT_VARIANCE), _draw(noise, batch))
    cut = np.float32(np.log(s.dropout / (1.0 - s.dropout))) if s.dropout > 0 else np.float32(0.0)
    for k in range(last + 1):
        for j in range(widths[k + 1]):
            value = values[k, j]
            for r in range(batch):
                value[r] = b[k, j]
            for c in range(widths[k]):
                _add(value, W[k, j, c], units[k, c])
            if k < last:
                _fire(value, _draw(noise, batch), level, units[k + 1, j])
                if s.dropout > 0:
                    _drop(units[k + 1, j], _draw(noise, batch), cut)
    _output_gradient(t, s, rows, values[last], deltas[last])
    for k in range(last, -1, -1):
        if k > 0:
            for c in range(widths[k]):
                delta = deltas[k - 1, c]
                for r in range(batch):
                    delta[r] = np.float32(0.0)
                for j in range(widths[k + 1]):
                    _add(delta, W[k, j, c], deltas[k, j])
                _through_step(delta, values[k - 1, c], units[k, c])
        for j in range(widths[k + 1]):
            total = np.float32(0.0)
            for r in range(batch):
                total += deltas[k, j, r]
            gb[k, j] = total
            for c in range(widths[k]):
                gW[k, j, c] = _dot(deltas[k, j], units[k, c])


@_kernel
def descend(t: Training, s: Settings, first_step: int, end_step: int, seed: int) -> int:
    """Make the steps ``first_step`` to ``end_step - 1`` (counted from 1) in place.

    Returns how many of them were added to the sums of weights that the average is made of.
    """
    np.random.seed(seed)
    W, b, widths, n_layers = t.W, t.b, t.widths, t.W.shape[0]
    gW, gb = np.zeros_like(W), np.zeros_like(b)
    widest = max(W.shape[1], W.shape[2])
    values = np.zeros((n_layers, widest, s.batch), np.float32)
    units, deltas = np.zeros_like(values), np.zeros_like(values)
    rows = np.zeros(s.batch, np.int64)
    n_averaged = 0
    position = (first_step - 1) * s.batch % t.order.size
    for step in range(first_step, end_step):
        share = step / s.n_steps
        level = np.float32(s.noise_from + (s.noise_to - s.noise_from) * share)
        for r in range(s.batch):
            rows[r] = t.order[position]
            position += 1
            if position == t.order.size:
                position = 0
                _shuffle(t.order)
        _batch_gradient(t, s, rows, level, units, values, deltas, gW, gb)
        rate = s.rate * min(1.0, share / 0.05) * 0.5 * (1.0 + np.cos(np.pi * share))
        rate_now = np.float32(rate * np.sqrt(1.0 - ADAM_2**step) / (1.0 - ADAM_1**step))
        nothing, one = np.float32(0.0), np.float32(1.0)
        for k in range(n_layers):
            cut, keep = np.float32(rate * s.shrink), one
            if k == n_layers - 1:
                cut, keep = nothing, np.float32(1.0 - rate * s.decay)
            _adam(b[k], gb[k], t.offset_moments[0, k], t.offset_moments[1, k], rate_now, nothing, one)
            for j in range(widths[k + 1]):
                _adam(W[k, j], gW[k, j], t.weight_moments[0, k, j], t.weight_moments[1, k, j], rate_now, cut, keep)
        if share > 1.0 - s.averaged:
            n_averaged += 1
            for k in range(n_layers):
                for j in range(widths[k + 1]):
                    t.offset_sums[k, j] += b[k, j]
                    for c in range(widths[k]):
                        t.weight_sums[k, j, c] += W[k, j, c]
    return n_averaged
