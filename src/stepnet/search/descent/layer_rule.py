"""LayerRule: what a descent must know of one layer, and the layer that its latent weights become.

Inside, inputs x are (x - centre) / unit and steps are ±1. The sums of a layer are those of the network times α / size,
where α is the scale of a neuron of whole weights, and 1 for real ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.activations.base import Activation
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer
from stepnet.problem.problem import Problem
from stepnet.problem.weights import WeightDomain
from stepnet.search.descent.rules import FREE, FROZEN, ONE, PER_LAYER, PER_NEURON, SHARED

_APART = 10.0  # scales of features that weights of -1, 0 and 1 can be in
_TINY = 1e-9  # a scale so small belongs to a neuron that is nearly constant


@dataclass(frozen=True)
class LayerRule:
    """One layer: its domain, activation, inputs and thresholds."""

    domain: WeightDomain
    kind: Activation
    width: int
    unit: Floats  # of each input
    centre: Floats
    offsets: int
    given: Floats | None  # thresholds, one row for all neurons
    scale: int
    size: float = 1.0

    @property
    def n_steps(self) -> int:
        """Steps per neuron."""
        return self.kind.n_thresholds

    @property
    def is_plain(self) -> bool:
        return not self.domain.is_integer and self.offsets == FREE and self.n_steps == 1

    @property
    def units(self) -> Floats:
        """The size of 1 in a weight of the network, as a latent weight."""
        return self.unit / self.size

    @property
    def first_offsets(self) -> Floats:
        """Where offsets begin, or stay: one for each step of a neuron."""
        return np.zeros(self.n_steps) if self.given is None else -self.given / self.size

    def layer(self, W: Floats, b: Floats, whole: Floats | None, scales: Floats) -> Layer:
        """The layer of a network from latent weights and offsets (neurons × steps); ``whole`` are rounded weights."""
        weights = W / self.units if whole is None else whole
        factors = np.maximum(scales, _TINY)[:, None] / self.size
        thresholds = -b / factors
        if self.offsets == FREE:
            thresholds = thresholds + (weights @ self.centre)[:, None]
        elif self.given is not None:
            thresholds = np.broadcast_to(self.given, thresholds.shape)
        else:
            thresholds = np.broadcast_to(thresholds[:1], thresholds.shape)
        thresholds = np.sort(thresholds, axis=1).reshape(self.kind.threshold_shape(self.width))
        return Layer(weights, thresholds, self.kind)


def layer_rules(problem: Problem, mean: Floats, scale: Floats, *, has_complements: bool) -> list[LayerRule]:
    """The rules of all layers, for features with this mean and scale.

    With ``has_complements``, thresholds that a layer shares are learned one by one: the network is converted later.
    """
    architecture = problem.architecture
    values = np.array(architecture.activation.values)
    half, middle = (values.max() - values.min()) / 2, (values[0] + values[-1]) / 2
    rules, unit, centre = [], scale, mean
    for domain, kind, width in zip(architecture.domains, architecture.activations, architecture.widths, strict=True):
        offsets, given = _thresholds(problem, kind, width, has_complements)
        has_size = given is not None and kind.has_levels and bool(given.any())
        size, own = 1.0, PER_LAYER if kind.is_compared or offsets == SHARED else PER_NEURON
        if has_size:
            assert given is not None
            size, own = (float(np.abs(given).max()), own) if not domain.is_integer else (_typical(domain, unit), ONE)
        rules.append(LayerRule(domain, kind, width, unit, centre, offsets, given, own, size))
        unit, centre = np.full(width, half), np.full(width, middle)
    return rules


def _thresholds(problem: Problem, kind: Activation, width: int, has_complements: bool) -> tuple[int, Floats | None]:
    """Whether thresholds are free, shared or given, and which ones are given."""
    architecture = problem.architecture
    if kind.thresholds is not None:
        return FROZEN, np.array(kind.thresholds)
    if kind.gives_numbers and not architecture.intercept:
        return FROZEN, np.zeros(1)
    if kind.gives_numbers or kind.n_thresholds > 1 or architecture.threshold == "neuron" or has_complements:
        return FREE, None
    if kind.is_compared:  # only differences of thresholds matter, and there are none
        return FROZEN, np.zeros(1)
    if architecture.fixed_threshold is not None:
        return FROZEN, np.array([architecture.fixed_threshold])
    return (SHARED, None) if width > 1 else (FREE, None)


def _typical(domain: WeightDomain, unit: Floats) -> float:
    """What a sum of medium weights of the domain varies by."""
    return float(np.sqrt((unit**2).sum()) * domain.limit / 2)


def set_offsets(layers: Sequence[LayerRule], W: Any, b: Any, through: Any) -> None:
    """Begin with hyperplanes of the first layer through these rows, one for each step.

    Where thresholds are given, weights are turned until a hyperplane goes through the row.
    """
    for k, layer in enumerate(layers):
        n_steps, own = layer.n_steps, slice(layer.width * layer.n_steps)
        if layer.offsets == FREE and k == 0:
            steps = np.repeat(W[0, : layer.width, : through.shape[1]], n_steps, axis=0)
            offsets = -(steps * through).sum(axis=1).reshape(layer.width, n_steps)
            b[0, own] = -np.sort(-offsets, axis=1).ravel()
        elif layer.offsets == FREE:
            b[k, own] = np.tile(np.linspace(1, -1, n_steps) if n_steps > 1 else np.zeros(1), layer.width)
        else:
            b[k, own] = np.tile(layer.first_offsets, layer.width)
            if k == 0:
                _turn(W[0, : layer.width, : through.shape[1]], b[0, own], through + layer.centre / layer.unit, n_steps)


def _turn(W: Any, offsets: Any, points: Any, n_steps: int) -> None:
    """Turn the weights of each neuron until one of its steps is at its point."""
    for j, weights in enumerate(W):
        step = j * n_steps + j % n_steps
        point = points[step]
        if square := float(point @ point):
            weights -= (weights @ point + offsets[step]) / square * point


def warn_of_scales(problem: Problem, scale: Floats) -> None:
    """Warn if whole weights cannot make up for the units of the features."""
    domain, varies = problem.architecture.domains[0], np.ptp(problem.dataset.X, axis=0) > 0
    if not domain.is_integer or not varies.any():
        return
    ratio = float(scale[varies].max() / scale[varies].min())
    if ratio > _APART * domain.limit:
        warnings.warn(
            f"whole weights ({domain.name}) are in the units of the features, which differ {ratio:.0f}-fold in scale: "
            f"those with small values hardly count. Put the features on a grid (stepnet.Grid, fit --grid 0.25) or use "
            f"real weights in the first layer.",
            UserWarning,
            stacklevel=2,
        )
