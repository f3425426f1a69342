"""State: a network on its rows as the compiled kernels want it, and the ways there and back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem

Padded = tuple[Floats, Floats]  # weights K × d × c and thresholds K × d, zeros where a layer is narrower


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
    A: Any  # neurons above the first layer × m: w·h - t
    B: Any  # neurons × m: the bits, int8
    widths: Any  # n, d_1, ..., d_K
    first: Any  # number of the first neuron of each layer

    @classmethod
    def of(cls, problem: Problem, rows: Floats, W: Floats, t: Floats) -> State:
        """A network at rest on the first of a problem's scaled rows."""
        widths, dataset, m = np.array(_widths(problem)), problem.dataset, len(rows)
        n_neurons = int(widths[1:].sum())
        return cls(
            X=rows,
            y=dataset.y[:m].astype(np.int8),
            weights=dataset.weights[:m],
            penalties=dataset.weights[:m].copy(),
            W=W.copy(),
            t=t.copy(),
            A=np.zeros((n_neurons - int(widths[1]), m)),
            B=np.zeros((n_neurons, m), dtype=np.int8),
            widths=widths,
            first=np.concatenate([[0], np.cumsum(widths[1:])[:-1]]),
        )


class Buffers(NamedTuple):
    """Memory to work in; allocated outside, since that compiles slowly."""

    every: Any  # 0, ..., m - 1
    rows: Any  # m, int32
    values: Any  # m
    slopes: Any  # m
    steps: Any  # m
    deltas: Any  # m
    dw: Any  # c
    held: Any  # c + 1, int32
    basis: Any  # c + 2 × c + 1
    flips: Any  # 2 × d, int32
    signs: Any  # 2 × d

    @classmethod
    def of(cls, state: State) -> Buffers:
        m, d, c = len(state.y), state.W.shape[1], state.W.shape[2]
        every, held, flips = (np.arange(size, dtype=np.int32) for size in (m, c + 1, 2 * d))
        values, slopes, steps, deltas = np.empty((4, m))
        dw, basis, signs = np.empty(c), np.empty((c + 2, c + 1)), np.empty((2, d))
        return cls(every, every.copy(), values, slopes, steps, deltas, dw, held, basis, flips.reshape(2, d), signs)


def random_padded(problem: Problem, rows: Floats, rng: np.random.Generator) -> Padded:
    """Random hyperplanes, in the first layer through random rows; fixed thresholds as they must be."""
    W, t = _zeros(problem)
    rule, fixed = problem.architecture.threshold, problem.architecture.fixed_threshold
    for k, (n_inputs, width) in enumerate(pairwise(_widths(problem))):
        weights = rng.normal(size=(width, n_inputs))
        through = rows[rng.integers(len(rows), size=width)] if k == 0 else rng.random((width, n_inputs))
        W[k, :width, :n_inputs], t[k, :width] = weights, (weights * through).sum(axis=1)
        if rule != "neuron":
            t[k, :width] = rng.choice([-0.5, 0.5]) if fixed is None else fixed
    return W, t


def padded(problem: Problem, network: Network) -> Padded:
    """From a network to padded arrays for the scaled rows."""
    W, t = _zeros(problem)
    for k, layer in enumerate(problem.scale(network).layers):
        size = np.abs(layer.weights).max(initial=0.0) or 1.0
        W[k, : layer.width, : layer.weights.shape[1]] = layer.weights / size
        t[k, : layer.width] = layer.thresholds / size
    return W, t


def unpadded(problem: Problem, W: Floats, t: Floats) -> Network:
    """From padded arrays for the scaled rows to a network for the original ones."""
    widths = enumerate(pairwise(_widths(problem)))
    layers = tuple(Layer(W[k, :width, :n_inputs], t[k, :width]) for k, (n_inputs, width) in widths)
    return problem.restore(Network(layers))


def _widths(problem: Problem) -> list[int]:
    """n, d_1, ..., d_K, with the features that the scaling keeps."""
    return [int(problem.scaling.kept.sum()), *problem.architecture.widths]


def _zeros(problem: Problem) -> Padded:
    widths = _widths(problem)
    n_layers, widest, most_inputs = len(widths) - 1, max(widths[1:]), max(widths[:-1])
    return np.zeros((n_layers, widest, most_inputs)), np.zeros((n_layers, widest))
