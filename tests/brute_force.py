"""Referees that share no code with the package: enumeration of all networks, and rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
from scipy.optimize import linprog


def rational_answers(layers, X):
    """Output bits of a network given as [(weights, thresholds), ...], in rational numbers."""
    answers = []
    for row in np.asarray(X, dtype=float).tolist():
        signals = [Fraction(value) for value in row]
        for weights, thresholds in layers:
            signals = [
                Fraction(
                    int(sum((Fraction(w) * h for w, h in zip(ws, signals, strict=True)), Fraction(0)) >= Fraction(t))
                )
                for ws, t in zip(np.asarray(weights).tolist(), np.asarray(thresholds).tolist(), strict=True)
            ]
        answers.append(int(signals[0]))
    return np.array(answers)


def rational_loss(layers, X, y, weights=None):
    wrong = rational_answers(layers, X) != np.asarray(y)
    weights = np.ones(len(wrong)) if weights is None else np.asarray(weights)
    return float(sum((Fraction(w) for w in weights[wrong].tolist()), Fraction(0)))


def margin_of(rows, on, sign):
    """The largest δ with a >= t + δ on the chosen rows and a <= t - δ on the others, |w|, |t| <= 1.

    ``sign`` is None for any threshold, or +1, 0, -1 for a threshold of that sign.
    """
    m, n = rows.shape
    side = np.where(on, 1.0, -1.0)
    exempt = (sign == 0) & ~rows.any(axis=1)
    if (exempt & ~on).any():
        return -1.0
    # variables w, t, δ;  -side (w·x - t) + δ <= 0
    A = np.hstack([-side[:, None] * rows, side[:, None], np.where(exempt, 0.0, 1.0)[:, None]])
    low, high = {None: (-1, 1), 1: (0, 1), 0: (0, 0), -1: (-1, 0)}[sign]
    bounds = [(-1, 1)] * n + [(low, high), (0, 2)]
    extra = np.zeros((1, n + 2))
    if sign in (1, -1):  # |t| >= δ as well
        extra[0, n], extra[0, n + 1] = -sign, 1.0
    solution = linprog(np.r_[np.zeros(n + 1), -1.0], np.vstack([A, extra]), np.zeros(m + 1), bounds=bounds)
    return solution.x[-1] if solution.status == 0 else -1.0


def touching(rows, on):
    """Whether w·x >= 0 on the chosen rows and w·x < 0 on the others is possible, ties allowed."""
    n = rows.shape[1]
    A = np.where(on, -1.0, 1.0)[:, None] * rows
    b = np.where(on, 0.0, -1.0)
    return linprog(np.zeros(n), A, b, bounds=[(None, None)] * n).status == 0


def splits(rows, sign=None, margin=1e-7):
    """All sets of rows that one neuron can turn on, as a bool array (sets × rows).

    Rows are added one by one, and a split of the first ones is kept only if it is possible.
    """
    rows = np.asarray(rows, dtype=float)
    found = [[]]
    for i in range(len(rows)):
        found = [
            [*split, bit]
            for split in found
            for bit in (False, True)
            if _possible(rows[: i + 1], [*split, bit], sign, margin)
        ]
    return np.array(found, dtype=bool).reshape(len(found), len(rows))


def _possible(rows, on, sign, margin):
    on = np.array(on, dtype=bool)
    if sign == 0 and margin <= 1e-6:
        return touching(rows, on)
    return margin_of(rows, on, sign) >= margin * (1 - 1e-6)


def cube(d):
    return np.array(list(product([0.0, 1.0], repeat=d)))


def signs_of(threshold):
    """The signs that a layer's threshold may have; None: each neuron its own."""
    if threshold == "neuron":
        return [None]
    if threshold == "layer":
        return [1, 0, -1]
    return [int(np.sign(threshold))]


def best_loss(rows, y, hidden, threshold="neuron", weights=None, margin=1e-7):
    """The smallest loss of any network, by enumeration (tiny data, at most two hidden layers).

    ``rows`` in the units in which ``margin`` is meant.
    """
    rows, y = np.asarray(rows, dtype=float), np.asarray(y).astype(bool)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    return _best(rows, y, weights, tuple(hidden), threshold, margin, {})


def _best(rows, y, weights, hidden, threshold, margin, memo):
    if not hidden:
        return min(float(((s != y) @ weights).min()) for s in _all_splits(rows, threshold, margin))
    best = np.inf
    d = hidden[0]
    corners = cube(d)
    for family in _all_splits(rows, threshold, margin):
        for chosen in combinations_with_replacement(range(len(family)), d):
            bits = family[list(chosen)].T  # rows × d
            # Weight of each class at each corner of the cube: the rest depends on nothing else.
            corner = bits @ (1 << np.arange(d)[::-1])
            ones = np.bincount(corner, weights * y, minlength=2**d)
            zeros = np.bincount(corner, weights * ~y, minlength=2**d)
            key = (hidden, tuple(ones - zeros), tuple((ones + zeros) > 0))
            if key not in memo:
                memo[key] = _best_above(corners, ones, zeros, hidden[1:], threshold, margin)
            base = float(np.minimum(ones, zeros).sum())
            best = min(best, base + memo[key])
            if best == 0:
                return 0.0
    return best


_CUBE_FAMILIES = {}


def _best_above(corners, ones, zeros, hidden, threshold, margin):
    """The loss of the layers above, beyond what equal corners cost anyway."""
    base = np.minimum(ones, zeros).sum()
    d = corners.shape[1]
    key = (d, threshold, margin)
    if key not in _CUBE_FAMILIES:
        _CUBE_FAMILIES[key] = np.vstack(_all_splits(corners, threshold, margin))
    if not hidden:
        family = _CUBE_FAMILIES[key]
        return float((family @ zeros + ~family @ ones).min() - base)
    best = np.inf
    for family in _all_splits(corners, threshold, margin):
        for chosen in combinations_with_replacement(range(len(family)), hidden[0]):
            bits = family[list(chosen)].T
            corner = bits @ (1 << np.arange(hidden[0])[::-1])
            upper_ones = np.bincount(corner, ones, minlength=2 ** hidden[0])
            upper_zeros = np.bincount(corner, zeros, minlength=2 ** hidden[0])
            above = _best_above(cube(hidden[0]), upper_ones, upper_zeros, hidden[1:], threshold, margin)
            best = min(best, np.minimum(upper_ones, upper_zeros).sum() + above)
    return float(best - base)


def _all_splits(rows, threshold, margin):
    return [splits(rows, sign, margin) for sign in signs_of(threshold)]
