"""Boosting in numpy, for as long as its kernel is not compiled: the same trees, up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.search.boosting.kernel import LOGISTIC, SQUARES, Boosting, Growth

_Split = tuple[float, int, int]  # gain, feature and bin


def boost(s: Boosting, g: Growth, first: int, end: int) -> None:
    """What the kernel of the same name does."""
    for turn in range(first, end):
        gradients, curvatures = _gradients(s, g.loss)
        for output in range(s.scores.shape[1]):
            _grow(s, g, turn, output, gradients[:, output], curvatures[:, output])
        for output in range(s.scores.shape[1]):
            s.scores[:, output] += _answers(s, turn, output)


def _gradients(s: Boosting, loss: int) -> tuple[Any, Any]:
    weights, n_outputs = s.weights[:, None], s.scores.shape[1]
    if loss == SQUARES:
        return weights * (s.scores - s.targets), np.broadcast_to(weights, s.scores.shape)
    if loss == LOGISTIC:
        with np.errstate(over="ignore"):
            shares = 1 / (1 + np.exp(-s.scores))
        return weights * (shares - s.targets), weights * shares * (1 - shares)
    shares = np.exp(s.scores - s.scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    aims = np.arange(n_outputs) == s.targets
    return weights * (shares - aims), weights * shares * (1 - shares) * n_outputs / (n_outputs - 1)


def _grow(s: Boosting, g: Growth, turn: int, output: int, gradients: Any, curvatures: Any) -> None:
    parts = np.column_stack([gradients, curvatures, s.weights])
    rows, nodes, n_nodes = [s.rows], [0], 1
    sums = [_sums(s, parts, s.rows)]
    splits = [_best_split(s, g, sums[0])]
    s.features[turn, output, 0] = -1
    while len(rows) < g.n_leaves:
        leaf = int(np.argmax([gain for gain, _, _ in splits]))
        gain, feature, cut = splits[leaf]
        if gain <= 0:
            break
        is_above = s.bins[rows[leaf], feature] > cut
        node, children = nodes[leaf], (rows[leaf][~is_above], rows[leaf][is_above])
        small = int(len(children[1]) < len(children[0]))
        own = _sums(s, parts, children[small])
        both = (own, sums[leaf] - own) if small == 0 else (sums[leaf] - own, own)
        s.features[turn, output, node], s.cuts[turn, output, node] = feature, cut
        s.below[turn, output, node], s.above[turn, output, node] = n_nodes, n_nodes + 1
        rows[leaf], sums[leaf], nodes[leaf], splits[leaf] = children[0], both[0], n_nodes, _best_split(s, g, both[0])
        rows.append(children[1])
        sums.append(both[1])
        nodes.append(n_nodes + 1)
        splits.append(_best_split(s, g, both[1]))
        s.features[turn, output, n_nodes : n_nodes + 2] = -1
        n_nodes += 2
    for node, own in zip(nodes, sums, strict=True):
        total = own[0].sum(axis=0)
        s.values[turn, output, node] = -g.rate * total[0] / (total[1] + g.ridge)


def _sums(s: Boosting, parts: Any, rows: Any) -> Any:
    """Gradients, curvatures and weights of rows by feature and bin."""
    n, most = s.bins.shape[1], int(np.diff(s.offsets).max())
    cells = (s.bins[rows] + most * np.arange(n)).ravel()
    sums = [np.bincount(cells, np.repeat(part[rows], n), minlength=n * most) for part in parts.T]
    return np.stack(sums, axis=1).reshape(n, most, 3)


def _best_split(s: Boosting, g: Growth, sums: Any) -> _Split:
    total, left = sums[0].sum(axis=0), sums.cumsum(axis=1)
    right = total - left
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = left[..., 0] ** 2 / (left[..., 1] + g.ridge) + right[..., 0] ** 2 / (right[..., 1] + g.ridge)
    gains -= total[0] ** 2 / (total[1] + g.ridge)
    is_inside = np.arange(sums.shape[1]) < np.diff(s.offsets)[:, None] - 1
    gains[~(is_inside & (left[..., 2] >= g.least) & (right[..., 2] >= g.least))] = 0.0
    best = int(np.argmax(gains))
    gain = float(gains.ravel()[best])
    return (gain, *divmod(best, sums.shape[1])) if gain > 1e-9 else (0.0, -1, 0)


def _answers(s: Boosting, turn: int, output: int) -> Any:
    """What a tree adds to the scores of all rows."""
    node, every = np.zeros(len(s.bins), dtype=np.int64), np.arange(len(s.bins))
    features, cuts = s.features[turn, output], s.cuts[turn, output]
    while (is_inner := features[node] >= 0).any():
        inner = every[is_inner]
        at = node[inner]
        is_above = s.bins[inner, features[at]] > cuts[at]
        node[inner] = np.where(is_above, s.above[turn, output, at], s.below[turn, output, at])
    return s.values[turn, output, node]
