"""Hinge: how far the value of the output is from the right side of its class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Targets
from stepnet.problem.losses.piecewise_linear import PiecewiseLinearLoss


@dataclass(frozen=True)
class Hinge(PiecewiseLinearLoss):
    """For two classes: how far the value of the output is below 1 in class 1, or above -1 in class 0."""

    name = "hinge"
    measure = "hinge loss"
    task = "classes"
    has_units = False

    def targets(self, y: Targets) -> Floats:
        return np.where(y.reshape(len(y), -1) > 0, 1.0, -1.0)

    def slopes(self, targets: Floats) -> tuple[Floats, Floats]:
        return (targets < 0).astype(np.float64), (targets > 0).astype(np.float64)

    def refuses_architecture(self, architecture: Architecture) -> str:
        if architecture.output.n_answers(architecture.n_outputs) > 2:
            return "loss='hinge' is for two classes. Use output='one_vs_one' for more."
        if architecture.hidden and architecture.fixed_threshold is not None:
            return "loss='hinge' needs an output with a learned threshold. Use threshold='neuron'."
        return super().refuses_architecture(architecture)
