"""Targets of a descent, in units in which they vary by about 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.problem import Problem


class Targets(NamedTuple):
    """What the outputs are compared with: codes of classes, or standardised numbers (rows × outputs)."""

    values: Any
    mean: Floats
    scale: float  # one for all outputs, so that their errors keep their proportions

    @classmethod
    def of(cls, problem: Problem) -> Targets:
        y = problem.dataset.y
        if not problem.architecture.output.gives_numbers:
            return cls(y[:, None].astype(np.float32), np.zeros(1), 1.0)
        mean, scale = mean_and_scale(y, problem.dataset.weights)
        mean = mean if problem.architecture.intercept else np.zeros_like(mean)
        return cls(((y - mean) / scale.max()).astype(np.float32), mean, float(scale.max()))

    def standardised(self, y: Any) -> Any:
        """Of other rows, in the units of these."""
        return ((np.reshape(y, (len(y), -1)) - self.mean) / self.scale).astype(np.float32)

    def restored(self, network: Network) -> Network:
        """With outputs in the units of the numbers."""
        *below, last = network.layers
        return Network((*below, last.with_(last.weights * self.scale, last.thresholds * self.scale - self.mean)))


def mean_and_scale(X: Floats, weights: Floats) -> tuple[Floats, Floats]:
    shares = weights / weights.sum()
    mean = shares @ X
    variance = np.array([shares @ (column - centre) ** 2 for column, centre in zip(X.T, mean, strict=True)])
    scale = np.sqrt(variance)
    return mean, np.where(scale > 1e-12 * np.abs(mean), scale, 1.0)
