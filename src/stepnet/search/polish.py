"""Polish: the same answers with wider margins."""

from __future__ import annotations

import numpy as np

from stepnet.arithmetic import Floats, activations
from stepnet.network import Bits, Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem


def centred(problem: Problem, network: Network) -> Network:
    """Every threshold moved to the middle of the gap between the rows it tells apart.

    Where neurons share a threshold or it is fixed, their weights are scaled instead. Returns the
    network itself where that would raise its loss.
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
    movable = np.isfinite(off) & np.isfinite(on) & (on > off)
    middle = np.where(movable, off / 2 + on / 2, layer.thresholds)
    if architecture.threshold == "neuron":
        return Layer(layer.weights, middle)
    if architecture.weights.is_integer:
        return layer
    movable &= middle * layer.thresholds > 0
    factors = np.where(movable, layer.thresholds / np.where(movable, middle, 1.0), 1.0)
    return Layer(layer.weights * factors[:, None], layer.thresholds)
