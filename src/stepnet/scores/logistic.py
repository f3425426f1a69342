"""Logistic loss of scorecards: of the best slope and offset on the histogram of their totals.

The loss of a total s is log(1 + exp(-±(slope·s + offset))). All rows of the same total and class share it, so a
scorecard is as good as its histogram, which one rule more or less changes by moving rows by its points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.runtime.compiling import kernel

_STEPS = 20
_RIDGE = 1e-6


@kernel(nogil=True)
def fitted(off: Any, on: Any, slope: float, offset: float, best: float) -> Any:
    """The least loss, slope and offset for the weights of both classes by total; begins at the given ones.

    It ends as soon as the loss cannot fall below ``best``.
    """
    loss = _loss(off, on, slope, offset)
    for _ in range(_STEPS):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for s in range(len(off)):
            weight = off[s] + on[s]
            if weight > 0:
                p = 1.0 / (1.0 + np.exp(-(slope * s + offset)))
                residual = weight * p - on[s]
                curvature = weight * max(p * (1.0 - p), 1e-9)
                g0 += residual
                g1 += residual * s
                h00 += curvature
                h01 += curvature * s
                h11 += curvature * s * s
        h00 += _RIDGE
        h11 += _RIDGE
        det = h00 * h11 - h01 * h01
        d_offset, d_slope = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
        decrease = 0.5 * (g0 * d_offset + g1 * d_slope)
        if decrease < 1e-7 * (1.0 + loss) or loss - 4.0 * decrease > best:
            break
        step = 1.0
        for _ in range(8):
            other = _loss(off, on, slope - step * d_slope, offset - step * d_offset)
            if other < loss:
                break
            step *= 0.5
        if other >= loss:
            break
        slope, offset, loss = slope - step * d_slope, offset - step * d_offset, other
    return loss, slope, offset


@kernel(nogil=True)
def _loss(off: Any, on: Any, slope: float, offset: float) -> float:
    loss = 0.0
    for s in range(len(off)):
        if off[s] + on[s] > 0:
            z = slope * s + offset
            tail = np.log1p(np.exp(-abs(z)))
            loss += off[s] * (max(z, 0.0) + tail) + on[s] * (max(-z, 0.0) + tail)
    return loss


@kernel(nogil=True)
def best_rule(
    ranks: Any, order: Any, cuts: Any, n_cuts: Any, shares: Any, totals: Any, shift: int, points: int, is_full: Any,
    start: Any, best: float, found: Any,
) -> float:  # fmt: skip
    """The least loss below ``best`` with one rule more: ``found`` becomes its feature, cut, points, slope and offset.

    ``totals`` are the points of the other rules, which may be negative: a rule "at most" is one "at least" with
    negative points, up to the offset. ``shares`` are rows × classes: how much each row counts for each class.
    """
    n_bins = 2 * shift + 1
    n_rows = len(totals)
    off, on = np.empty(n_bins), np.empty(n_bins)
    for feature in range(len(order)):
        if is_full[feature]:
            continue
        for own in range(-points, points + 1):
            if own == 0:
                continue
            off[:] = 0.0
            on[:] = 0.0
            for row in range(n_rows):
                off[totals[row] + shift] += shares[row, 0]
                on[totals[row] + shift] += shares[row, 1]
            place, slope, offset = n_rows - 1, start[0], start[1]
            for k in range(n_cuts[feature] - 1, -1, -1):
                cut = cuts[feature, k]
                while place >= 0 and ranks[feature, order[feature, place]] >= cut:
                    row = order[feature, place]
                    s = totals[row] + shift
                    off[s] = max(off[s] - shares[row, 0], 0.0)
                    on[s] = max(on[s] - shares[row, 1], 0.0)
                    off[s + own] += shares[row, 0]
                    on[s + own] += shares[row, 1]
                    place -= 1
                loss, slope, offset = fitted(off, on, slope, offset, best)
                if loss < best:
                    best = loss
                    found[0], found[1], found[2], found[3], found[4] = feature, cut, own, slope, offset
    return best
