"""LayeredEncoding: the maps between networks and the points of a layered program."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from stepnet.bounds.scope import Scope
from stepnet.constructions.last_layer import refitted
from stepnet.formulations.base import TOLERANCE, Encoding, normalised, with_fixed_threshold
from stepnet.formulations.real_output import RealOutput
from stepnet.formulations.style import Style
from stepnet.model.activations.base import Levels
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.problem import Problem
from stepnet.solvers.model import Model, Variables

_TINY = 1e-7


@dataclass
class LayeredEncoding(Encoding):
    """Columns by meaning: ``weights[k]`` (d_k × d_{k-1}), ``thresholds[k]`` (d_k × R), ``outputs[k]`` (m × d_k × R)."""

    problem: Problem
    name: str
    style: Style
    rows: Floats  # the data in the units of the program
    margin: float
    weights: list[Variables] = field(default_factory=list)
    thresholds: list[Variables] = field(default_factory=list)
    outputs: list[Variables] = field(default_factory=list)  # of the hidden layers, and the paper's output
    products: list[Variables] = field(default_factory=list)  # s of layers 2..K: m × d_k × d_{k-1} × R
    all_off: list[Variables | None] = field(default_factory=list)  # z of layers 2..K, if needed
    halves: list[tuple[Variables, Variables]] = field(default_factory=list)  # w = 2 b - 1: pairs (w, b)
    used: list[Variables] = field(default_factory=list)  # n of every layer, if they count
    errors: Variables | None = None
    real: RealOutput | None = None
    misses: Variables | None = None  # r or p of a loss that reads values: m × outputs
    largest: Variables | None = None  # the objective of joint scenarios
    model: Model = field(init=False)

    def __post_init__(self) -> None:
        self.formulation = self.name
        self.tolerance = TOLERANCE if not self.margin else self.style.tolerance
        real, is_scaled = self.real, self.style.scaled
        self.scope = Scope.of_margin(
            self.margin,
            in_data_units=not is_scaled,
            of_thresholds=is_scaled and bool(self.problem.architecture.fixed_threshold),
            largest_weight=None if real is None or real.loss.bound is not None else real.limit * real.size,
        )

    def decode(self, point: Floats) -> Network:
        point = self._tidied(point)
        network = Network(tuple(self._decoded(k, point) for k in range(len(self.weights))))
        return self.problem.restore(network) if self.style.scaled else network

    def start(self, network: Network) -> Floats | None:
        if self.problem.refuses(network):
            return None
        levels = network.levels(self.problem.dataset.X)
        scaled = self.problem.scale(network) if self.style.scaled else network
        layers = [self._encoded(k, layer) for k, layer in enumerate(scaled.layers)]
        if counts(self.problem):
            layers[-2:], levels[-2] = self._counted(layers[-2], layers[-1], levels[-2])
        point = np.zeros(self.model.n_columns)
        for k, layer in enumerate(layers):
            point[self.weights[k]] = layer.weights
            point[self.thresholds[k]] = layer.thresholds.reshape(layer.width, -1)
            if k < len(self.outputs):
                point[self.outputs[k]] = _reached(levels[k], self.outputs[k].shape[2])
            if 0 < k <= len(self.products):
                reached = _reached(levels[k - 1], self.products[k - 1].shape[3])
                point[self.products[k - 1]] = layer.weights[None, :, :, None] * reached[:, None]
            is_off = self.all_off[k - 1] if k else None
            if is_off is not None:
                point[is_off] = ~levels[k - 1].any(axis=1)
        for weights, bits in self.halves:
            point[bits] = (point[weights] + 1) / 2
        for weights, is_used in zip(self.weights, self.used, strict=False):
            point[is_used] = point[weights] != 0
        if self.errors is not None:
            point[self.errors] = self._of_owners((levels[-1][:, 0] != self.problem.dataset.y).astype(np.float64))
        if self.largest is not None:
            point[self.largest] = self.problem.evaluate(network) / self.problem.accuracy.unit
        if self.real is not None:
            point[self.misses] = self._of_owners(self.real.misses(network.values(self.problem.dataset.X)))
            if not self.real.holds(layers[-1]):
                return None
        return np.clip(point, self.model.lower, self.model.upper)

    def _of_owners(self, costs: Floats) -> Floats:
        """The costs of the rows; all points of one owner have the cost of the worst of them."""
        scenarios = self.problem.scenarios
        if scenarios is None:
            return costs
        columns = np.abs(costs.reshape(len(costs), -1)).T
        return np.column_stack([scenarios.shared(column) for column in columns]).reshape(costs.shape)

    def _tidied(self, point: Floats) -> Floats:
        """The point with weights that are 0 or at a bound up to the solver's tolerances put exactly there."""
        if not self.problem.constraints.restrict_weights and not self.used:
            return point
        point = np.clip(point, self.model.lower, self.model.upper)
        for weights, is_used in zip(self.weights, self.used, strict=False):
            point[weights] *= np.round(point[is_used])
        numbers = np.concatenate([weights.ravel() for weights in self.weights])
        point[numbers] = np.where(np.abs(point[numbers]) < _TINY, 0.0, point[numbers])
        return point

    def refine(self, point: Floats) -> Floats:
        """The point with the best last layer for its hidden ones."""
        if self.real is None:
            return point
        better = self.start(refitted(self.problem, self.decode(point)))
        return point if better is None else better

    def _decoded(self, k: int, point: Floats) -> Layer:
        architecture, kind = self.problem.architecture, self.problem.architecture.activations[k]
        if self.real is not None and k == len(self.weights) - 1:
            return self.real.restored(Layer(point[self.weights[k]], point[self.thresholds[k]][:, 0], kind))
        weights, thresholds = point[self.weights[k]], np.sort(point[self.thresholds[k]], axis=1)
        if kind.n_thresholds == 1:
            thresholds = thresholds[:, 0]
        fixed = kind.thresholds if kind.thresholds is not None else architecture.fixed_threshold
        fixed = None if kind.is_compared else fixed
        if not architecture.domains[k].is_integer:
            layer = Layer(weights, thresholds, kind)
            return layer if fixed is None or not np.any(fixed) else with_fixed_threshold(layer, fixed)
        if fixed is not None:  # scaling the first layer back will divide it again
            grid = self.problem.scaling.grid if k == 0 else 1.0
            return Layer(np.round(weights), np.broadcast_to(np.multiply(fixed, grid), thresholds.shape), kind)
        # A learned threshold T becomes T - 1/2, which no sum of integers equals.
        return Layer(np.round(weights), np.round(thresholds) - (0.0 if kind.is_compared else 0.5), kind)

    def _encoded(self, k: int, layer: Layer) -> Layer:
        architecture = self.problem.architecture
        if self.real is not None and k == len(self.weights) - 1:
            return self.real.scaled(layer)
        if architecture.domains[k].is_integer:
            return layer.with_(layer.weights, np.ceil(layer.thresholds))
        return normalised(layer, architecture)

    def _counted(self, below: Layer, last: Layer, levels: Levels) -> tuple[list[Layer], Levels]:
        """The last two layers with weights of 1 in the last, and the levels of the one below it."""
        is_flipped, is_unused = last.weights[0] < 0, last.weights[0] == 0
        thresholds = np.where(is_flipped, 1 - below.thresholds, below.thresholds)
        thresholds = np.where(is_unused, self.model.upper[self.thresholds[-2][:, 0]], thresholds)
        below = below.with_(np.where(is_flipped[:, None], -below.weights, below.weights), thresholds)
        low, high = self.problem.architecture.activation.values
        shift = is_flipped.sum() * (low + high) + is_unused.sum() * low
        last = last.with_(np.ones_like(last.weights), last.thresholds + shift)
        return [below, last], np.where(is_unused, 0, np.where(is_flipped, 1 - levels, levels))


def counts(problem: Problem) -> bool:
    """Whether the weights of the output neuron may all be taken to be 1: see "Counting" in ``layered``."""
    architecture, constraints = problem.architecture, problem.constraints
    if constraints.restrict or constraints.fewest or not problem.loss.counts_errors:
        return False
    if not architecture.hidden or architecture.n_outputs != 1 or architecture.threshold != "neuron":
        return False
    below, last = architecture.domains[-2:]
    return (
        (below.is_integer and last.is_integer and last.limit == 1)
        and (last.lower == 0 or below.lower == -below.upper)
        and (architecture.activation.n_thresholds == 1 and architecture.activation.thresholds is None)
        and (architecture.output.has_levels and architecture.output.thresholds is None)
    )


def _reached(levels: Levels, n_thresholds: int) -> Floats:
    """Whether each threshold is reached: rows × neurons × thresholds."""
    return (levels[:, :, None] > np.arange(n_thresholds)).astype(np.float64)
