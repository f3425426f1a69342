"""The halves H1 and H2 of the paper's Algorithm 1: a layered program with every other layer fixed.

H1 frees W^k, t^k, u^k of the odd layers and fixes those of the even ones, H2 the reverse; the
output u^K is free in both. Every product w · u then has one fixed factor, so no bilinear term is
left. The paper does not say to which half the weights of the output layer belong: here they belong to the
half of their parity, as in every other layer, and so do the thresholds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stepnet.formulations.layered_encoding import LayeredEncoding
from stepnet.model.arithmetic import Floats
from stepnet.solvers.model import Model


def half(encoding: LayeredEncoding, point: Floats, *, odd: bool) -> Model:
    """The program with the layers of one parity free and all others as in ``point``."""
    lower, upper = encoding.model.lower.copy(), encoding.model.upper.copy()
    last = len(encoding.weights) - 1
    for k, (weights, thresholds) in enumerate(zip(encoding.weights, encoding.thresholds, strict=True)):
        is_odd = k % 2 == 0  # layers are numbered from 1
        if is_odd == odd:
            continue
        fixed = [weights.ravel(), thresholds.ravel()]
        if k < last:
            fixed.append(encoding.outputs[k].ravel())
        columns = np.concatenate(fixed)
        lower[columns] = upper[columns] = point[columns]
    return replace(encoding.model, lower=lower, upper=upper)
