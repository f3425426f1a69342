"""Stream: a descent that goes on with every batch of rows and keeps none of them.

It remembers weights, Adam's moments, and the mean and variance of each feature over all rows so far. When these change,
weights and offsets are written anew so that the network stays the same. The network of a stream is the mean of about
the last third of its steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from stepnet.errors import Answer
from stepnet.model.activations.staircase import SIGN, STEP
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.search.descent.descent import DescentOptions, State, accepts_descent, make_steps, shared_thresholds
from stepnet.search.descent.kernel import Training

_PASSES = 20  # over each batch
_CHUNKS = 8  # of the steps with a batch, after each of which the mean is updated
_SLOWING = 2_000  # steps; from there on the rate falls as one over the root of the steps
_SLOWEST = 0.1  # of the rate, so that classes that drift are followed
_AVERAGED = 0.3  # of the steps so far


def accepts_stream(problem: Problem) -> Answer:
    """What descent takes, with real weights and without constraints and perturbations."""
    architecture = problem.architecture
    if problem.uncertainty is not None or problem.constraints.restrict or problem.constraints.fewest:
        return Answer("a stream knows no worst case, no sparsity and no constraints")
    if architecture.has_integers or architecture.fixed_threshold is not None:
        return Answer("a stream takes real weights and learned thresholds")
    if architecture.activation not in (STEP, SIGN) or architecture.output.n_thresholds > 1:
        return Answer("a stream takes steps and signs, and one output per class")
    if architecture.threshold == "layer" and not architecture.is_plain:
        return Answer("a stream shares thresholds of steps and one output only")
    return accepts_descent(problem)


@dataclass
class Stream:
    """What goes from one batch to the next."""

    state: State  # without rows
    averages: tuple[Any, Any]  # of the weights and offsets
    mean: Floats
    variance: Floats
    weight: float = 0.0  # of all rows so far
    n_rows: int = 0
    n_batches: int = 0
    n_steps: int = 0

    @classmethod
    def begun(cls, problem: Problem, rng: np.random.Generator, network: Network | None = None) -> Self:
        """With random hyperplanes through rows of the first batch, or with a network of the problem."""
        state = State.of(problem, rng)
        if network is not None:
            _write(network, state)
        training = _without_rows(state.training)
        averages = training.W.copy(), training.b.copy()
        return cls(state._replace(training=training), averages, state.mean, state.scale**2)

    def learn(
        self, problem: Problem, options: DescentOptions, rng: np.random.Generator, should_stop: Callable[[], bool]
    ) -> None:
        """Some passes over the rows of a batch, in random order."""
        options = options.for_(problem)
        self._standardise(problem.dataset)
        training = self._with_rows(problem, rng)
        self.n_rows, self.n_batches = self.n_rows + training.order.size, self.n_batches + 1
        n_steps = max(1, round(_PASSES * training.order.size / (options.batch or 1)))
        first, end = self.n_steps + 1, self.n_steps + n_steps + 1
        while first < end and (first == self.n_steps + 1 or not should_stop()):
            until = min(end, first + max(1, n_steps // _CHUNKS))
            self._make_steps(problem, training, options, first, until, int(rng.integers(2**31)))
            first = until
        self.n_steps = first - 1

    def _make_steps(
        self, problem: Problem, training: Training, options: DescentOptions, first: int, end: int, seed: int
    ) -> None:
        rate = (options.rate or 0.0) * max(_SLOWEST, min(1.0, math.sqrt(_SLOWING / end)))
        # As if half of all steps were made: past the start, and far from the end, which nobody knows.
        settings = {"n_steps": 2 * end, "rate": rate, "averaged": 0.0}
        make_steps(problem, training, options, self.n_rows, settings, range(first, end), seed)
        share = np.float32((end - first) / (_AVERAGED * first + end - first))
        for mean, now in zip(self.averages, (training.W, training.b), strict=True):
            mean += share * (now - mean)

    def network(self, architecture: Architecture) -> Network:
        """As it is now."""
        (W, b), layers = self.averages, []
        for k, activation in enumerate(architecture.activations):
            n_inputs, width = self.state.training.widths[k : k + 2]
            weights, offsets = W[k, :width, :n_inputs].astype(np.float64), b[k, :width].astype(np.float64)
            if k == 0:
                weights = weights / self._scale
                offsets = offsets - weights @ self.mean
            elif architecture.activation != SIGN:
                weights, offsets = 2 * weights, offsets - weights.sum(axis=1)
            if activation.gives_numbers:
                weights, offsets = weights * self.state.target_scale, offsets * self.state.target_scale
                offsets += self.state.target_mean
            layers.append(Layer(weights, -offsets, activation))
        network = Network(tuple(layers))
        return shared_thresholds(network) if architecture.threshold == "layer" else network

    @property
    def _scale(self) -> Floats:
        return np.where(self.variance > 1e-24 * self.mean**2, np.sqrt(self.variance), 1.0)

    def _standardise(self, dataset: Dataset) -> None:
        """Mean and variance of all rows so far and these; the network stays the same."""
        before, scale = self.mean, self._scale
        mean = dataset.weights @ dataset.X / dataset.total_weight
        variance = dataset.weights @ np.square(dataset.X - mean) / dataset.total_weight
        share = dataset.total_weight / (self.weight + dataset.total_weight)
        self.weight += dataset.total_weight
        self.mean = before + share * (mean - before)
        self.variance = (1 - share) * (self.variance + share * (mean - before) ** 2) + share * variance
        factors, shifts = (self._scale / scale).astype(np.float32), (self.mean - before) / scale
        training, n_features = self.state.training, len(before)
        for W, b in ((training.W, training.b), self.averages):
            b[0] += W[0, :, :n_features] @ shifts.astype(np.float32)
            W[0, :, :n_features] *= factors
        training.weight_moments[0, 0, :, :n_features] /= factors
        training.weight_moments[1, 0, :, :n_features] /= factors**2

    def _with_rows(self, problem: Problem, rng: np.random.Generator) -> Training:
        """The state with the rows of a batch; weights and moments are shared with it."""
        dataset, state = problem.dataset, self.state
        fresh = State.of(problem, rng).training
        rows = ((dataset.X - self.mean) / self._scale).astype(np.float32)
        targets = (
            np.reshape(dataset.y, (len(rows), -1)) - state.target_mean[: 1 if dataset.y.ndim == 1 else None]
        ) / state.target_scale
        return state.training._replace(
            X=rows, targets=targets.astype(np.float32), row_weights=fresh.row_weights, order=fresh.order
        )


def _without_rows(training: Training) -> Training:
    nothing = np.zeros((0, training.X.shape[1]), dtype=np.float32)
    return training._replace(
        X=nothing, targets=nothing[:, :1], row_weights=nothing[:, 0], order=np.zeros(0, dtype=np.int32)
    )


def _write(network: Network, state: State) -> None:
    """A network into the weights and offsets of a descent: standardised rows, numbers and ±1 units."""
    for k, layer in enumerate(network.layers):
        weights, offsets = layer.weights, -layer.thresholds
        if layer.activation.gives_numbers:
            weights, offsets = weights / state.target_scale, (offsets - state.target_mean) / state.target_scale
        if k == 0:
            weights, offsets = weights * state.scale, weights @ state.mean + offsets
        elif network.layers[0].activation != SIGN:
            weights, offsets = weights / 2, weights.sum(axis=1) / 2 + offsets
        state.training.W[k, : layer.width, : layer.n_inputs] = weights
        state.training.b[k, : layer.width] = offsets
