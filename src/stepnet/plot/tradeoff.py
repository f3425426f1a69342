"""Recall against false alarms, with what no network can beat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from stepnet.plot.axes import axes


class TradeoffDisplay:
    """The points of a trade-off curve: the best recall that was found for so many false alarms, and its bound.

    Parameters
    ----------
    points : iterable of objects with ``recall``, ``false_alarms`` and ``bound``
        ``bound`` is a recall that no network of the shape exceeds with as many false alarms, or None.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    found_, bound_ : matplotlib lines
        ``bound_`` is None if no point has a bound.
    """

    ax_: Any
    figure_: Any

    def __init__(self, points: Iterable[Any]) -> None:
        self.points = sorted(points, key=lambda point: (point.false_alarms, point.recall))

    @classmethod
    def from_points(cls, points: Iterable[Any], *, ax: Any = None, **style: Any) -> Self:
        """Of the points of a trade-off; further arguments are those of matplotlib lines."""
        return cls(points).plot(ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        self.figure_, self.ax_ = axes(ax)
        alarms = [point.false_alarms for point in self.points]
        (self.found_,) = self.ax_.step(
            alarms, [100 * point.recall for point in self.points], where="post", marker="o", label="found", **style
        )
        proven = [(point.false_alarms, 100 * point.bound) for point in self.points if point.bound is not None]
        self.bound_ = None
        if proven:
            line = {"linestyle": "--", **style}
            (self.bound_,) = self.ax_.step(*zip(*proven, strict=True), where="post", label="no network exceeds", **line)
        self.ax_.set(xlabel="false alarms", ylabel="recall, %")
        self.ax_.legend()
        return self
