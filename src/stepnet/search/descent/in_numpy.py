"""The descent in numpy: the same steps of the same state, batch by batch, as products of matrices.

It stands in for the kernel for as long as that is not compiled, and takes its place for wide networks, where products
of large matrices are faster than loops. What is done element by element is done in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from stepnet.search.descent.kernel import ADAM_1, ADAM_2, ADAM_TINY, TO_UNIT_VARIANCE, Settings, Training

_Matrices = list[Any]  # one per layer, float32


def descend(t: Training, s: Settings, first_step: int, end_step: int, seed: int) -> int:
    """What the kernel of the same name does."""
    rng, last, n_averaged = np.random.default_rng(seed), len(t.W) - 1, 0
    position = (first_step - 1) * s.batch % t.order.size
    for step in range(first_step, end_step):
        share = step / s.n_steps
        rows, position = _next_rows(t.order, position, s.batch, rng)
        gradients = _batch_gradient(t, s, rows, s.noise_from + (s.noise_to - s.noise_from) * share, rng)
        rate = s.rate * min(1.0, share / 0.05) * 0.5 * (1.0 + np.cos(np.pi * share))
        rate_now = rate * np.sqrt(1.0 - ADAM_2**step) / (1.0 - ADAM_1**step)
        for k, (W, b, gW, gb) in enumerate(zip(*_layers(t.W, t.b, t.widths), *gradients, strict=True)):
            cut, keep = (0.0, 1.0 - rate * s.decay) if k == last else (rate * s.shrink, 1.0)
            width, n_inputs = W.shape
            _adam(b, gb, t.offset_moments[:, k, :width], rate_now, 0.0, 1.0)
            _adam(W, gW, t.weight_moments[:, k, :width, :n_inputs], rate_now, cut, keep)
        if share > 1.0 - s.averaged:
            n_averaged += 1
            for own, sums in zip(
                _layers(t.W, t.b, t.widths), _layers(t.weight_sums, t.offset_sums, t.widths), strict=True
            ):
                for part, total in zip(own, sums, strict=True):
                    total += part
    return n_averaged


def _layers(weights: Any, offsets: Any, widths: Any) -> tuple[_Matrices, _Matrices]:
    """The weights and offsets of each layer, without what pads them."""
    sizes = list(zip(weights, offsets, widths[1:], widths, strict=False))
    return [W[:width, :n] for W, _, width, n in sizes], [b[:width] for _, b, width, _ in sizes]


def _next_rows(order: Any, position: int, batch: int, rng: np.random.Generator) -> tuple[Any, int]:
    """The next rows of the epoch, and where to go on; after the last one the order is shuffled."""
    drawn = []
    while batch:
        taken = order[position : position + batch].copy()
        drawn.append(taken)
        batch -= len(taken)
        position += len(taken)
        if position == len(order):
            position = 0
            rng.shuffle(order)
    return np.concatenate(drawn), position


def _drawn(noise: Any, width: int, batch: int, rng: np.random.Generator) -> Any:
    """A random stretch of the table for each unit; a new array."""
    return sliding_window_view(noise, batch)[rng.integers(noise.size - batch, size=width)]


def _batch_gradient(
    t: Training, s: Settings, rows: Any, level: float, rng: np.random.Generator
) -> tuple[_Matrices, _Matrices]:
    """The mean gradient of a batch of rows, seen through noise, in the weights and offsets of each layer."""
    (weights, offsets), last, batch = _layers(t.W, t.b, t.widths), len(t.W) - 1, len(rows)
    units, values = [np.ascontiguousarray(t.X[rows].T)], []
    if s.jitter > 0:
        jitter = _drawn(t.noise, len(units[0]), batch, rng)
        jitter *= np.float32(s.jitter * TO_UNIT_VARIANCE)
        units[0] += jitter
    for k, (W, b) in enumerate(zip(weights, offsets, strict=True)):
        values.append(W @ units[k])
        values[k] += b[:, None]
        if k < last:
            noisy = values[k]
            if level > 0:
                noisy = _drawn(t.noise, len(W), batch, rng)
                noisy *= np.float32(level)
                noisy += values[k]
            units.append(_fired(noisy))
            if s.dropout > 0:
                units[-1] *= _drawn(t.noise, len(W), batch, rng) >= np.float32(np.log(s.dropout / (1.0 - s.dropout)))
    deltas = _output_gradient(t, s, rows, values[last])
    gW, gb = [], []
    for k in range(last, -1, -1):
        gW.append(deltas @ units[k].T)
        gb.append(deltas.sum(axis=1))
        if k > 0:
            deltas = _through_step(weights[k].T @ deltas, values[k - 1], units[k])
    return gW[::-1], gb[::-1]


def _fired(noisy: Any) -> Any:
    """1 where a value is at least 0, -1 elsewhere; in place."""
    noisy += np.float32(0.0)  # -0 becomes 0
    return np.copysign(np.float32(1.0), noisy, out=noisy)


def _through_step(deltas: Any, values: Any, units: Any) -> Any:
    """The gradient below a step, from the one above it, in place; ``values`` are used up."""
    np.abs(values, out=values)
    values += np.float32(1.0)
    values *= values
    deltas /= values
    deltas *= np.abs(units, out=units)  # none where the unit fell out
    return deltas


def _output_gradient(t: Training, s: Settings, rows: Any, values: Any) -> Any:
    """The gradient of the mean loss of a batch in the outputs."""
    targets, n_outputs = t.targets[rows].T, len(values)
    if s.is_regression:
        deltas = values - targets
    elif n_outputs == 1:
        with np.errstate(over="ignore"):
            answers = 1 / (1 + np.exp(-values))
        deltas = answers - targets * np.float32(1.0 - s.smoothing) - np.float32(0.5 * s.smoothing)
    else:
        shares = np.exp(values - values.max(axis=0))
        shares /= shares.sum(axis=0)
        is_target = np.arange(n_outputs)[:, None] == targets
        deltas = shares - np.float32(1.0 - s.smoothing) * is_target - np.float32(s.smoothing / n_outputs)
    return deltas * (t.row_weights[rows] / np.float32(len(rows)))


def _adam(weights: Any, gradients: Any, moments: Any, rate: float, cut: float, keep: float) -> None:
    """One Adam step in place with a decoupled decay and a proximal L1 step; ``gradients`` are used up."""
    first, second = moments
    squares = gradients * gradients
    squares -= second
    squares *= np.float32(1 - ADAM_2)
    second += squares
    gradients -= first
    gradients *= np.float32(1 - ADAM_1)
    first += gradients
    steps = np.sqrt(second, out=squares)
    steps += np.float32(ADAM_TINY)
    np.divide(first, steps, out=steps)
    steps *= np.float32(rate)
    if keep != 1.0:
        weights *= np.float32(keep)
    weights -= steps
    if cut > 0:
        weights -= np.clip(weights, np.float32(-cut), np.float32(cut), out=steps)
