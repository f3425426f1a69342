"""Recall against false positives, with what no network can beat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from stepnet.plot.axes import axes


class TradeoffDisplay:
    """The points of a trade-off curve: the best recall that was found for so many false positives, and its bound.

    Parameters
    ----------
    points : iterable of TradeoffPoint
        Objects with ``at_most`` (the false positives that are allowed), ``recall``, and ``recall_at_most``, which no
        network of the shape exceeds; None if nothing is known.
    positive : str
        The class that is to be found.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    found_, bound_ : matplotlib lines
        ``bound_`` is None if no point has a bound.
    """

    ax_: Any
    figure_: Any

    def __init__(self, points: Iterable[Any], positive: str = "") -> None:
        self.points, self.positive = sorted(points, key=lambda point: float(point.at_most)), positive

    @classmethod
    def from_tradeoff(cls, tradeoff: Any, *, ax: Any = None, **style: Any) -> Self:
        """Of what :func:`stepnet.tradeoff` returns; further arguments are those of matplotlib lines."""
        return cls(tradeoff.points, str(tradeoff.positive)).plot(ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        self.figure_, self.ax_ = axes(ax)
        limits = [float(point.at_most) for point in self.points]
        found = [100 * float(point.recall) for point in self.points]
        (self.found_,) = self.ax_.step(limits, found, where="post", marker="o", label="best network found", **style)
        proven = [
            (float(point.at_most), 100 * float(point.recall_at_most))
            for point in self.points
            if point.recall_at_most is not None
        ]
        self.bound_ = None
        if proven:
            line = {"linestyle": "--", **style}
            (self.bound_,) = self.ax_.step(
                *zip(*proven, strict=True), where="post", label="no network has more", **line
            )
        of = f" of {self.positive}" if self.positive else ""
        self.ax_.set(xlabel="false positives, at most", ylabel=f"recall{of}, %")
        self.ax_.legend()
        return self
