"""Compiled loop of gradient boosting on binned rows.

Each round adds one tree per output, grown leaf by leaf: the split with the largest gain

    G_l² / (H_l + λ) + G_r² / (H_r + λ) - G² / (H + λ)

comes next, where G and H are the sums of the gradients and curvatures of the loss over the rows of a leaf. Sums over
bins make the search for it as long as the number of bins; of two children only the smaller one is summed, the other is
the difference to their parent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from stepnet.runtime.compiling import kernel

LOGISTIC, SOFTMAX, SQUARES = 0, 1, 2

_inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
_kernel = kernel(nogil=True)


class Boosting(NamedTuple):
    """The state of a booster: rows, scores and trees."""

    bins: Any  # m × n, uint8: the number of cuts of the feature that the row reaches
    offsets: Any  # n + 1: where the bins of each feature begin among those of all features
    targets: Any  # m × 1 classes, or m × outputs numbers
    weights: Any  # m; 0 for rows that are held out
    rows: Any  # those with a weight, in the order in which trees divide them
    scores: Any  # m × outputs, of all rows
    features: Any  # rounds × outputs × nodes; -1 is a leaf
    cuts: Any  # the split goes above if the bin is larger
    below: Any
    above: Any
    values: Any


class Growth(NamedTuple):
    """How trees grow."""

    loss: int
    rate: float
    n_leaves: int
    least: float  # weight of the rows of a leaf
    ridge: float  # λ


@_inner
def _gradients(s: Boosting, loss: int, output: int, shares: Any, gradients: Any, curvatures: Any) -> None:
    """Of the loss in the scores of one output; ``shares`` are the softmax of all rows."""
    n_outputs = s.scores.shape[1]
    for i in s.rows:
        weight = s.weights[i]
        if loss == SQUARES:
            gradients[i], curvatures[i] = weight * (s.scores[i, output] - s.targets[i, output]), weight
        elif loss == LOGISTIC:
            p = 1.0 / (1.0 + np.exp(-s.scores[i, 0]))
            gradients[i], curvatures[i] = weight * (p - s.targets[i, 0]), weight * p * (1.0 - p)
        else:
            p = shares[i, output]
            aim = 1.0 if s.targets[i, 0] == output else 0.0
            gradients[i] = weight * (p - aim)
            curvatures[i] = weight * p * (1.0 - p) * n_outputs / (n_outputs - 1.0)


@_inner
def _softmax(s: Boosting, shares: Any) -> None:
    for i in s.rows:
        largest, total = s.scores[i].max(), 0.0
        for k in range(s.scores.shape[1]):
            shares[i, k] = np.exp(s.scores[i, k] - largest)
            total += shares[i, k]
        for k in range(s.scores.shape[1]):
            shares[i, k] /= total


@_inner
def _copy(target: Any, source: Any) -> None:
    to, of = target.ravel(), source.ravel()
    for p in range(to.size):
        to[p] = of[p]


@_inner
def _subtract(target: Any, source: Any) -> None:
    to, of = target.ravel(), source.ravel()
    for p in range(to.size):
        to[p] -= of[p]


@_inner
def _total(sums: Any, n_bins: int, total: Any) -> None:
    """Over all rows of a leaf: the bins of any feature, such as the first, add up to it."""
    for c in range(3):
        total[c] = 0.0
        for b in range(n_bins):
            total[c] += sums[b, c]


@_inner
def _sum_up(s: Boosting, rows: Any, gradients: Any, curvatures: Any, sums: Any) -> None:
    """Gradients, curvatures and weights of rows by bin of every feature."""
    flat = sums.ravel()
    for p in range(flat.size):
        flat[p] = 0.0
    for i in rows:
        g, h, w = gradients[i], curvatures[i], s.weights[i]
        for f in range(s.bins.shape[1]):
            cell = sums[s.offsets[f] + s.bins[i, f]]
            cell[0] += g
            cell[1] += h
            cell[2] += w


@_inner
def _best_split(s: Boosting, g: Growth, sums: Any, total: Any) -> tuple[float, int, int]:
    """The gain, feature and bin of the best split of a leaf; a gain of 0 if there is none."""
    gain, feature, cut = 1e-9, -1, 0
    whole = total[0] * total[0] / (total[1] + g.ridge)
    for f in range(s.bins.shape[1]):
        left_g, left_h, left_w = 0.0, 0.0, 0.0
        first = s.offsets[f]
        for b in range(s.offsets[f + 1] - first - 1):
            left_g += sums[first + b, 0]
            left_h += sums[first + b, 1]
            left_w += sums[first + b, 2]
            if left_w < g.least:
                continue
            if total[2] - left_w < g.least:
                break
            right_g, right_h = total[0] - left_g, total[1] - left_h
            found = left_g * left_g / (left_h + g.ridge) + right_g * right_g / (right_h + g.ridge) - whole
            if found > gain:
                gain, feature, cut = found, f, b
    return (gain, feature, cut) if feature >= 0 else (0.0, -1, 0)


@_inner
def _divide(bins: Any, rows: Any, spare: Any, feature: int, cut: int) -> int:
    """Put the rows at or below the cut first, in their order; returns how many they are."""
    n_low, n_high = 0, 0
    for i in rows:
        if bins[i, feature] <= cut:
            rows[n_low] = i
            n_low += 1
        else:
            spare[n_high] = i
            n_high += 1
    for p in range(n_high):
        rows[n_low + p] = spare[p]
    return n_low


@_inner
def _grow(
    s: Boosting, g: Growth, turn: int, output: int, gradients: Any, curvatures: Any, sums: Any, spare: Any
) -> None:
    """One tree. Leaf number j has rows ``begins[j]`` to ``ends[j]`` and the sums ``sums[j]``."""
    n_leaves = g.n_leaves
    begins, ends, nodes = np.zeros(n_leaves, np.int64), np.zeros(n_leaves, np.int64), np.zeros(n_leaves, np.int64)
    gains, splits = np.zeros(n_leaves), np.zeros((n_leaves, 2), np.int64)
    totals = np.zeros((n_leaves, 3))
    ends[0] = s.rows.size
    _sum_up(s, s.rows, gradients, curvatures, sums[0])
    _total(sums[0], s.offsets[1], totals[0])
    gains[0], splits[0, 0], splits[0, 1] = _best_split(s, g, sums[0], totals[0])
    s.features[turn, output, 0] = -1
    n_open, n_nodes = 1, 1
    while n_open < n_leaves:
        leaf = int(gains[:n_open].argmax())
        if gains[leaf] <= 0.0:
            break
        feature, cut, node, other = splits[leaf, 0], splits[leaf, 1], nodes[leaf], n_open
        n_low = _divide(s.bins, s.rows[begins[leaf] : ends[leaf]], spare, feature, cut)
        begins[other], ends[other], ends[leaf] = begins[leaf] + n_low, ends[leaf], begins[leaf] + n_low
        # The smaller child is summed, the other one is what is left of the parent.
        small, large = (leaf, other) if n_low <= ends[other] - begins[other] else (other, leaf)
        if small == leaf:
            _copy(sums[other], sums[leaf])
            _copy(totals[other], totals[leaf])
        _sum_up(s, s.rows[begins[small] : ends[small]], gradients, curvatures, sums[small])
        _total(sums[small], s.offsets[1], totals[small])
        _subtract(sums[large], sums[small])
        _subtract(totals[large], totals[small])
        s.features[turn, output, node], s.cuts[turn, output, node] = feature, cut
        s.below[turn, output, node], s.above[turn, output, node] = n_nodes, n_nodes + 1
        nodes[leaf], nodes[other] = n_nodes, n_nodes + 1
        for child in (leaf, other):
            s.features[turn, output, nodes[child]] = -1
            gains[child], splits[child, 0], splits[child, 1] = _best_split(s, g, sums[child], totals[child])
        n_nodes += 2
        n_open += 1
    for leaf in range(n_open):
        step = totals[leaf, 0] / (totals[leaf, 1] + g.ridge)
        s.values[turn, output, nodes[leaf]] = -g.rate * step


@_inner
def _add_tree(s: Boosting, turn: int, output: int) -> None:
    """What a tree adds to the scores of all rows."""
    for i in range(s.bins.shape[0]):
        node = 0
        while s.features[turn, output, node] >= 0:
            is_above = s.bins[i, s.features[turn, output, node]] > s.cuts[turn, output, node]
            node = s.above[turn, output, node] if is_above else s.below[turn, output, node]
        s.scores[i, output] += s.values[turn, output, node]


@_kernel
def boost(s: Boosting, g: Growth, first: int, end: int) -> None:
    """Rounds ``first`` to ``end - 1``, in place."""
    m, n_outputs = s.scores.shape
    gradients, curvatures, spare = np.zeros(m), np.zeros(m), np.zeros(s.rows.size, s.rows.dtype)
    shares = np.zeros((m, n_outputs) if g.loss == SOFTMAX else (1, 1))
    sums = np.zeros((g.n_leaves, s.offsets[-1], 3))
    for turn in range(first, end):
        if g.loss == SOFTMAX:
            _softmax(s, shares)
        for output in range(n_outputs):
            _gradients(s, g.loss, output, shares, gradients, curvatures)
            _grow(s, g, turn, output, gradients, curvatures, sums, spare)
        for output in range(n_outputs):
            _add_tree(s, turn, output)
