"""In numpy: forward weights from latent ones, gradients back to these, and latent weights put back into bounds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from stepnet.search.descent.forward import LARGEST, SMALLEST, TINY, TRIED
from stepnet.search.descent.rules import BEYOND, FREE, ONE, PER_LAYER, SHARED, Rules


def rounded(rules: Rules, k: int, W: Any) -> tuple[Any, Any]:
    """Whole weights for those of layer k (neurons × inputs), and the scale of each neuron."""
    width, n_inputs = W.shape
    units = np.broadcast_to(rules.units[k, :n_inputs], W.shape)
    ends = tuple(one[k, :width, :n_inputs] for one in (rules.low, rules.high)) if rules.low.size else ()
    parts = [W, units, *ends]
    if rules.scales[k] == PER_LAYER:
        parts = [one.reshape(1, -1) for one in parts]
    lower, upper, _ = rules.domains[k]
    limit = max(-lower, upper)
    mean = np.sqrt((parts[0] ** 2).sum(axis=1) / (parts[1] ** 2).sum(axis=1)) + TINY
    bottom, top = SMALLEST * mean / limit, np.minimum((np.abs(parts[0]) / parts[1]).max(axis=1), LARGEST * mean)
    top = np.maximum(top / limit, bottom)
    tried = top * (bottom / top) ** np.linspace(0, 1, TRIED)[:, None]
    if rules.scales[k] == ONE:
        tried = np.ones((1, len(mean)))
    whole, scales = _best(rules.domains[k], tried, *parts)
    return whole.reshape(W.shape), np.broadcast_to(np.ones(1) if rules.scales[k] == ONE else scales, width)


def _best(domain: Any, tried: Any, W: Any, units: Any, *ends: Any) -> tuple[Any, Any]:
    """The same for rows with a scale each: of those tried (scales × rows) the one of the least error."""
    lower, upper, stride = domain
    inside = np.clip(W / (units * tried[:, :, None]), lower, upper)
    whole = lower + np.floor((inside - lower) / stride + 0.5) * stride
    if ends:
        whole = np.clip(whole, *ends)
    product, square = (W * units * whole).sum(axis=2), ((units * whole) ** 2).sum(axis=2) + TINY
    best, rows = (product * np.abs(product) / square).argmax(axis=0), np.arange(len(W))
    return whole[best, rows], np.maximum((product / square)[best, rows], TINY)


def look_ahead(rules: Rules, widths: Any, steps: Any, W: Any, b: Any, share: float, V: Any, B: Any) -> None:
    """V and B from W and b."""
    for k, (n_inputs, width) in enumerate(pairwise(widths)):
        M = W[k, :width, :n_inputs]
        if rules.domains[k, 2]:
            whole, scales = rounded(rules, k, M)
            M = M + np.float32(share) * (scales[:, None] * rules.units[k, :n_inputs] * whole - M)
        neurons, inputs = rules.neurons[k, : steps[k + 1]], rules.inputs[k, : steps[k]]
        B[k, : steps[k + 1]] = b[k, : steps[k + 1]]
        if rules.offsets[k] != FREE:
            B[k, : steps[k + 1]] += (M @ rules.centres[k, :n_inputs])[neurons]
        V[k, : steps[k + 1], : steps[k]] = rules.jumps[k, : steps[k]] * M[np.ix_(neurons, inputs)]


def pull_back(rules: Rules, widths: Any, steps: Any, gV: Any, gB: Any) -> tuple[list[Any], list[Any]]:
    """The gradients in W and b, from those in V and B."""
    weights, offsets = [], []
    for k, (own, of_offsets) in enumerate(zip(gV, gB, strict=True)):
        gradient = np.zeros((widths[k + 1], widths[k]), dtype=np.float32)
        neurons, inputs = rules.neurons[k, : steps[k + 1]], rules.inputs[k, : steps[k]]
        np.add.at(gradient, np.ix_(neurons, inputs), rules.jumps[k, : steps[k]] * own)
        if rules.offsets[k] != FREE:
            np.add.at(gradient, neurons, of_offsets[:, None] * rules.centres[k, : widths[k]])
        weights.append(gradient)
        factor = {FREE: of_offsets, SHARED: of_offsets.sum()}.get(int(rules.offsets[k]), np.float32(0.0))
        offsets.append(np.broadcast_to(factor, of_offsets.shape).copy())
    return weights, offsets


def put_back(rules: Rules, W: Any) -> None:
    """W between its ends, and once on the right side of every linear constraint."""
    for row, (low, high) in enumerate(rules.sides):
        own = slice(rules.starts[row], rules.starts[row + 1])
        places, coefficients = tuple(rules.terms[own].T), rules.coefficients[own]
        value = coefficients @ W[places]
        W[places] -= (value - np.clip(value, low, high)) / (coefficients @ coefficients) * coefficients
    if rules.low.size:
        for k, domain in enumerate(rules.domains):
            low, high = rules.low[k], rules.high[k]
            if domain[2]:  # their ends are those of whole weights; of latent ones only the sign is known
                low, high = np.where(low >= 0, 0.0, -BEYOND), np.where(high <= 0, 0.0, BEYOND)
            np.clip(W[k], low, high, out=W[k])


def put_in_order(rules: Rules, steps: Any, b: Any) -> None:
    """The steps of staircases once put in order."""
    for k, n_steps in enumerate(steps[1:]):
        is_same = rules.neurons[k, 1:n_steps] == rules.neurons[k, : n_steps - 1]
        for step in (1 + np.flatnonzero(is_same & (b[k, 1:n_steps] > b[k, : n_steps - 1]))).tolist():
            b[k, step - 1 : step + 1] = b[k, step - 1 : step + 1].mean()
