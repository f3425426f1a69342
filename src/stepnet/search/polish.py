"""Polish: the same answers with wider margins."""

from __future__ import annotations

import numpy as np

from stepnet.arithmetic import Floats, activations
from stepnet.network import Bits, Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem


def centred(problem: Problem, network: Network) -> Network:
    """Every threshold moved to the middle of the gap between the rows it tells apart.

    A shared threshold moves within the gap that all its neurons have in common; for a fixed one the
    weights are scaled instead. Returns the network itself where that would raise its loss.
    """
    layers = []
    signals = problem.dataset.X
    for layer in network.layers:
        values, _ = activations(signals, layer.weights, np.zeros(layer.width))
        bits = (activations(signals, layer.weights, layer.thresholds)[1] >= 0).astype(np.int8)
        layers.append(_centred_layer(layer, values, bits, problem.architecture))
        signals = bits.astype(np.float64)
    candidate = Network(tuple(layers))
    return candidate if problem.evaluate(candidate) <= problem.evaluate(network) else network


def _centred_layer(layer: Layer, values: Floats, bits: Bits, architecture: Architecture) -> Layer:
    off = np.where(bits == 0, values, -np.inf).max(axis=0)
    on = np.where(bits == 1, values, np.inf).min(axis=0)
    if architecture.threshold == "layer":
        off, on = np.full_like(off, off.max()), np.full_like(on, on.min())
    with np.errstate(invalid="ignore"):
        middle = off + (on - off) / 2
    movable = np.isfinite(middle) & (on > off)
    fixed = architecture.fixed_threshold
    if fixed is None:
        return Layer(layer.weights, np.where(movable, middle, layer.thresholds))
    if fixed == 0 or architecture.weights.is_integer:
        return layer
    movable &= middle * fixed > 0
    factors = np.where(movable, fixed / np.where(movable, middle, 1.0), 1.0)
    return Layer(layer.weights * factors[:, None], layer.thresholds)
