"""Loss and bound over the time of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from stepnet.plot.axes import axes, fitted


class TraceDisplay:
    """Loss and bound over time: the fit is proven optimal where they meet.

    Parameters
    ----------
    seconds, losses, bounds : sequence of float
        One entry for each time at which one of them changed.
    measure : str
        What is counted.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    loss_, bound_ : matplotlib lines
    """

    ax_: Any
    figure_: Any

    def __init__(
        self, seconds: Sequence[float], losses: Sequence[float], bounds: Sequence[float], measure: str = "loss"
    ) -> None:
        self.seconds, self.losses, self.bounds, self.measure = seconds, losses, bounds, measure

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **style: Any) -> Self:
        """Of a fitted estimator, or one from a model file; further arguments are those of matplotlib lines."""
        known = fitted(estimator, "trace_")
        seconds, losses, bounds = np.array(known.trace_, dtype=np.float64).reshape(-1, 3).T.tolist()
        return cls(seconds, losses, bounds, str(known.certificate_.measure)).plot(ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        self.figure_, self.ax_ = axes(ax)
        (self.loss_,) = self.ax_.step(self.seconds, self.losses, where="post", label="loss", **style)
        (self.bound_,) = self.ax_.step(
            self.seconds, self.bounds, where="post", label="bound", **{"linestyle": "--", **style}
        )
        self.ax_.set(xlabel="seconds", ylabel=self.measure, ylim=(0, None))
        self.ax_.legend()
        return self
