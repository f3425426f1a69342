"""The local search in numpy, for as long as its kernels are not compiled: some line searches of a neuron at once.

The same moves of the same state as in ``kernels.py``, but a batch of directions is tried at a time and the best of them
is carried out, so that numpy's overhead is shared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats
from stepnet.search.local.lines import FLAT
from stepnet.search.local.state import Buffers, State

_LARGEST, _SMALLEST, _WORK = 12, 4, 120_000  # directions in a batch, and rows × directions
_KINDS = np.array([0.5, 0.7, 0.85, 0.92])  # shares of edges, coordinates, perceptrons and pairs, added up; then random
_DRAWN = 0.7  # of the wrong rows, for a perceptron's direction
_HUGE = 1e6  # weights do not grow beyond this
_RECOVERY = 0.95  # of the penalty of a row that is right

Rows = NDArray[np.int64]


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
    """What the kernel of the same name does, with ``n_moves`` and ``patience`` counted in directions."""
    rng, stalled = np.random.default_rng(seed), 0
    batch = min(max(_WORK // len(state.y), _SMALLEST), _LARGEST)
    loss = _forward(state)
    for _ in range(-(-n_moves // batch) + 1):
        if loss < best_loss - FLAT:
            best_loss, stalled = loss, 0
            best_W[:], best_t[:] = state.W, state.t
            if best_loss <= target:
                break
        if stalled > patience:
            stalled = 0
            _punish(state)
        stalled += batch
        number = int(rng.integers(len(state.B)))
        k = int(np.searchsorted(state.first, number, side="right")) - 1
        neuron = _Neuron.of(state, k, number - int(state.first[k]))
        if not len(neuron.rows):
            continue
        dw, dt = _directions(state, neuron, batch, rng, moves_threshold)
        found = _best_move(state, neuron, dw, dt, rng)
        if found is None or found[0] > neuron.loss + FLAT:
            continue
        if found[0] < neuron.loss - FLAT:
            stalled = 0
        _, which, step = found
        if _move(state, neuron, step * dw[:, which], step * dt[which], scales_freely):
            loss = _forward(state, k, neuron.number)
    return best_loss, loss


class _Neuron(NamedTuple):
    """A neuron as its pivotal rows see it: those whose answer changes when its bit flips."""

    layer: int
    number: int  # in its layer
    rows: Rows
    inputs: Floats  # pivotal rows × inputs
    values: Floats
    is_wrong: NDArray[np.bool_]
    loss: float  # the penalties of the pivotal rows that are wrong

    @classmethod
    def of(cls, state: State, k: int, j: int) -> _Neuron:
        rows = _pivotal(state, k, j)
        inputs = _inputs(state, k, rows)
        is_wrong = state.B[-1, rows] != state.y[rows]
        values = inputs @ state.W[k, j, : inputs.shape[1]] - state.t[k, j]
        return cls(k, j, rows, inputs, values, is_wrong, float(state.penalties[rows] @ is_wrong))


def _inputs(state: State, k: int, rows: Any = slice(None)) -> Floats:
    """Rows × inputs of layer k."""
    if k == 0:
        return np.asarray(state.X[rows], dtype=np.float64)
    first = state.first[k - 1]
    return np.asarray(state.B[first : first + state.widths[k], rows].T, dtype=np.float64)


def _forward(state: State, k: int = 0, j: int | None = None) -> float:
    """Compute the values and bits of layer k (of its neuron j, if given) and of all above anew; returns the loss."""
    for q in range(k, len(state.first)):
        chosen = slice(j, j + 1) if q == k and j is not None else slice(0, state.widths[q + 1])
        values = state.W[q, chosen, : state.widths[q]] @ _inputs(state, q).T - state.t[q, chosen, None]
        numbers = slice(state.first[q] + chosen.start, state.first[q] + chosen.stop)
        state.B[numbers] = values >= 0
        if q > 0:
            state.A[numbers.start - state.widths[1] : numbers.stop - state.widths[1]] = values
    return float(state.weights @ (state.B[-1] != state.y))


def _pivotal(state: State, k: int, j: int) -> Rows:
    """The rows whose answer changes when bit j of layer k flips."""
    last, bits = len(state.first) - 1, state.B[state.first[k] + j]
    if k == last:
        return np.arange(len(bits))
    first = state.first[k + 1] - state.widths[1]
    values = state.A[first : first + state.widths[k + 2]] + np.outer(
        state.W[k + 1, : state.widths[k + 2], j], 1.0 - 2 * bits
    )
    for q in range(k + 2, last + 1):
        below = (values >= 0).astype(np.float64)
        values = state.W[q, : state.widths[q + 1], : state.widths[q]] @ below - state.t[q, : state.widths[q + 1], None]
    return np.flatnonzero((values[0] >= 0) != (state.B[-1] == 1))


def _directions(
    state: State, neuron: _Neuron, batch: int, rng: np.random.Generator, moves_threshold: bool
) -> tuple[Floats, Floats]:
    """Columns of directions for the weights, and with them for the threshold.

    Half of them are edges of the neuron's cell; others move one coordinate, are the perceptron's over wrong rows,
    move one wrong row against another row, or are random.
    """
    n, wrong = neuron.inputs.shape[1], np.flatnonzero(neuron.is_wrong)
    edges, ones, perceptrons, pairs, _ = np.split(np.arange(batch), np.round(batch * _KINDS).astype(int))
    D = rng.normal(size=(n + 1, batch))
    chosen = rng.integers(n + 1, size=len(ones))
    D[:, ones] = np.eye(n + 1)[:, chosen]
    if not moves_threshold:  # without a threshold of its own a neuron moves it by scaling
        D[:n, ones[chosen == n]] = state.W[neuron.layer, neuron.number, :n, None]
    if len(wrong):
        vectors = np.column_stack([neuron.inputs, np.full(len(neuron.rows), -1.0 if moves_threshold else 0.0)])
        signs = state.penalties[neuron.rows[wrong]] * np.where(neuron.values[wrong] >= 0, -1.0, 1.0)
        drawn = rng.random((len(wrong), len(perceptrons))) < _DRAWN
        D[:, perceptrons] = vectors[wrong].T @ (signs[:, None] * drawn)
        others = rng.integers(len(vectors), size=len(pairs))
        D[:, pairs] = (vectors[rng.choice(wrong, len(pairs))] - vectors[others]).T
        size = n + moves_threshold
        D[:size, edges] = _edges(neuron, vectors[:, :size], rng.choice(wrong, len(edges)), rng)
    return D[:n], D[n] if moves_threshold else np.zeros(batch)


def _edges(neuron: _Neuron, vectors: Floats, towards: Rows, rng: np.random.Generator) -> Floats:
    """Towards each of these rows, with some of the right rows that are nearest to flip held in place.

    So the neuron walks along the edges of its cell. One basis of the nearest rows serves any number of them.
    """
    directions, right = vectors[towards].T, np.flatnonzero(~neuron.is_wrong)
    n_held = min(len(right), max(1, vectors.shape[1] - 1))
    if not n_held:
        return directions
    distances = np.abs(neuron.values[right])
    nearest = np.argpartition(distances, n_held - 1)[:n_held]
    held = right[nearest[distances[nearest].argsort()]]
    basis = np.linalg.qr(vectors[held].T)[0]
    is_held = np.arange(basis.shape[1])[:, None] < rng.integers(1, n_held + 1, size=len(towards))
    return np.asarray(directions - basis @ (is_held * (basis.T @ directions)))


def _best_move(
    state: State, neuron: _Neuron, dw: Floats, dt: Floats, rng: np.random.Generator
) -> tuple[float, int, float] | None:
    """The least loss along any of the directions, the direction, and a step into an interval that has it."""
    slopes = (neuron.inputs @ dw - dt).T
    penalties = state.penalties[neuron.rows]
    is_on = neuron.values >= 0
    moves = np.abs(slopes) > FLAT
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(moves, -neuron.values / slopes, np.inf)
    # Before the first step the neuron is on where the slope is negative.
    starts_wrong = np.where(moves, (neuron.is_wrong == is_on) == (slopes < 0), neuron.is_wrong)
    deltas = np.where(moves, np.where(starts_wrong, -penalties, penalties), 0.0)
    order = steps.argsort(axis=1)
    steps = np.take_along_axis(steps, order, axis=1)
    n_steps = moves.sum(axis=1)
    kept = n_steps > 0
    if not kept.any():
        return None
    first, last = steps[:, :1], np.take_along_axis(steps, np.maximum(n_steps, 1)[:, None] - 1, axis=1)
    first, last = np.where(kept[:, None], first, 0.0), np.where(kept[:, None], last, 0.0)
    reach = last - first + 1.0  # how far to go past the last breakpoint
    ends = np.minimum(np.hstack([first - reach, steps, last + reach]), last + reach)
    losses = np.hstack([starts_wrong @ penalties[:, None], np.take_along_axis(deltas, order, axis=1)]).cumsum(axis=1)
    lengths = np.diff(ends, axis=1)
    is_proper = lengths > 1e-9 * (1.0 + np.abs(ends[:, :-1]) + np.abs(ends[:, 1:]))
    losses = np.where(is_proper & kept[:, None], losses, np.inf)
    least = losses.min()
    keys = np.where(losses <= least + FLAT, np.minimum(lengths, reach / 4), 0.0) / reach * rng.random(losses.shape)
    which, place = np.unravel_index(int(keys.argmax()), keys.shape)
    step = ends[which, place] + lengths[which, place] * (0.25 + 0.5 * rng.random())
    return float(least), int(which), float(step)


def _move(state: State, neuron: _Neuron, dw: Floats, dt: float, scales_freely: bool) -> bool:
    """Give a neuron other weights, unless they would be huge."""
    k, j = neuron.layer, neuron.number
    weights, threshold = state.W[k, j, : len(dw)] + dw, state.t[k, j] + dt
    size = max(abs(threshold), np.abs(weights).max())
    if size > _HUGE:
        return False
    scale = 1.0 / size if scales_freely and (size > 4 or 0 < size < 0.25) else 1.0
    state.W[k, j, : len(dw)], state.t[k, j] = weights * scale, threshold * scale
    return True


def _punish(state: State) -> None:
    """At a local optimum the wrong rows get heavier and the others recover."""
    recovered = np.maximum(state.weights, _RECOVERY * state.penalties)
    state.penalties[:] = np.where(state.B[-1] != state.y, state.penalties + state.weights, recovered)
