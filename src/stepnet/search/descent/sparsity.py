"""Few weights: after some steps the ones that matter most stay, and the others are 0 from then on."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.problem.constraint import Constraints
from stepnet.search.descent.rules import Rules


def keep_largest(constraints: Constraints, widths: Any, W: Any, rules: Rules) -> None:
    """Set the ends of all weights but those that matter most to 0, as many as the limits want, and the weights too."""
    if not constraints.has_limits:
        return
    sizes = list(zip(widths[1:].tolist(), widths[:-1].tolist(), strict=True))
    matters = _importance([W[k, :width, :n] for k, (width, n) in enumerate(sizes)])
    kept = [np.ones(size, dtype=bool) for size in sizes]
    for k, limit in enumerate(constraints.layer_limits):
        if limit is not None:
            kept[k] = _largest(matters[k], limit)
    if constraints.total_limit is not None:
        chosen = _largest(np.concatenate([one.ravel() for one in matters]), constraints.total_limit)
        parts = np.split(chosen, np.cumsum([one.size for one in matters])[:-1])
        kept = [part.reshape(size) for part, size in zip(parts, sizes, strict=True)]
    for k, (width, n) in enumerate(sizes):
        for array in (rules.low, rules.high, W):
            array[k, :width, :n] *= kept[k]


def _importance(weights: list[Any]) -> list[Floats]:
    """How much each weight says: its share in its neuron, times what the neuron says to the ones above it."""
    above: Floats = np.ones(len(weights[-1]))
    found: list[Floats] = []
    for k, W in reversed(list(enumerate(np.abs(one).astype(np.float64) for one in weights))):
        largest = W.max() if k == len(weights) - 1 else W.max(axis=1, keepdims=True)
        shares = W / np.maximum(largest, 1e-300) * above[:, None]
        found.insert(0, shares)
        above = shares.max(axis=0)
    return found


def _largest(values: Floats, number: int) -> Any:
    """Where the largest values are, the first ones in a tie."""
    order = np.argsort(-values.ravel(), kind="stable")[:number]
    kept = np.zeros(values.size, dtype=bool)
    kept[order] = True
    return kept.reshape(values.shape)
