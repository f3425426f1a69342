"""The network as a drawing: features on the left, neurons, the output on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stepnet.report.blocks import Figure
from stepnet.report.content import Report
from stepnet.report.format import counted, number, shortened
from stepnet.report.svg import Element, add, drawing

MOST_NODES, MOST_LINES = 26, 300  # per column, and between two columns
_BETWEEN, _NARROWEST = 600.0, 150.0  # widths from features to output, and between two columns at least
_ROW, _TOP, _LETTER = 27.0, 34.0, 7.3
_LONGEST_FEATURE, _LONGEST_ANSWER, _LONGEST_INSIDE = 30, 20, 10  # characters of labels
_NODE_HEIGHT = 19.0
_THINNEST, _THICKEST, _FEW_LINES = 0.6, 5.5, 30  # with more lines than this all are thinner


@dataclass(frozen=True)
class _Column:
    """The nodes of a layer; ``shown`` are the numbers of those that are drawn."""

    names: tuple[str, ...]
    shown: tuple[int, ...]
    x: float
    half: float  # half the width of a node
    height: float  # of the drawing

    def y(self, number: int) -> float:
        place = self.shown.index(number)
        spread = (self.height - _TOP) / len(self.shown)
        return _TOP + min(spread, 4 * _ROW) * (place - (len(self.shown) - 1) / 2) + (self.height - _TOP) / 2


@dataclass(frozen=True)
class _Line:
    source: int
    target: int
    weight: float
    share: float  # its size relative to the largest weight of the layer


def picture_of(figure: Figure, report: Report) -> tuple[Element, str]:
    """The drawing, and a sentence on what it leaves out, empty if nothing."""
    importances = [_feature_importances(report), *([n.importance for n in layer.neurons] for layer in report.layers)]
    names = [tuple(feature.name for feature in report.features)]
    names += [tuple(neuron.name for neuron in layer.neurons) for layer in report.layers]
    shown = [_strongest(importance) for importance in importances]
    answers = _answers(report)
    left = _room([names[0][i] for i in shown[0]], _LONGEST_FEATURE)
    right = _room(answers or names[-1], _LONGEST_ANSWER)
    height = _TOP + _ROW * max(3, *map(len, shown)) + 8
    columns = _columns(names, shown, left, height)
    svg = drawing(figure.key, figure.title, figure.description, columns[-1].x + 26 + right, height)
    lines = [
        _lines([neuron.weights for neuron in layer.neurons], below, above)
        for layer, below, above in zip(report.layers, columns, columns[1:], strict=False)
    ]
    for below, above, between in zip(columns, columns[1:], lines, strict=False):
        _draw_lines(svg, below, above, between)
    for place, column in enumerate(columns):
        _draw_column(svg, column, place, len(columns))
    for text, shift in zip(answers, (-8, 10), strict=False):
        _label(svg, text, columns[-1].x + columns[-1].half + 8, columns[-1].y(0) + shift, "start", _LONGEST_ANSWER)
    return svg, _left_out(report, columns, lines)


def _answers(report: Report) -> tuple[str, ...]:
    """The classes that a single output neuron stands for when on and off."""
    if len(report.layers[-1].neurons) == 1 and len(report.classes) == 2:
        return f"on: {report.classes[1]}", f"off: {report.classes[0]}"
    return ()


def _room(names: Sequence[str], most: int) -> float:
    """The width of the labels beside nodes."""
    return 28 + _LETTER * max(8, *(min(len(name), most) for name in names))


def _feature_importances(report: Report) -> list[float]:
    """The importance of each first-layer neuron, distributed over features in proportion to its absolute weights."""
    totals = [0.0] * len(report.features)
    for neuron in report.layers[0].neurons:
        size = sum(map(abs, neuron.weights)) or 1.0
        for i, weight in enumerate(neuron.weights):
            totals[i] += neuron.importance * abs(weight) / size
    return totals


def _strongest(importances: Sequence[float]) -> tuple[int, ...]:
    order = sorted(range(len(importances)), key=lambda i: (-importances[i], i))
    return tuple(sorted(order[:MOST_NODES]))


def _columns(names: list[tuple[str, ...]], shown: list[tuple[int, ...]], left: float, height: float) -> list[_Column]:
    step = max(_BETWEEN / (len(names) - 1), _NARROWEST)
    return [
        _Column(own, chosen, left + k * step, _half(own, is_input=k == 0, is_output=k == len(names) - 1), height)
        for k, (own, chosen) in enumerate(zip(names, shown, strict=True))
    ]


def _half(names: tuple[str, ...], *, is_input: bool, is_output: bool) -> float:
    """Half the width of a node: neurons have their name inside, features and multiple outputs beside them."""
    if is_input:
        return 5.0
    if is_output and len(names) > 1:
        return 10.0
    return max(26.0, 8 + _LETTER / 2 * max(min(len(name), _LONGEST_INSIDE) for name in names))


def _lines(weights: Sequence[Sequence[float]], below: _Column, above: _Column) -> list[_Line]:
    largest = max((abs(weight) for line in weights for weight in line), default=0.0) or 1.0
    found = [
        _Line(i, j, weights[j][i], abs(weights[j][i]) / largest)
        for j in above.shown
        for i in below.shown
        if weights[j][i]
    ]
    return sorted(found, key=lambda line: -line.share)[:MOST_LINES]


def _draw_lines(svg: Element, below: _Column, above: _Column, lines: Sequence[_Line]) -> None:
    """Thin lines first, so that the strong ones are on top."""
    thickest = _THICKEST * min(1.0, (_FEW_LINES / max(1, len(lines))) ** 0.5)
    for line in reversed(lines):
        x1, x2 = below.x + below.half, above.x - above.half
        y1, y2 = below.y(line.source), above.y(line.target)
        bend = 0.45 * (x2 - x1)
        path = f"M{x1:.0f} {y1:.1f}C{x1 + bend:.0f} {y1:.1f} {x2 - bend:.0f} {y2:.1f} {x2:.0f} {y2:.1f}"
        drawn = add(
            svg,
            "path",
            kind="weight positive" if line.weight > 0 else "weight negative",
            d=path,
            stroke_width=f"{_THINNEST + (thickest - _THINNEST) * line.share:.2f}",
            stroke_opacity=f"{0.35 + 0.6 * line.share:.2f}",
        )
        add(drawn, "title", f"{below.names[line.source]} → {above.names[line.target]}: {number(line.weight)}")


def _draw_column(svg: Element, column: _Column, place: int, count: int) -> None:
    is_input, is_output = place == 0, place == count - 1
    anchor = "end" if is_input else "middle"
    neurons = "neurons" if count == 3 else f"layer {place}"
    heading = "features" if is_input else "output" if is_output else neurons
    add(svg, "text", heading, kind="heading", x=column.x - 12.0 * is_input, y=18, text_anchor=anchor)
    for node in column.shown:
        y, name = column.y(node), column.names[node]
        if is_input:
            add(svg, "circle", kind="feature", cx=column.x, cy=y, r=4.5)
            _label(svg, name, column.x - 12, y, "end", _LONGEST_FEATURE)
            continue
        add(svg, "rect", kind="output" if is_output else "neuron", x=column.x - column.half, y=y - _NODE_HEIGHT / 2,
            width=2 * column.half, height=_NODE_HEIGHT, rx=_NODE_HEIGHT / 2)  # fmt: skip
        if is_output and len(column.names) > 1:
            _label(svg, name, column.x + column.half + 8, y, "start", _LONGEST_ANSWER)
        else:
            _label(svg, name, column.x, y, "middle", _LONGEST_INSIDE)


def _label(svg: Element, name: str, x: float, y: float, anchor: str, most: int) -> None:
    text = add(svg, "text", shortened(name, most), kind="name", x=x, y=y + 4, text_anchor=anchor)
    if len(name) > most:
        title = add(text, "title", name)
        title.tail = text.text
        text.text = None


def _left_out(report: Report, columns: list[_Column], lines: list[list[_Line]]) -> str:
    features, *neurons = (len(column.names) - len(column.shown) for column in columns)
    n_weights = sum(bool(w) for layer in report.layers for neuron in layer.neurons for w in neuron.weights)
    counts = {"feature": features, "neuron": sum(neurons), "line": n_weights - sum(map(len, lines))}
    if not any(counts.values()):
        return ""
    *first, last = (counted(count, noun) for noun, count in counts.items() if count)
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"Only the strongest are drawn; {listed} {'is' if sum(counts.values()) == 1 else 'are'} left out."
