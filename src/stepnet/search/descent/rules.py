"""Rules: what the weights and offsets of a descent must be like, layer by layer, in small arrays.

A descent keeps latent weights W and offsets b. Forward it goes through V and B, made from them at every step:

    whole weights      (1 - μ) W + μ α u q(W / u), with q the nearest value of the domain and u the unit of the input:
                       rounded more and more, and the scale α disappears in the thresholds at the end
    staircases         a neuron of L thresholds is a sum of L steps with the same weights and offsets of their own
    given thresholds   the offset of a neuron follows from its weights: inputs are centred, thresholds are not

Gradients go straight through the rounding to W. After a step, W is put back between its ends and on the right side of
linear constraints. Where there is nothing of all this, V is W and B is b.
"""

from __future__ import annotations

from typing import Any, NamedTuple

PER_NEURON, PER_LAYER, ONE = 0, 1, 2  # to what a scale α belongs
FREE, SHARED, FROZEN = 0, 1, 2  # offsets
BEYOND = 1e30  # no end; infinity is unknown to fast arithmetic


class Rules(NamedTuple):
    """K layers of d neurons and c inputs; D and C count the steps that staircases are sums of."""

    domains: Any  # K × 3: lower, upper, stride; a stride of 0 means real weights
    scales: Any  # K
    units: Any  # K × c
    neurons: Any  # K × D: the neuron of a step
    inputs: Any  # K × C: the input of a step below
    jumps: Any  # K × C: how much of the input the step is
    centres: Any  # K × c: what offsets gain per weight, where thresholds are given
    offsets: Any  # K
    low: Any  # K × d × c, or nothing: ends of latent real weights, and of whole weights themselves
    high: Any
    starts: Any  # linear constraints: where the terms of each begin, and the end
    terms: Any  # terms × 3: layer, neuron, input
    coefficients: Any
    sides: Any  # constraints × 2
