"""Compiled loop of the noisy straight-through descent.

Inside, units are ±1: h_j = sign(a_j + s·noise) with a = W x + b, and the answer is the sign of
z = v·h + c. Backward, the step has the slope 1/(1 + |a|)² at the noiseless a.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

_NOISE_TABLE = 4096
_ADAM_1, _ADAM_2, _ADAM_TINY = 0.9, 0.999, 1e-8
_TO_UNIT_VARIANCE = 0.551329  # of the logistic distribution


def logistic_noise(rng: np.random.Generator) -> Any:
    """Values of the logistic distribution, shuffled: drawing from a table is nearly free."""
    levels = (np.arange(_NOISE_TABLE) + 0.5) / _NOISE_TABLE
    return rng.permutation(np.log(levels / (1 - levels))).astype(np.float32)


@njit(cache=True, fastmath=True, nogil=True)
def _adam(
    weights: Any,
    gradients: Any,
    first: Any,
    second: Any,
    rate: float,
    step: int,
    batch: int,
    shrink: float,
    decay: float,
) -> None:
    """One Adam step in place, then a decoupled decay and a proximal L1 step; clears the gradients."""
    rate_now = np.float32(rate * np.sqrt(1.0 - _ADAM_2**step) / (1.0 - _ADAM_1**step))
    cut, keep, scale = np.float32(rate * shrink), np.float32(1.0 - rate * decay), np.float32(1.0 / batch)
    for p in range(weights.size):
        gradient = gradients[p] * scale
        gradients[p] = 0.0
        first[p] = np.float32(_ADAM_1) * first[p] + np.float32(1 - _ADAM_1) * gradient
        second[p] = np.float32(_ADAM_2) * second[p] + np.float32(1 - _ADAM_2) * gradient * gradient
        value = weights[p] * keep - rate_now * first[p] / (np.sqrt(second[p]) + np.float32(_ADAM_TINY))
        weights[p] = max(value - cut, np.float32(0)) if value > 0 else min(value + cut, np.float32(0))


class Training(NamedTuple):
    """The state of a descent: rows, weights, and what Adam and the average remember."""

    X: Any  # m × n standardised rows, float32
    targets: Any  # m classes, float32
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


@njit(cache=True, fastmath=True, nogil=True)
def _row_gradient(
    t: Training, s: Settings, i: int, level: float, draw: int, units: Any, values: Any, deltas: Any, gW: Any, gb: Any
) -> int:
    """Add the gradient of one row, seen through noise; returns the place in the noise table."""
    W, b, noise, widths = t.W, t.b, t.noise, t.widths
    last, size = W.shape[0] - 1, noise.size
    for c in range(widths[0]):
        units[0, c] = t.X[i, c]
        if s.jitter > 0:
            draw = (draw + 1) % size
            units[0, c] += np.float32(s.jitter * _TO_UNIT_VARIANCE) * noise[draw]
    for k in range(last + 1):
        for j in range(widths[k + 1]):
            value = b[k, j]
            for c in range(widths[k]):
                value += W[k, j, c] * units[k, c]
            values[k, j] = value
            if k < last:
                draw = (draw + 1) % size
                unit = np.float32(1.0) if value + level * noise[draw] >= 0 else np.float32(-1.0)
                units[k + 1, j] = np.float32(0.0) if np.random.random() < s.dropout else unit
    aim = np.float32(t.targets[i] * (1.0 - s.smoothing) + 0.5 * s.smoothing)
    answer = np.float32(1.0) / (np.float32(1.0) + np.exp(-values[last, 0]))
    deltas[last + 1, 0] = (answer - aim) * t.row_weights[i]
    for k in range(last, -1, -1):
        for c in range(widths[k]):
            deltas[k, c] = 0.0
        for j in range(widths[k + 1]):
            delta = deltas[k + 1, j]
            if k < last:
                slope = np.float32(1.0) + abs(values[k, j])
                delta = np.float32(0.0) if units[k + 1, j] == 0 else delta / (slope * slope)
            gb[k, j] += delta
            for c in range(widths[k]):
                gW[k, j, c] += delta * units[k, c]
            if k > 0:
                for c in range(widths[k]):
                    deltas[k, c] += delta * W[k, j, c]
    place: int = (draw + np.random.randint(64)) % size
    return place


@njit(cache=True, fastmath=True, nogil=True)
def _shuffle(order: Any) -> None:
    for i in range(order.size - 1, 0, -1):
        other = np.random.randint(i + 1)
        order[i], order[other] = order[other], order[i]


@njit(cache=True, fastmath=True, nogil=True)
def descend(t: Training, s: Settings, first_step: int, end_step: int, seed: int) -> int:
    """Make the steps ``first_step`` to ``end_step - 1`` (counted from 1) in place.

    Returns how many of them were added to the sums of weights that the average is made of.
    """
    np.random.seed(seed)
    W, b, widths, n_layers = t.W, t.b, t.widths, t.W.shape[0]
    gW, gb = np.zeros_like(W), np.zeros_like(b)
    widest = max(W.shape[1], W.shape[2])
    values, units = np.zeros((n_layers, widest), np.float32), np.zeros((n_layers + 1, widest), np.float32)
    deltas = np.zeros((n_layers + 1, widest), np.float32)
    n_averaged = 0
    position, draw = (first_step - 1) * s.batch % t.order.size, np.random.randint(t.noise.size)
    for step in range(first_step, end_step):
        share = step / s.n_steps
        level = np.float32(s.noise_from + (s.noise_to - s.noise_from) * share)
        rate = s.rate * min(1.0, share / 0.05) * 0.5 * (1.0 + np.cos(np.pi * share))
        for _ in range(s.batch):
            draw = _row_gradient(t, s, t.order[position], level, draw, units, values, deltas, gW, gb)
            position += 1
            if position == t.order.size:
                position = 0
                _shuffle(t.order)
        for k in range(n_layers):
            cut, fade = (0.0, s.decay) if k == n_layers - 1 else (s.shrink, 0.0)
            for j in range(widths[k + 1]):
                _adam(
                    W[k, j],
                    gW[k, j],
                    t.weight_moments[0, k, j],
                    t.weight_moments[1, k, j],
                    rate,
                    step,
                    s.batch,
                    cut,
                    fade,
                )
            _adam(b[k], gb[k], t.offset_moments[0, k], t.offset_moments[1, k], rate, step, s.batch, 0.0, 0.0)
        if share > 1.0 - s.averaged:
            n_averaged += 1
            for k in range(n_layers):
                for j in range(widths[k + 1]):
                    t.offset_sums[k, j] += b[k, j]
                    for c in range(widths[k]):
                        t.weight_sums[k, j, c] += W[k, j, c]
    return n_averaged
