"""Drawings as SVG; the page sets the colours, so that drawings follow its light and dark mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

Element = ET.Element


def drawing(key: str, title: str, description: str, width: float, height: float) -> Element:
    """An empty drawing with a title and a description for readers who cannot see it."""
    svg = ET.Element(
        "svg",
        {
            "viewBox": f"0 0 {width:g} {height:g}",
            "role": "img",
            "aria-labelledby": f"{key}-title {key}-description",
            "class": f"drawing {key}",
        },
    )
    add(svg, "title", title, id=f"{key}-title")
    add(svg, "desc", description, id=f"{key}-description")
    return svg


def add(parent: Element, tag: str, text: str | None = None, /, **attributes: object) -> Element:
    """Add a child; ``_`` in the name of an attribute stands for ``-``, and ``kind`` for ``class``."""
    child = ET.SubElement(parent, tag)
    child.text = text
    for name, value in attributes.items():
        text_value = f"{value:.5g}" if isinstance(value, float) else str(value)
        child.set("class" if name == "kind" else name.replace("_", "-"), text_value)
    return child


class Axes:
    """A frame with ticks, and the positions of values in it."""

    width, height = 720.0, 300.0
    left, right, top, bottom = 62.0, 18.0, 18.0, 46.0

    def __init__(
        self, svg: Element, ends: tuple[float, float], tops: tuple[float, float], *, is_log: bool = False
    ) -> None:
        self.svg, self.ends, self.tops, self.is_log = svg, _widened(ends), _widened(tops), is_log

    def x(self, value: float) -> float:
        low, high = self.ends
        share = math.log(value / low) / math.log(high / low) if self.is_log else (value - low) / (high - low)
        return self.left + share * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        low, high = self.tops
        return self.height - self.bottom - (value - low) / (high - low) * (self.height - self.top - self.bottom)

    def frame(self, x_label: str, y_label: str, *, unit: str = "") -> None:
        svg, left, right, base = self.svg, self.left, self.width - self.right, self.height - self.bottom
        for tick in ticks(*self.tops):
            y = self.y(tick)
            add(svg, "line", kind="grid", x1=left, x2=right, y1=y, y2=y)
            add(svg, "text", f"{tick:g}{unit}", kind="tick", x=left - 8, y=y + 4, text_anchor="end")
        for tick in powers(*self.ends) if self.is_log else ticks(*self.ends):
            x = self.x(tick)
            add(svg, "line", kind="grid", x1=x, x2=x, y1=base, y2=base + 5)
            add(svg, "text", f"{tick:g}", kind="tick", x=x, y=base + 20, text_anchor="middle")
        add(svg, "line", kind="axis", x1=left, x2=right, y1=base, y2=base)
        add(svg, "text", x_label, kind="label", x=(left + right) / 2, y=self.height - 6, text_anchor="middle")
        place = f"translate(14 {(self.top + base) / 2:g}) rotate(-90)"
        add(svg, "text", y_label, kind="label", transform=place, text_anchor="middle")

    def steps(self, points: Sequence[tuple[float, float]], end: float) -> str:
        """The path of a step function: it keeps each value until the next point."""
        (x, y), *others = points
        path = f"M{self.x(x):.1f} {self.y(y):.1f}"
        for x, y in others:
            path += f"H{self.x(x):.1f}V{self.y(y):.1f}"
        return f"{path}H{self.x(end):.1f}"


def ticks(low: float, high: float) -> list[float]:
    """Three to eight round numbers within a range."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def powers(low: float, high: float) -> list[float]:
    """The powers of ten within a range."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [10.0**power for power in range(first, last + 1)]


def _widened(ends: tuple[float, float]) -> tuple[float, float]:
    low, high = ends
    return (low, high) if high > low else (low, low + (abs(low) or 1.0))
