"""The descent in numpy: the same steps of the same state, batch by batch, as products of matrices.

It stands in for the kernel for as long as that is not compiled, and takes its place for wide networks, where products
of large matrices are faster than loops. What is done element by element is done in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from stepnet.search.descent.forward_in_numpy import look_ahead, pull_back, put_back, put_in_order
from stepnet.search.descent.kernel import (
    ADAM_1,
    ADAM_2,
    ADAM_TINY,
    GROWS,
    L1,
    L2,
    LINF,
    TO_UNIT_VARIANCE,
    Settings,
    Training,
)

_Matrices = list[Any]  # one per layer, float32


def descend(t: Training, s: Settings, first_step: int, end_step: int, seed: int) -> int:
    """What the kernel of the same name does."""
    rng, last, n_averaged = np.random.default_rng(seed), len(t.W) - 1, 0
    position = (first_step - 1) * s.batch % t.order.size
    for step in range(first_step, end_step):
        share = step / s.n_steps
        rows, position = _next_rows(t.order, position, s.batch, rng)
        grown = min(1.0, share / GROWS)
        if s.has_rules:
            look_ahead(t.rules, t.widths, t.steps, t.W, t.b, grown, t.V, t.B)
        gradients = _batch_gradient(t, s, rows, s.noise_from + (s.noise_to - s.noise_from) * share, grown, rng)
        if s.has_rules:
            gradients = pull_back(t.rules, t.widths, t.steps, *gradients)
        rate = s.rate * min(1.0, share / 0.05) * 0.5 * (1.0 + np.cos(np.pi * share))
        rate_now = rate * np.sqrt(1.0 - ADAM_2**step) / (1.0 - ADAM_1**step)
        for k, (W, b, gW, gb) in enumerate(zip(*_latent(t), *gradients, strict=True)):
            cut, keep = (0.0, 1.0 - rate * s.decay) if k == last else (rate * s.shrink, 1.0)
            width, n_inputs = W.shape
            _adam(b, gb, t.offset_moments[:, k, : len(b)], rate_now, 0.0, 1.0)
            _adam(W, gW, t.weight_moments[:, k, :width, :n_inputs], rate_now, cut, keep)
        if s.has_rules:
            put_back(t.rules, t.W)
            put_in_order(t.rules, t.steps, t.b)
        if share > 1.0 - s.averaged:
            n_averaged += 1
            for k, (W, b) in enumerate(zip(*_latent(t), strict=True)):
                t.weight_sums[k, : W.shape[0], : W.shape[1]] += W
                t.offset_sums[k, : len(b)] += b
    return n_averaged


def _latent(t: Training) -> tuple[_Matrices, _Matrices]:
    """The latent weights and offsets of each layer, without what pads them."""
    weights = [W[:width, :n] for W, width, n in zip(t.W, t.widths[1:], t.widths, strict=False)]
    return weights, [b[:width] for b, width in zip(t.b, t.steps[1:], strict=True)]


def _layers(t: Training) -> tuple[_Matrices, _Matrices]:
    """The forward weights and offsets of each layer, without what pads them."""
    sizes = list(zip(t.V, t.B, t.steps[1:], t.steps, strict=False))
    return [V[:width, :n] for V, _, width, n in sizes], [B[:width] for _, B, width, _ in sizes]


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
    t: Training, s: Settings, rows: Any, level: float, share: float, rng: np.random.Generator
) -> tuple[_Matrices, _Matrices]:
    """The mean gradient of a batch of rows, seen through noise, in the forward weights and offsets of each layer."""
    (weights, offsets), batch = _layers(t), len(rows)
    inputs = np.ascontiguousarray(t.X[rows].T)
    if s.jitter > 0:
        jitter = _drawn(t.noise, len(inputs), batch, rng)
        jitter *= np.float32(s.jitter * TO_UNIT_VARIANCE)
        inputs += jitter
    first = weights[0] @ inputs
    first += offsets[0][:, None]
    units, values = _forward(t, s, first, level, rng)
    if s.norm:
        deltas = _backward(weights, units, values, _output_gradient(t, s, rows, values[-1], 0.0))
        sizes, slopes = _dual_norms(s.norm, weights[0] * t.reach, t.reach)
        pushed = np.sign(deltas[0]) * np.float32(share) * t.radii[rows]
        units, values = _forward(t, s, first + pushed * sizes[:, None], level, rng)
    deltas = _backward(weights, units, values, _output_gradient(t, s, rows, values[-1], s.smoothing))
    gradients = [delta @ below.T for delta, below in zip(deltas, [inputs, *units], strict=True)]
    if s.norm:
        gradients[0] += (deltas[0] * pushed).sum(axis=1)[:, None] * slopes
    return gradients, [delta.sum(axis=1) for delta in deltas]


def _forward(
    t: Training, s: Settings, first: Any, level: float, rng: np.random.Generator
) -> tuple[_Matrices, _Matrices]:
    """The units of the hidden layers and the values of all, from the values of the first."""
    (weights, offsets), batch = _layers(t), first.shape[1]
    units: _Matrices = []
    values = [first]
    for W, b in zip(weights[1:], offsets[1:], strict=True):
        width = len(values[-1])
        noisy = np.zeros_like(values[-1])
        if level > 0:
            noisy = _drawn(t.noise, width, batch, rng)
            noisy *= np.float32(level)
        noisy += values[-1]
        fired = _fired(noisy)
        if s.dropout > 0:
            fired *= _drawn(t.noise, width, batch, rng) >= np.float32(np.log(s.dropout / (1.0 - s.dropout)))
        units.append(fired)
        values.append(W @ fired)
        values[-1] += b[:, None]
    return units, values


def _backward(weights: _Matrices, units: _Matrices, values: _Matrices, last: Any) -> _Matrices:
    """The gradient in the values of all layers, from that in the last."""
    deltas = [last]
    for k in range(len(weights) - 1, 0, -1):
        deltas.append(_through_step(weights[k].T @ deltas[-1], values[k - 1], units[k - 1]))
    return deltas[::-1]


def _fired(noisy: Any) -> Any:
    """1 where a value is at least 0, -1 elsewhere; in place."""
    noisy += np.float32(0.0)  # -0 becomes 0
    return np.copysign(np.float32(1.0), noisy, out=noisy)


def _through_step(deltas: Any, values: Any, units: Any) -> Any:
    """The gradient below a step, from the one above it, in place."""
    slopes = np.abs(values)
    slopes += np.float32(1.0)
    slopes *= slopes
    deltas /= slopes
    deltas *= np.abs(units)  # none where the unit fell out
    return deltas


def _dual_norms(norm: int, weights: Any, reach: Any) -> tuple[Any, Any]:
    """How far a unit of the radius moves the value of each neuron, and its slope in each weight."""
    if norm == LINF:
        return np.abs(weights).sum(axis=1), np.sign(weights) * reach
    if norm == L2:
        sizes = np.sqrt((weights**2).sum(axis=1))
        return sizes, weights * reach / (sizes[:, None] + np.float32(ADAM_TINY))
    assert norm == L1
    is_largest = np.abs(weights).argmax(axis=1)[:, None] == np.arange(weights.shape[1])
    return np.abs(weights).max(axis=1), np.sign(weights) * reach * is_largest


def _output_gradient(t: Training, s: Settings, rows: Any, values: Any, smoothing: float) -> Any:
    """The gradient of the mean loss of a batch in the outputs."""
    targets, n_outputs = t.targets[rows].T, len(values)
    if s.is_regression:
        deltas = values - targets
    elif n_outputs == 1 or s.is_ordinal:
        with np.errstate(over="ignore"):
            answers = 1 / (1 + np.exp(-values))
        aims = targets > np.arange(n_outputs)[:, None]
        deltas = answers - aims * np.float32(1.0 - smoothing) - np.float32(0.5 * smoothing)
    else:
        shares = np.exp(values - values.max(axis=0))
        shares /= shares.sum(axis=0)
        is_target = np.arange(n_outputs)[:, None] == targets
        deltas = shares - np.float32(1.0 - smoothing) * is_target - np.float32(smoothing / n_outputs)
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
