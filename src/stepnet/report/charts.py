"""Charts of a report: loss and bound over time, certified rows over the radius, rows by margin."""

from __future__ import annotations

import math

from stepnet.report.blocks import Figure
from stepnet.report.content import Trace
from stepnet.report.format import number
from stepnet.report.learned import Margins
from stepnet.report.robustness import Robustness
from stepnet.report.svg import Axes, Element, add, drawing

_LONG = 30  # from this ratio of the last time to the first, time is on a log scale


def trace_chart(figure: Figure, trace: Trace, runtime: float) -> Element:
    """Loss as a solid line, bound as a dashed one, the gap between them shaded."""
    svg = _empty(figure)
    known = [point for point in trace if all(map(math.isfinite, point))] or [(0.0, 0.0, 0.0)]
    begin, end = known[0][0], max(known[-1][0], runtime)
    is_log = begin > 0 and end / begin > _LONG
    tops = min(0.0, *(bound for _, _, bound in known)), max(loss for _, loss, _ in known)
    axes = Axes(svg, (begin if is_log else 0.0, end), tops, is_log=is_log)
    axes.frame("seconds (log scale)" if is_log else "seconds", "loss")
    losses = axes.steps([(seconds, loss) for seconds, loss, _ in known], end)
    bounds = axes.steps([(seconds, bound) for seconds, _, bound in known], end)
    backwards = "".join(f"V{axes.y(bound):.1f}H{axes.x(seconds):.1f}" for seconds, _, bound in reversed(known))
    add(svg, "path", kind="gap", d=f"{losses}{backwards}Z")
    add(svg, "path", kind="line bound", d=bounds)
    add(svg, "path", kind="line loss", d=losses)
    _, loss, bound = known[-1]
    # The legend is in the upper right corner, where losses have fallen.
    for y, kind, value in ((28, "loss", loss), (48, "bound", bound)):
        add(svg, "path", kind=f"line {kind}", d=f"M{axes.width - 250} {y}H{axes.width - 214}")
        add(svg, "text", f"{kind}, finally {number(value)}", kind="label", x=axes.width - 206, y=y + 4)
    return svg


def robustness_chart(figure: Figure, found: Robustness) -> Element:
    svg = _empty(figure)
    end = max(found.curve[-1][0], found.radius) * 1.05
    axes = Axes(svg, (0.0, end), (0.0, 100.0))
    axes.frame(f"radius in {found.norm}", "certified rows", unit=" %")
    end = axes.ends[1]
    add(svg, "path", kind="line loss", d=axes.steps([(radius, 100 * share) for radius, share in found.curve], end))
    place = axes.x(found.radius)
    add(svg, "line", kind="line bound", x1=place, x2=place, y1=axes.y(0), y2=axes.y(100))
    return svg


def margin_chart(figure: Figure, margins: Margins) -> Element:
    svg = _empty(figure)
    axes = Axes(svg, (margins.edges[0], margins.edges[-1]), (0.0, float(max(margins.counts))))
    axes.frame("distance to the nearest hyperplane that the answer depends on", "rows")
    for low, high, count in zip(margins.edges, margins.edges[1:], margins.counts, strict=False):
        if count:
            x, y = axes.x(low) + 1, axes.y(count)
            bar = add(svg, "rect", kind="bar", x=x, width=axes.x(high) - x - 1, y=y, height=axes.y(0) - y)
            add(bar, "title", f"{number(low)} to {number(high)}: {count} rows")
    return svg


def _empty(figure: Figure) -> Element:
    return drawing(figure.key, figure.title, figure.description, Axes.width, Axes.height)
