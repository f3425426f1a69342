"""Compiled loops of the local search: the exact line search of the weighted 0-1 loss.

Along a direction (dw, dt) of one neuron its value for row i is ``a_i + s·d_i`` with
``a_i = w·h_i - t`` and ``d_i = dw·h_i - dt``; the row flips at ``s_i = -a_i / d_i`` and nowhere else.
So the loss along s is piecewise constant: sort the s_i of the rows whose answer depends on the neuron
(the pivotal rows), sweep once, and take the best interval. Only a move that is carried out looks at
the other rows. Values above the first layer are updated bit by bit and drift; whoever wants a loss
to believe in evaluates the network.

All of it is one file since numba's cache looks at the file of the outermost function alone: after a change
elsewhere it would go on with the old code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from stepnet.runtime.compiling import kernel
from stepnet.search.local.lines import FLAT
from stepnet.search.local.state import Buffers, State

_REFRESH = 1000  # moves after which all values are computed anew
_RUN = 16  # breakpoints sorted by insertion
_HUGE = 1e6  # weights do not grow beyond this

# What Python never calls needs no wrapper for it: half of the time to compile.
_inner = njit(error_model="numpy", nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
_fast = njit(error_model="numpy", nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=True)
_kernel = kernel(error_model="numpy", nogil=True)


@_fast
def _values(state: State, k: int, weights: Any, threshold: float, rows: Any, values: Any) -> None:
    """weights · (input of layer k) - threshold for each of the rows."""
    X, B, n = state.X, state.B, state.widths[k]
    if k == 0:
        for p in range(len(rows)):
            i = rows[p]
            value = -threshold
            for c in range(n):
                value += weights[c] * X[i, c]
            values[p] = value
        return
    for p in range(len(rows)):
        values[p] = -threshold
    for c in range(n):
        if weights[c] != 0.0:
            bits, weight = B[state.first[k - 1] + c], weights[c]
            for p in range(len(rows)):
                values[p] += weight * bits[rows[p]]


@_inner
def _forward(state: State, buffers: Buffers) -> float:
    """Compute all values and bits anew; returns the loss."""
    every, values = buffers.every, buffers.values
    B, widths, first = state.B, state.widths, state.first
    for k in range(len(first)):
        for j in range(widths[k + 1]):
            number = first[k] + j
            _values(state, k, state.W[k, j], state.t[k, j], every, values)
            for i in range(len(every)):
                B[number, i] = values[i] >= 0
            if k > 0:
                for i in range(len(every)):
                    state.A[number - widths[1], i] = values[i]
    loss, output = 0.0, B[-1]
    for i in range(len(every)):
        if output[i] != state.y[i]:
            loss += state.weights[i]
    return loss


@_inner
def _pivotal(state: State, buffers: Buffers, k: int, j: int) -> Any:
    """The rows whose answer changes when bit j of layer k flips."""
    last, every, rows = len(state.first) - 1, buffers.every, buffers.rows
    if k == last:
        return every
    if k < last - 1:
        return rows[: _flip(state, buffers, k, j, every, len(every) < 0)]  # a literal would compile once more
    bits, output, values = state.B[state.first[k] + j], state.B[-1], state.A[-1]
    weight, n_rows = state.W[last, 0, j], 0
    for i in range(len(every)):
        value = values[i] - weight if bits[i] == 1 else values[i] + weight
        if (value >= 0) != (output[i] == 1):
            rows[n_rows] = i
            n_rows += 1
    return rows[:n_rows]


@_inner
def _flip(state: State, buffers: Buffers, k: int, j: int, rows: Any, commit: bool) -> int:
    """Of the rows, those whose answer changes when bit j of layer k flips.

    They are put into ``buffers.rows`` (which may be ``rows`` itself); returns how many. With
    ``commit`` the bit has flipped already, and what lies above it follows.
    """
    flips, signs, changed = buffers.flips, buffers.signs, buffers.rows
    W, A, B, widths, first = state.W, state.A, state.B, state.widths, state.first
    last, number = W.shape[0] - 1, first[k] + j
    n_changed = 0
    for p in range(len(rows)):
        i = rows[p]
        bit = B[number, i] == 1
        flips[0, 0], signs[0, 0] = j, 1.0 if bit == commit else -1.0
        n_flips = 1
        for q in range(k + 1, last + 1):
            here, above = (q - k - 1) % 2, (q - k) % 2
            n_above = 0
            for r in range(widths[q + 1]):
                upper = first[q] + r
                value = A[upper - widths[1], i]
                for c in range(n_flips):
                    value += W[q, r, flips[here, c]] * signs[here, c]
                if (value >= 0) != (B[upper, i] == 1):
                    flips[above, n_above], signs[above, n_above] = r, 1.0 - 2.0 * B[upper, i]
                    n_above += 1
                if commit:
                    A[upper - widths[1], i] = value
                    B[upper, i] = value >= 0
            n_flips = n_above
        if n_flips > 0:
            changed[n_changed] = i
            n_changed += 1
    return n_changed


@_inner
def _add_row(state: State, k: int, i: int, factor: float, dw: Any) -> None:
    """dw += factor · (input of layer k for row i)."""
    for c in range(state.widths[k]):
        dw[c] += factor * (state.X[i, c] if k == 0 else state.B[state.first[k - 1] + c, i])


@_inner
def _a_wrong_row(state: State, pivotal: Any) -> int:
    """A pivotal row whose answer is wrong; -1 if there is none."""
    output = state.B[-1]
    begin = np.random.randint(len(pivotal))
    for p in range(len(pivotal)):
        i = pivotal[(begin + p) % len(pivotal)]
        if output[i] != state.y[i]:
            return int(i)
    return -1


@_inner
def _nearest(state: State, pivotal: Any, values: Any, wanted: int, nearest: Any) -> int:
    """Fill ``nearest`` with the pivotal rows that are right and nearest to flip; how many there are."""
    output, n_found = state.B[-1], 0
    for p in range(len(pivotal)):
        i, value = pivotal[p], abs(values[p])
        if output[i] != state.y[i] or (n_found == wanted and value >= abs(values[nearest[wanted - 1]])):
            continue
        n_found = min(n_found + 1, wanted)
        q = n_found - 1
        while q > 0 and abs(values[nearest[q - 1]]) > value:
            nearest[q] = nearest[q - 1]
            q -= 1
        nearest[q] = p
    for q in range(n_found):
        nearest[q] = pivotal[nearest[q]]
    return n_found


@_fast
def _orthogonalise(basis: Any, h: int, size: int) -> None:
    """Make vector h orthogonal to the ones before it, of length 1; 0 if it depends on them."""
    before = 0.0
    for c in range(size):
        before += basis[h, c] * basis[h, c]
    for g in range(h):
        share = 0.0
        for c in range(size):
            share += basis[h, c] * basis[g, c]
        for c in range(size):
            basis[h, c] -= share * basis[g, c]
    length = 0.0
    for c in range(size):
        length += basis[h, c] * basis[h, c]
    scale = 1.0 / np.sqrt(length) if length > 1e-9 * before else 0.0
    for c in range(size):
        basis[h, c] *= scale


@_inner
def _edge(state: State, buffers: Buffers, k: int, pivotal: Any, moves_threshold: bool) -> float:
    """Fill ``buffers.dw`` with the direction towards a wrong row along which the nearest right rows do not move.

    So the neuron walks along the edges of its cell. A random number of rows is held, by
    orthogonalising one after the other. Returns dt; all zeros if no row is wrong.
    """
    n, held, basis = state.widths[k], buffers.held, buffers.basis
    wrong, size = _a_wrong_row(state, pivotal), n + 1 if moves_threshold else n
    if wrong < 0:
        return 0.0
    n_held = _nearest(state, pivotal, buffers.values, 1 + np.random.randint(max(1, size - 1)), held)
    for h in range(n_held + 1):
        for c in range(n):
            basis[h, c] = 0.0
        _add_row(state, k, held[h] if h < n_held else wrong, 1.0, basis[h])
        basis[h, n] = -1.0 if moves_threshold else 0.0
        _orthogonalise(basis, h, n + 1)
    for c in range(n):
        buffers.dw[c] = basis[n_held, c]
    return float(basis[n_held, n]) if moves_threshold else 0.0


@_inner
def _direction(state: State, buffers: Buffers, k: int, j: int, pivotal: Any, moves_threshold: bool) -> float:
    """Fill ``buffers.dw`` with a direction for neuron j of layer k; returns dt.

    Half of them are edges of the neuron's cell; else one coordinate, the perceptron's over pivotal
    wrong rows, one wrong row against another pivotal row, or a random one.
    """
    n, dw = state.widths[k], buffers.dw
    output = state.B[-1]
    for c in range(len(dw)):
        dw[c] = 0.0
    kind = np.random.random()
    if kind < 0.5 and len(pivotal) > 0:
        return float(_edge(state, buffers, k, pivotal, moves_threshold))
    if kind < 0.7:
        c = np.random.randint(n + 1)
        if c < n:
            dw[c] = 1.0
            return 0.0
        if moves_threshold:
            return 1.0
        for c in range(n):  # without a threshold of its own a neuron moves it by scaling
            dw[c] = state.W[k, j, c]
        return 0.0
    if kind < 0.92 and len(pivotal) > 0:
        dt = 0.0
        is_single = kind < 0.77
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
        dw[c] = np.random.random() + np.random.random() + np.random.random() - 1.5
    return np.random.random() + np.random.random() - 1.0 if moves_threshold else 0.0


@_inner
def _breakpoints(state: State, buffers: Buffers, bits: Any, pivotal: Any) -> tuple[int, float, float]:
    """Where pivotal rows flip and what that costs; how many, the loss at the far left, the loss now."""
    values, slopes, steps, deltas = buffers.values, buffers.slopes, buffers.steps, buffers.deltas
    output, y, penalties = state.B[-1], state.y, state.penalties
    n_steps, at_left, now = 0, 0.0, 0.0
    for p in range(len(pivotal)):
        i, slope = pivotal[p], slopes[p]
        penalty = penalties[i]
        is_wrong = output[i] != y[i]
        if is_wrong:
            now += penalty
        if abs(slope) < FLAT:
            if is_wrong:
                at_left += penalty
            continue
        is_wrong_on = is_wrong == (bits[i] == 1)
        if is_wrong_on == (slope < 0):  # at the far left the neuron is on where the slope is negative
            at_left += penalty
            deltas[n_steps] = -penalty
        else:
            deltas[n_steps] = penalty
        steps[n_steps] = -values[p] / slope
        n_steps += 1
    return n_steps, at_left, now


@_inner
def _sort(steps: Any, deltas: Any, n_steps: int, spare_steps: Any, spare_deltas: Any) -> None:
    """Sort steps with their deltas: runs by insertion, then merged. (np.argsort compiles for seconds.)"""
    for begin in range(0, n_steps, _RUN):
        for p in range(begin + 1, min(begin + _RUN, n_steps)):
            step, delta, q = steps[p], deltas[p], p
            while q > begin and steps[q - 1] > step:
                steps[q], deltas[q] = steps[q - 1], deltas[q - 1]
                q -= 1
            steps[q], deltas[q] = step, delta
    size = _RUN
    while size < n_steps:
        for begin in range(0, n_steps - size, 2 * size):
            end = min(begin + 2 * size, n_steps)
            for p in range(begin, begin + size):
                spare_steps[p], spare_deltas[p] = steps[p], deltas[p]
            left, right = begin, begin + size
            for p in range(begin, end):
                if right < end and (left == begin + size or steps[right] < spare_steps[left]):
                    steps[p], deltas[p] = steps[right], deltas[right]
                    right += 1
                elif left < begin + size:
                    steps[p], deltas[p] = spare_steps[left], spare_deltas[left]
                    left += 1
        size *= 2


@_inner
def _best_step(steps: Any, deltas: Any, n_steps: int, loss: float) -> tuple[float, float]:
    """A step into the best interval, and the loss there; among equals at random, wide ones first."""
    reach = steps[n_steps - 1] - steps[0] + 1.0  # how far to go past the last breakpoint
    left = steps[0] - reach
    best_step, best_loss, best_key = 0.0, np.inf, -1.0
    for p in range(n_steps + 1):
        right = steps[p] if p < n_steps else left + reach
        # Equal breakpoints leave an interval of no width, which is no place to step into.
        if right - left > 1e-9 * (1.0 + abs(left) + abs(right)) and loss <= best_loss + FLAT:
            key = min(right - left, reach / 4) * np.random.random()
            if loss < best_loss - FLAT or key > best_key:
                best_loss, best_key = loss, key
                best_step = left + (right - left) * (0.25 + 0.5 * np.random.random())
        if p < n_steps:
            loss += deltas[p]
        left = right
    return best_step, best_loss


@_inner
def _move(state: State, buffers: Buffers, k: int, j: int, dt: float, step: float, scales_freely: bool) -> float:
    """Carry a step out; returns by how much the loss grows."""
    dw, values, rows = buffers.dw, buffers.values, buffers.rows
    weights, t, y = state.W[k, j], state.t, state.y
    number = state.first[k] + j
    bits, output = state.B[number], state.B[-1]
    size = abs(t[k, j] + step * dt)
    for c in range(state.widths[k]):
        size = max(size, abs(weights[c] + step * dw[c]))
    if size > _HUGE:
        return 0.0
    scale = 1.0 / size if scales_freely and (size > 4 or 0 < size < 0.25) else 1.0
    for c in range(state.widths[k]):
        weights[c] = (weights[c] + step * dw[c]) * scale
    t[k, j] = (t[k, j] + step * dt) * scale
    _values(state, k, weights, t[k, j], buffers.every, values)
    if k > 0:
        above = state.A[number - state.widths[1]]
        for i in range(len(y)):
            above[i] = values[i]
    n_flipped = 0
    for i in range(len(y)):
        if (values[i] >= 0) != (bits[i] == 1):
            bits[i] = values[i] >= 0
            rows[n_flipped] = i
            n_flipped += 1
    growth = 0.0
    for p in range(_flip(state, buffers, k, j, rows[:n_flipped], len(y) > 0)):
        i = rows[p]
        growth += state.weights[i] if output[i] != y[i] else -state.weights[i]
    return growth


@_inner
def _punish(state: State) -> None:
    """At a local optimum the wrong rows get heavier and the others recover."""
    output = state.B[-1]
    for i in range(len(state.y)):
        if output[i] != state.y[i]:
            state.penalties[i] += state.weights[i]
        else:
            state.penalties[i] = max(state.weights[i], 0.95 * state.penalties[i])


@_inner
def _copy(W: Any, t: Any, to_W: Any, to_t: Any) -> None:
    """Copy in plain loops: numba takes seconds to compile an assignment of whole arrays."""
    for k in range(W.shape[0]):
        for j in range(W.shape[1]):
            to_t[k, j] = t[k, j]
            for c in range(W.shape[2]):
                to_W[k, j, c] = W[k, j, c]


@_kernel
def search(
    state: State,
    buffers: Buffers,
    best_W: Any,
    best_t: Any,
    best_loss: float,
    loss: float,
    moves_threshold: bool,
    scales_freely: bool,
    n_moves: int,
    patience: int,
    seed: int,
    target: float,
) -> tuple[float, float]:
    """Make ``n_moves`` moves or reach ``target``, from the ``loss`` that the last call returned (NaN: none yet).

    The best network is left in ``best_W`` and ``best_t``; returns its loss and that of the last one, up
    to drift.
    """
    np.random.seed(seed)
    steps, deltas, stalled = buffers.steps, buffers.deltas, 0
    if np.isnan(loss):
        loss = _forward(state, buffers)
    for move in range(n_moves + 1):
        if loss < best_loss - FLAT:
            best_loss, stalled = loss, 0
            _copy(state.W, state.t, best_W, best_t)
            if best_loss <= target:
                break
        if stalled > patience:
            stalled = 0
            _punish(state)
        number = np.random.randint(state.B.shape[0])
        k = len(state.first) - 1
        while state.first[k] > number:
            k -= 1
        j = number - state.first[k]
        stalled += 1
        pivotal = _pivotal(state, buffers, k, j)
        _values(state, k, state.W[k, j], state.t[k, j], pivotal, buffers.values)
        dt = _direction(state, buffers, k, j, pivotal, moves_threshold)
        _values(state, k, buffers.dw, dt, pivotal, buffers.slopes)
        n_steps, at_left, now = _breakpoints(state, buffers, state.B[number], pivotal)
        if n_steps == 0:
            continue
        _sort(steps, deltas, n_steps, buffers.values, buffers.slopes)  # of no more use here
        step, reached = _best_step(steps, deltas, n_steps, at_left)
        if reached > now + FLAT:
            continue
        if reached < now - FLAT:
            stalled = 0
        loss += _move(state, buffers, k, j, dt, step, scales_freely)
        if move % _REFRESH == _REFRESH - 1:
            loss = _forward(state, buffers)
    return best_loss, loss
