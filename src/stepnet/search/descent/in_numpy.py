"""The descent in numpy, for as long as its kernel is not compiled: the same steps of the same state, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

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
        for k, (W, b, gW, gb) in enumerate(zip(*_layers(t), *gradients, strict=True)):
            cut, keep = (0.0, 1.0 - rate * s.decay) if k == last else (rate * s.shrink, 1.0)
            width, n_inputs = W.shape
            _adam(b, gb, t.offset_moments[:, k, :width], rate_now, 0.0, 1.0)
            _adam(W, gW, t.weight_moments[:, k, :width, :n_inputs], rate_now, cut, keep)
        if share > 1.0 - s.averaged:
            n_averaged += 1
            t.weight_sums[:] += t.W
            t.offset_sums[:] += t.b
    return n_averaged


def _layers(t: Training) -> tuple[_Matrices, _Matrices]:
    """The weights and offsets of each layer, without what pads them."""
    sizes = list(zip(t.W, t.b, t.widths[1:], t.widths, strict=False))
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
    """A random stretch of the table for each unit."""
    return noise[rng.integers(noise.size - batch, size=width)[:, None] + np.arange(batch)]


def _batch_gradient(
    t: Training, s: Settings, rows: Any, level: float, rng: np.random.Generator
) -> tuple[_Matrices, _Matrices]:
    """The mean gradient of a batch of rows, seen through noise, in the weights and offsets of each layer."""
    (weights, offsets), last, batch = _layers(t), len(t.W) - 1, len(rows)
    units, values = [np.ascontiguousarray(t.X[rows].T)], []
    if s.jitter > 0:
        units[0] += np.float32(s.jitter * TO_UNIT_VARIANCE) * _drawn(t.noise, len(units[0]), batch, rng)
    for k, (W, b) in enumerate(zip(weights, offsets, strict=True)):
        values.append(W @ units[k] + b[:, None])
        if k < last:
            noisy = values[k] + np.float32(level) * _drawn(t.noise, len(W), batch, rng) if level > 0 else values[k]
            fired = np.where(noisy >= 0, np.float32(1.0), np.float32(-1.0))
            if s.dropout > 0:
                fired *= _drawn(t.noise, len(W), batch, rng) >= np.log(s.dropout / (1.0 - s.dropout))
            units.append(fired)
    deltas = _output_gradient(t, s, rows, values[last])
    gW, gb = [], []
    for k in range(last, -1, -1):
        gW.append(deltas @ units[k].T)
        gb.append(deltas.sum(axis=1))
        if k > 0:
            deltas = (weights[k].T @ deltas) * np.abs(units[k]) / (1 + np.abs(values[k - 1])) ** 2
    return gW[::-1], gb[::-1]


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
    """One Adam step in place with a decoupled decay and a proximal L1 step."""
    first, second = moments
    first *= np.float32(ADAM_1)
    first += np.float32(1 - ADAM_1) * gradients
    second *= np.float32(ADAM_2)
    second += np.float32(1 - ADAM_2) * gradients * gradients
    values = weights * np.float32(keep) - np.float32(rate) * first / (np.sqrt(second) + np.float32(ADAM_TINY))
    weights[:] = np.maximum(values - np.float32(cut), 0) + np.minimum(values + np.float32(cut), 0)
