"""Compiled loop of the noisy straight-through descent.

Inside, units are ±1: h_j = sign(a_j + s·noise) with a = W x + b; outputs are z = v·h + c. The loss is
logistic for one output and two classes, cross-entropy for several outputs and classes, or the square of
z less its target. Where rows may move, every a of the first layer is moved by the dual norm of its weights,
to where the loss grows. Backward, the step has the slope 1/(1 + |a|)² at the noiseless a. A batch lies in memory
unit by unit, so that every inner loop runs over its rows and becomes vector instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stepnet.runtime.compiling import kernel
from stepnet.search.descent.forward import inner as _inner
from stepnet.search.descent.forward import look_ahead, pull_back, put_back
from stepnet.search.descent.rules import Rules

_NOISE_TABLE = 8192
ADAM_1, ADAM_2, ADAM_TINY = 0.9, 0.999, 1e-8
GROWS = 0.5  # the share of the steps in which rounding and perturbations grow
TO_UNIT_VARIANCE = 0.551329  # of the logistic distribution

L1, L2, LINF = 1, 2, 3  # norms of perturbations

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
    steps: Any  # n, D_1, ..., D_K: the same where no neuron is a sum of steps
    W: Any  # K × d × c, float32, padded
    b: Any  # K × D
    weight_moments: Any  # 2 × K × d × c
    offset_moments: Any
    weight_sums: Any  # sums over the last steps
    offset_sums: Any
    rules: Rules
    M: Any  # K × d × c: W after rounding
    V: Any  # K × D × C: forward weights, and W itself where there are no rules
    B: Any  # K × D: forward offsets, or b itself
    radii: Any  # m: how far rows may move
    reach: Any  # n: how far a unit of the radius moves a standardised feature


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
    is_ordinal: bool = False  # one score, and a step at each boundary between classes
    has_rules: bool = False
    norm: int = 0  # of perturbations, 0 if there are none


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
def _output_gradient(t: Training, s: Settings, rows: Any, values: Any, deltas: Any, smoothing: float) -> None:
    """The gradient of the mean loss of a batch in the outputs."""
    n_outputs, batch = t.steps[t.steps.size - 1], rows.size
    keep = np.float32(1.0 - smoothing)
    for r in range(batch):
        weight = t.row_weights[rows[r]] / np.float32(batch)
        if s.is_regression:
            for j in range(n_outputs):
                deltas[j, r] = (values[j, r] - t.targets[rows[r], j]) * weight
        elif n_outputs == 1 or s.is_ordinal:
            for j in range(n_outputs):
                answer = np.float32(1.0) / (np.float32(1.0) + np.exp(-values[j, r]))
                aim = np.float32(1.0) if t.targets[rows[r], 0] > j else np.float32(0.0)
                deltas[j, r] = (answer - aim * keep - np.float32(0.5 * smoothing)) * weight
        else:
            largest, total = values[0, r], np.float32(0.0)
            for j in range(n_outputs):
                largest = max(largest, values[j, r])
            for j in range(n_outputs):
                deltas[j, r] = np.exp(values[j, r] - largest)
                total += deltas[j, r]
            shift = np.float32(smoothing / n_outputs)
            for j in range(n_outputs):
                aim = keep + shift if j == t.targets[rows[r], 0] else shift
                deltas[j, r] = (deltas[j, r] / total - aim) * weight


@_inner
def _answer(t: Training, s: Settings, k: int, level: float, units: Any, values: Any) -> None:
    """The units above layer k, from its values."""
    if k == t.V.shape[0] - 1:
        return
    batch = values.shape[2]
    cut = np.float32(np.log(s.dropout / (1.0 - s.dropout))) if s.dropout > 0 else np.float32(0.0)
    for j in range(t.steps[k + 1]):
        _fire(values[k, j], _draw(t.noise, batch), level, units[k + 1, j])
        if s.dropout > 0:
            _drop(units[k + 1, j], _draw(t.noise, batch), cut)


@_inner
def _forward(t: Training, s: Settings, first: int, level: float, units: Any, values: Any) -> None:
    """Values and units from layer ``first`` on."""
    for k in range(first, t.V.shape[0]):
        for j in range(t.steps[k + 1]):
            value = values[k, j]
            for r in range(value.size):
                value[r] = t.B[k, j]
            for c in range(t.steps[k]):
                _add(value, t.V[k, j, c], units[k, c])
        _answer(t, s, k, level, units, values)


@_inner
def _backward(t: Training, units: Any, values: Any, deltas: Any) -> None:
    """The gradient in the values of all layers, from that in the last."""
    for k in range(t.V.shape[0] - 1, 0, -1):
        for c in range(t.steps[k]):
            delta = deltas[k - 1, c]
            for r in range(delta.size):
                delta[r] = np.float32(0.0)
            for j in range(t.steps[k + 1]):
                _add(delta, t.V[k, j, c], deltas[k, j])
            _through_step(delta, values[k - 1, c], units[k, c])


@_inner
def _dual_norm(t: Training, norm: int, weights: Any, slopes: Any) -> Any:
    """How far a unit of the radius moves the value of a neuron, and its slope in each weight."""
    size, largest = np.float32(0.0), 0
    for c in range(t.reach.size):
        part = abs(weights[c]) * t.reach[c]
        if norm == L1:
            largest = c if part > size else largest
            size = max(size, part)
        else:
            size += part if norm == LINF else part * part
    if norm == L2:
        size = np.sqrt(size)
    for c in range(t.reach.size):
        sign = np.float32(1.0) if weights[c] > 0 else np.float32(-1.0 if weights[c] < 0 else 0.0)
        if norm == LINF:
            slopes[c] = sign * t.reach[c]
        elif norm == L2:
            slopes[c] = weights[c] * t.reach[c] * t.reach[c] / (size + np.float32(ADAM_TINY))
        else:
            slopes[c] = sign * t.reach[c] if c == largest else np.float32(0.0)
    return size


@_inner
def _push(
    t: Training, s: Settings, rows: Any, level: float, share: float, units: Any, values: Any, deltas: Any, pushed: Any
) -> None:
    """Move every value of the first layer as far as its row may move it, to where the loss grows."""
    last = t.V.shape[0] - 1
    _output_gradient(t, s, rows, values[last], deltas[last], 0.0)
    _backward(t, units, values, deltas)
    slopes = np.zeros(t.reach.size, np.float32)
    for j in range(t.steps[1]):
        size = _dual_norm(t, s.norm, t.V[0, j], slopes)
        for r in range(rows.size):
            sign = np.float32(1.0) if deltas[0, j, r] > 0 else np.float32(-1.0 if deltas[0, j, r] < 0 else 0.0)
            pushed[j, r] = sign * share * t.radii[rows[r]]
            values[0, j, r] += pushed[j, r] * size
    _answer(t, s, 0, level, units, values)
    _forward(t, s, 1, level, units, values)


@_inner
def _batch_gradient(
    t: Training, s: Settings, rows: Any, level: float, share: float, units: Any, values: Any, deltas: Any, pushed: Any,
    gV: Any, gB: Any,
) -> None:  # fmt: skip
    """The mean gradient of a batch of rows, seen through noise, into ``gV`` and ``gB``."""
    last, batch = t.V.shape[0] - 1, rows.size
    for r in range(batch):
        for c in range(t.steps[0]):
            units[0, c, r] = t.X[rows[r], c]
    if s.jitter > 0:
        for c in range(t.steps[0]):
            _add(units[0, c], np.float32(s.jitter * TO_UNIT_VARIANCE), _draw(t.noise, batch))
    _forward(t, s, 0, level, units, values)
    if s.norm > 0:
        _push(t, s, rows, level, share, units, values, deltas, pushed)
    _output_gradient(t, s, rows, values[last], deltas[last], s.smoothing)
    _backward(t, units, values, deltas)
    for k in range(last, -1, -1):
        for j in range(t.steps[k + 1]):
            total = np.float32(0.0)
            for r in range(batch):
                total += deltas[k, j, r]
            gB[k, j] = total
            for c in range(t.steps[k]):
                gV[k, j, c] = _dot(deltas[k, j], units[k, c])
    if s.norm > 0:
        slopes = np.zeros(t.reach.size, np.float32)
        for j in range(t.steps[1]):
            _dual_norm(t, s.norm, t.V[0, j], slopes)
            _add(gV[0, j, : slopes.size], _dot(deltas[0, j], pushed[j]), slopes)


@_kernel
def descend(t: Training, s: Settings, first_step: int, end_step: int, seed: int) -> int:
    """Make the steps ``first_step`` to ``end_step - 1`` (counted from 1) in place.

    Returns how many of them were added to the sums of weights that the average is made of.
    """
    np.random.seed(seed)
    W, b, widths, n_layers = t.W, t.b, t.widths, t.W.shape[0]
    gV, gB = np.zeros_like(t.V), np.zeros_like(t.B)
    gW, gb = (np.zeros_like(W), np.zeros_like(b)) if s.has_rules else (gV, gB)
    widest = max(t.V.shape[1], t.V.shape[2])
    values = np.zeros((n_layers, widest, s.batch), np.float32)
    units, deltas = np.zeros_like(values), np.zeros_like(values)
    pushed = np.zeros((t.V.shape[1] if s.norm > 0 else 0, s.batch), np.float32)
    rows = np.zeros(s.batch, np.int64)
    n_averaged = 0
    position = (first_step - 1) * s.batch % t.order.size
    for step in range(first_step, end_step):
        share = step / s.n_steps
        level = np.float32(s.noise_from + (s.noise_to - s.noise_from) * share)
        grown = np.float32(min(1.0, share / GROWS))
        for r in range(s.batch):
            rows[r] = t.order[position]
            position += 1
            if position == t.order.size:
                position = 0
                _shuffle(t.order)
        if s.has_rules:
            look_ahead(t.rules, widths, t.steps, W, b, grown, t.M, t.V, t.B)
        _batch_gradient(t, s, rows, level, grown, units, values, deltas, pushed, gV, gB)
        if s.has_rules:
            pull_back(t.rules, widths, t.steps, gV, gB, gW, gb)
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
        if s.has_rules:
            put_back(t.rules, widths, t.steps, W, b)
        if share > 1.0 - s.averaged:
            n_averaged += 1
            for k in range(n_layers):
                for j in range(t.steps[k + 1]):
                    t.offset_sums[k, j] += b[k, j]
                for j in range(widths[k + 1]):
                    for c in range(widths[k]):
                        t.weight_sums[k, j, c] += W[k, j, c]
    return n_averaged
