"""Drawings as SVG whose colours are the page's, so that they follow its light and dark mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

Element = ET.Element


def drawing(key: str, title: str, description: str, width: float, height: float) -> Element:
    """An empty drawing with a name and a description for those who do not see it."""
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
    """A child; ``_`` in names of attributes stands for ``-``, and ``kind`` is the class."""
    plain = {
        _name(name): f"{value:.5g}" if isinstance(value, float) else str(value) for name, value in attributes.items()
    }
    child = ET.SubElement(parent, tag, plain)
    child.text = text
    return child


def written(svg: Element) -> str:
    return ET.tostring(svg, encoding="unicode")


def _name(name: str) -> str:
    return "class" if name == "kind" else name.replace("_", "-")


class Axes:
    """A frame with ticks, and places in it."""

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
        base = self.height - self.bottom
        for tick in ticks(*self.tops):
            add(
                self.svg,
                "line",
                kind="grid",
                x1=self.left,
                x2=self.width - self.right,
                y1=self.y(tick),
                y2=self.y(tick),
            )
            add(
                self.svg, "text", f"{tick:g}{unit}", kind="tick", x=self.left - 8, y=self.y(tick) + 4, text_anchor="end"
            )
        for tick in powers(*self.ends) if self.is_log else ticks(*self.ends):
            add(self.svg, "line", kind="grid", x1=self.x(tick), x2=self.x(tick), y1=base, y2=base + 5)
            add(self.svg, "text", f"{tick:g}", kind="tick", x=self.x(tick), y=base + 20, text_anchor="middle")
        add(self.svg, "line", kind="axis", x1=self.left, x2=self.width - self.right, y1=base, y2=base)
        middle = (self.left + self.width - self.right) / 2
        add(self.svg, "text", x_label, kind="label", x=middle, y=self.height - 6, text_anchor="middle")
        place = f"translate(14 {(self.top + base) / 2:g}) rotate(-90)"
        add(self.svg, "text", y_label, kind="label", transform=place, text_anchor="middle")

    def steps(self, points: Sequence[tuple[float, float]], end: float) -> str:
        """A path that keeps every value until the next one."""
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
