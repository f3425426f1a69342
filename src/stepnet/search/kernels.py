"""Compiled loops of the local search: the exact line search of the weighted 0-1 loss.

Along a direction (dw, dt) of one neuron its value for row i is ``a_i + s·d_i`` with
``d_i = dw·h_i - dt``; the row flips at ``s_i = -a_i / d_i`` and nowhere else. So the loss along s is
piecewise constant: sort the s_i of the rows whose answer hangs on the neuron (the pivotal rows), sweep
once, and take the best interval. Values are updated move by move and drift; whoever wants a loss
to believe in evaluates the network.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

_REFRESH = 1000  # moves after which all values are computed anew
_FLAT = 1e-12  # slopes and differences of losses below this are none
_HUGE = 1e6  # weights do not grow beyond this


class State(NamedTuple):
    """A network on its rows, as flat arrays that serve every depth.

    Neuron j of layer k is number ``first[k] + j`` in ``A`` and ``B``; inputs of layer k are
    ``widths[k]`` many, its neurons ``widths[k + 1]``.
    """

    X: Any  # m × n rows
    y: Any  # m class codes, int8
    weights: Any  # m weights of the rows
    penalties: Any  # m weights that the search minimises; it raises those of stubborn rows
    W: Any  # K × d × c weights, padded with zeros
    t: Any  # K × d thresholds
    A: Any  # neurons × m: w·h - t
    B: Any  # neurons × m: the bits, int8
    widths: Any  # n, d_1, ..., d_K
    first: Any  # number of the first neuron of each layer


@njit(cache=True, nogil=True)
def forward(state: State) -> float:
    """Compute all values and bits anew; returns the loss."""
    X, W, t, A, B, widths, first = state.X, state.W, state.t, state.A, state.B, state.widths, state.first
    m = X.shape[0]
    for k in range(W.shape[0]):
        for j in range(widths[k + 1]):
            number = first[k] + j
            for i in range(m):
                value = -t[k, j]
                for c in range(widths[k]):
                    value += W[k, j, c] * (X[i, c] if k == 0 else B[first[k - 1] + c, i])
                A[number, i] = value
                B[number, i] = value >= 0
    loss = 0.0
    for i in range(m):
        if B[B.shape[0] - 1, i] != state.y[i]:
            loss += state.weights[i]
    return loss


@njit(cache=True, nogil=True)
def _flip(state: State, k: int, j: int, rows: Any, n_rows: int, commit: bool, changed: Any) -> int:
    """Of the first ``n_rows`` rows, those whose answer changes when bit j of layer k flips.

    They are put into ``changed`` (which may be ``rows`` itself); returns how many. With ``commit``
    the bit has flipped already, and what lies above it follows.
    """
    W, A, B, widths, first = state.W, state.A, state.B, state.widths, state.first
    last, number = W.shape[0] - 1, first[k] + j
    n_changed = 0
    flips, signs = np.empty((2, W.shape[1]), np.int64), np.empty((2, W.shape[1]))
    for p in range(n_rows):
        i = rows[p]
        bit = B[number, i] == 1
        flips[0, 0], signs[0, 0] = j, 1.0 if bit == commit else -1.0
        n_flips = 1
        for q in range(k + 1, last + 1):
            here, above = (q - k - 1) % 2, (q - k) % 2
            n_above = 0
            for r in range(widths[q + 1]):
                upper = first[q] + r
                value = A[upper, i]
                for c in range(n_flips):
                    value += W[q, r, flips[here, c]] * signs[here, c]
                if (value >= 0) != (B[upper, i] == 1):
                    flips[above, n_above], signs[above, n_above] = r, 1.0 - 2.0 * B[upper, i]
                    n_above += 1
                if commit:
                    A[upper, i] = value
                    B[upper, i] = value >= 0
            n_flips = n_above
        if n_flips > 0:
            changed[n_changed] = i
            n_changed += 1
    return n_changed


@njit(cache=True, nogil=True)
def _slopes(state: State, k: int, dw: Any, dt: float, slopes: Any) -> None:
    """d_i for all rows: how fast the neuron's value grows along the direction."""
    X, B, n = state.X, state.B, state.widths[k]
    if k == 0:
        for i in range(X.shape[0]):
            slope = -dt
            for c in range(n):
                slope += dw[c] * X[i, c]
            slopes[i] = slope
        return
    below = state.first[k - 1]
    for i in range(X.shape[0]):
        slopes[i] = -dt
    for c in range(n):
        if dw[c] != 0.0:
            for i in range(X.shape[0]):
                slopes[i] += dw[c] * B[below + c, i]


@njit(cache=True, nogil=True)
def _add_row(state: State, k: int, i: int, factor: float, dw: Any) -> None:
    """dw += factor · (input of layer k for row i)."""
    for c in range(state.widths[k]):
        dw[c] += factor * (state.X[i, c] if k == 0 else state.B[state.first[k - 1] + c, i])


@njit(cache=True, nogil=True)
def _direction(state: State, k: int, j: int, pivotal: Any, moves_threshold: bool, dw: Any) -> float:
    """Fill ``dw`` with a direction for neuron j of layer k; returns dt.

    One coordinate, a random one, the perceptron's over pivotal wrong rows, or one wrong row
    against another pivotal row, which changes the two and little else.
    """
    n = state.widths[k]
    output = state.B[state.B.shape[0] - 1]
    for c in range(len(dw)):
        dw[c] = 0.0
    kind = np.random.random()
    if kind < 0.4:
        c = np.random.randint(n + 1)
        if c < n:
            dw[c] = 1.0
            return 0.0
        if moves_threshold:
            return 1.0
        for c in range(n):  # without a threshold of its own a neuron moves it by scaling
            dw[c] = state.W[k, j, c]
        return 0.0
    if kind < 0.85 and len(pivotal) > 0:
        dt = 0.0
        is_single = kind < 0.55
        begin = np.random.randint(len(pivotal))
        for p in range(len(pivotal)):
            i = pivotal[(begin + p) % len(pivotal)]
            if output[i] == state.y[i] or np.random.random() < 0.3:
                continue
            sign = state.penalties[i] * (1.0 - 2.0 * state.B[state.first[k] + j, i])
            _add_row(state, k, i, sign, dw)
            dt -= sign
            if is_single:
                _add_row(state, k, pivotal[np.random.randint(len(pivotal))], -sign, dw)
                return 0.0
        if dt != 0.0:
            return dt if moves_threshold else 0.0
    for c in range(n):
        dw[c] = np.random.normal()
    return np.random.normal() if moves_threshold else 0.0


@njit(cache=True, nogil=True)
def _breakpoints(
    state: State, k: int, j: int, pivotal: Any, slopes: Any, steps: Any, deltas: Any
) -> tuple[int, float, float]:
    """Where pivotal rows flip and what that costs; how many, the loss at the far left, the loss now."""
    values, bits, output = state.A[state.first[k] + j], state.B[state.first[k] + j], state.B[state.B.shape[0] - 1]
    y, penalties = state.y, state.penalties
    n_steps, at_left, now = 0, 0.0, 0.0
    for p in range(len(pivotal)):
        i = pivotal[p]
        slope, penalty = slopes[i], penalties[i]
        is_wrong = output[i] != y[i]
        if is_wrong:
            now += penalty
        if abs(slope) < _FLAT:
            if is_wrong:
                at_left += penalty
            continue
        is_wrong_on = is_wrong == (bits[i] == 1)
        if is_wrong_on == (slope < 0):  # at the far left the neuron is on where the slope is negative
            at_left += penalty
            deltas[n_steps] = -penalty
        else:
            deltas[n_steps] = penalty
        steps[n_steps] = -values[i] / slope
        n_steps += 1
    return n_steps, at_left, now


@njit(cache=True, nogil=True)
def _best_step(steps: Any, deltas: Any, loss: float) -> tuple[float, float]:
    """A step into the best interval, and the loss there; among equals at random, wide ones first."""
    order = np.argsort(steps)
    n_steps = len(order)
    reach = steps[order[-1]] - steps[order[0]] + 1.0  # how far to go past the last breakpoint
    left = steps[order[0]] - reach
    best_step, best_loss, best_key = 0.0, np.inf, -1.0
    for p in range(n_steps + 1):
        right = steps[order[p]] if p < n_steps else left + reach
        # Equal breakpoints leave an interval of no width, which is no place to step into.
        if right - left > 1e-9 * (1.0 + abs(left) + abs(right)) and loss <= best_loss + _FLAT:
            key = min(right - left, reach / 4) * np.random.random()
            if loss < best_loss - _FLAT or key > best_key:
                best_loss, best_key = loss, key
                best_step = left + (right - left) * (0.25 + 0.5 * np.random.random())
        if p < n_steps:
            loss += deltas[order[p]]
        left = right
    return best_step, best_loss


@njit(cache=True, nogil=True)
def _move(
    state: State, k: int, j: int, dw: Any, dt: float, step: float, slopes: Any, scales_freely: bool, rows: Any
) -> float:
    """Carry a step out; returns by how much the loss grows."""
    n, W, t, y, weights = state.widths[k], state.W, state.t, state.y, state.weights
    values, bits, output = state.A[state.first[k] + j], state.B[state.first[k] + j], state.B[state.B.shape[0] - 1]
    size = abs(t[k, j] + step * dt)
    for c in range(n):
        size = max(size, abs(W[k, j, c] + step * dw[c]))
    scale = 1.0
    if scales_freely and (size > 4 or 0 < size < 0.25):
        scale = 1.0 / size
    if size > _HUGE:
        return 0.0
    for c in range(n):
        W[k, j, c] = (W[k, j, c] + step * dw[c]) * scale
    t[k, j] = (t[k, j] + step * dt) * scale
    n_flipped = 0
    for i in range(len(y)):
        value = (values[i] + step * slopes[i]) * scale
        values[i] = value
        if (value >= 0) != (bits[i] == 1):
            bits[i] = value >= 0
            rows[n_flipped] = i
            n_flipped += 1
    growth = 0.0
    for p in range(_flip(state, k, j, rows, n_flipped, True, rows)):
        i = rows[p]
        growth += weights[i] if output[i] != y[i] else -weights[i]
    return growth


@njit(cache=True, nogil=True)
def _punish(state: State) -> None:
    """At a local optimum the wrong rows get heavier and the others recover."""
    output = state.B[state.B.shape[0] - 1]
    for i in range(len(state.y)):
        if output[i] != state.y[i]:
            state.penalties[i] += state.weights[i]
        else:
            state.penalties[i] = max(state.weights[i], 0.95 * state.penalties[i])


@njit(cache=True, nogil=True)
def _copy(W: Any, t: Any, to_W: Any, to_t: Any) -> None:
    """Copy in plain loops: numba takes seconds to compile an assignment of whole arrays."""
    for k in range(W.shape[0]):
        for j in range(W.shape[1]):
            to_t[k, j] = t[k, j]
            for c in range(W.shape[2]):
                to_W[k, j, c] = W[k, j, c]


@njit(cache=True, nogil=True)
def search(
    state: State,
    best_W: Any,
    best_t: Any,
    best_loss: float,
    moves_threshold: bool,
    scales_freely: bool,
    n_moves: int,
    patience: int,
    seed: int,
    target: float,
) -> float:
    """Make ``n_moves`` moves or reach ``target``.

    The best network is left in ``best_W`` and ``best_t``; returns its loss, up to drift.
    """
    np.random.seed(seed)
    m = len(state.y)
    every, rows, slopes = np.arange(m), np.empty(m, np.int64), np.empty(m)
    dw, steps, deltas = np.empty(state.W.shape[2]), np.empty(m), np.empty(m)
    loss, stalled = forward(state), 0
    for move in range(n_moves + 1):
        if loss < best_loss - _FLAT:
            best_loss, stalled = loss, 0
            _copy(state.W, state.t, best_W, best_t)
            if best_loss <= target:
                break
        if stalled > patience:
            stalled = 0
            _punish(state)
        number = np.random.randint(state.A.shape[0])
        k = len(state.first) - 1
        while state.first[k] > number:
            k -= 1
        j = number - state.first[k]
        stalled += 1
        pivotal = rows[: _flip(state, k, j, every, m, False, rows)]
        dt = _direction(state, k, j, pivotal, moves_threshold, dw)
        _slopes(state, k, dw, dt, slopes)
        n_steps, at_left, now = _breakpoints(state, k, j, pivotal, slopes, steps, deltas)
        if n_steps == 0:
            continue
        step, reached = _best_step(steps[:n_steps], deltas[:n_steps], at_left)
        if reached > now + _FLAT:
            continue
        if reached < now - _FLAT:
            stalled = 0
        loss += _move(state, k, j, dw, dt, step, slopes, scales_freely, rows)
        if move % _REFRESH == _REFRESH - 1:
            loss = forward(state)
    return best_loss
