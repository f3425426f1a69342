"""Compiled: forward weights from latent ones, gradients back to these, and latent weights put back into bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from stepnet.search.descent.rules import BEYOND, FREE, ONE, PER_LAYER, SHARED, Rules

TRIED = 8  # scales of whole weights
LARGEST = 8.0  # scale that is tried, in root mean squares of a weight
SMALLEST = 0.4
TINY = 1e-12

# What Python never calls needs no wrapper for it, nor a cache of its own.
inner = njit(fastmath=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@inner
def _nearest(value: float, lower: float, upper: float, stride: float) -> Any:
    """The value of the domain that is nearest."""
    inside = min(max(value, lower), upper)
    return lower + np.floor((inside - lower) / stride + np.float32(0.5)) * stride


@inner
def _round(rules: Rules, k: int, first: int, end: int, n_inputs: int, W: Any, share: float, M: Any) -> None:
    """The weights of some neurons, moved by a share towards whole ones of the common scale with the least error."""
    lower, upper, stride = rules.domains[k]
    units, has_ends = rules.units[k], rules.low.size > 0
    limit, squares, sizes, largest = max(-lower, upper), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for j in range(first, end):
        for c in range(n_inputs):
            squares += W[k, j, c] * W[k, j, c]
            sizes += units[c] * units[c]
            largest = max(largest, abs(W[k, j, c]) / units[c])
    mean = np.sqrt(squares / sizes) + np.float32(TINY)
    bottom = np.float32(SMALLEST) * mean / limit
    top = max(min(largest, np.float32(LARGEST) * mean) / limit, bottom)
    best, alpha, cut = np.float32(-1.0), np.float32(TINY), top
    n_tried = 1 if rules.scales[k] == ONE else TRIED
    for number in range(n_tried):
        tried = (
            np.float32(1.0) if n_tried == 1 else top * (bottom / top) ** (np.float32(number) / np.float32(TRIED - 1))
        )
        product, square = np.float32(0.0), np.float32(TINY)
        for j in range(first, end):
            for c in range(n_inputs):
                whole = _nearest(W[k, j, c] / (units[c] * tried), lower, upper, stride)
                if has_ends:
                    whole = min(max(whole, rules.low[k, j, c]), rules.high[k, j, c])
                product += W[k, j, c] * units[c] * whole
                square += units[c] * units[c] * whole * whole
        if product * abs(product) / square > best:
            best, alpha, cut = product * abs(product) / square, product / square, tried
    if n_tried == 1:
        alpha = np.float32(1.0)
    alpha = max(alpha, np.float32(TINY))
    for j in range(first, end):
        for c in range(n_inputs):
            whole = _nearest(W[k, j, c] / (units[c] * cut), lower, upper, stride)
            if has_ends:
                whole = min(max(whole, rules.low[k, j, c]), rules.high[k, j, c])
            M[k, j, c] = W[k, j, c] + share * (alpha * units[c] * whole - W[k, j, c])


@inner
def look_ahead(rules: Rules, widths: Any, steps: Any, W: Any, b: Any, share: float, M: Any, V: Any, B: Any) -> None:
    """V and B from W and b; ``M`` is what they are before staircases become sums of ``steps``."""
    for k in range(W.shape[0]):
        n_inputs, width = widths[k], widths[k + 1]
        if rules.domains[k, 2] == 0:
            M[k] = W[k]
        elif rules.scales[k] == PER_LAYER:
            _round(rules, k, 0, width, n_inputs, W, share, M)
        else:
            for j in range(width):
                _round(rules, k, j, j + 1, n_inputs, W, share, M)
        for step in range(steps[k + 1]):
            neuron, offset = rules.neurons[k, step], b[k, step]
            if rules.offsets[k] != FREE:
                for c in range(n_inputs):
                    offset += rules.centres[k, c] * M[k, neuron, c]
            B[k, step] = offset
            for below in range(steps[k]):
                V[k, step, below] = rules.jumps[k, below] * M[k, neuron, rules.inputs[k, below]]


@inner
def pull_back(rules: Rules, widths: Any, steps: Any, gV: Any, gB: Any, gW: Any, gb: Any) -> None:
    """The gradients in W and b, from those in V and B."""
    for k in range(gW.shape[0]):
        n_inputs, total = widths[k], np.float32(0.0)
        for j in range(widths[k + 1]):
            for c in range(n_inputs):
                gW[k, j, c] = np.float32(0.0)
        for step in range(steps[k + 1]):
            neuron = rules.neurons[k, step]
            gb[k, step] = gB[k, step] if rules.offsets[k] == FREE else np.float32(0.0)
            total += gB[k, step]
            for below in range(steps[k]):
                gW[k, neuron, rules.inputs[k, below]] += rules.jumps[k, below] * gV[k, step, below]
            if rules.offsets[k] != FREE:
                for c in range(n_inputs):
                    gW[k, neuron, c] += rules.centres[k, c] * gB[k, step]
        if rules.offsets[k] == SHARED:
            for step in range(steps[k + 1]):
                gb[k, step] = total


@inner
def put_back(rules: Rules, widths: Any, steps: Any, W: Any, b: Any) -> None:
    """W between its ends, once on the right side of every linear constraint, and the steps of staircases in order."""
    for k in range(W.shape[0]):
        for step in range(1, steps[k + 1]):
            if rules.neurons[k, step] == rules.neurons[k, step - 1] and b[k, step] > b[k, step - 1]:
                b[k, step] = b[k, step - 1] = np.float32(0.5) * (b[k, step] + b[k, step - 1])
    for row in range(rules.starts.size - 1):
        value, square = np.float32(0.0), np.float32(0.0)
        for term in range(rules.starts[row], rules.starts[row + 1]):
            k, j, c = rules.terms[term]
            value += rules.coefficients[term] * W[k, j, c]
            square += rules.coefficients[term] * rules.coefficients[term]
        beyond = value - min(max(value, rules.sides[row, 0]), rules.sides[row, 1])
        if beyond != 0:
            for term in range(rules.starts[row], rules.starts[row + 1]):
                k, j, c = rules.terms[term]
                W[k, j, c] -= beyond / square * rules.coefficients[term]
    if rules.low.size > 0:
        for k in range(W.shape[0]):
            is_whole = rules.domains[k, 2] > 0
            for j in range(widths[k + 1]):
                for c in range(widths[k]):
                    low, high = rules.low[k, j, c], rules.high[k, j, c]
                    if is_whole:  # their ends are those of whole weights; of latent ones only the sign is known
                        low = np.float32(0.0) if low >= 0 else np.float32(-BEYOND)
                        high = np.float32(0.0) if high <= 0 else np.float32(BEYOND)
                    W[k, j, c] = min(max(W[k, j, c], low), high)
