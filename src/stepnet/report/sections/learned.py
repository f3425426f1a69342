"""What was learned: the network, its neurons as rules, its features."""

from __future__ import annotations

from collections.abc import Iterator

from stepnet.report.blocks import Block, Figure, Paragraph, Part, Section, TableBlock, table
from stepnet.report.content import Report
from stepnet.report.format import counted, number
from stepnet.report.learned import NeuronLayer
from stepnet.scores.sheet import Sheet

_MOST_RULES = 100
_MOST_CELLS = 4000  # of a table of weights


def shape_of(report: Report) -> str:
    """Features, neurons and outputs in words."""
    *hidden, output = report.layers
    widths = " and ".join(str(len(layer.neurons)) for layer in hidden)
    noun = "neuron" if widths == "1" else "neurons"
    middle = f"{widths} {noun} in {counted(len(hidden), 'hidden layer')}" if hidden else "no hidden layer"
    return f"{counted(len(report.features), 'feature')}, {middle}, {counted(len(output.neurons), 'output')}"


def what_was_learned(report: Report) -> Section:
    lead = (
        "This section is the whole model: no answer depends on anything else. A step neuron is on where its weighted "
        "sum reaches its threshold, and off elsewhere."
    )
    rules: list[Block] = [Paragraph(_about_rules(report))]
    for layer in report.layers:
        rules += _rules(layer)
    sheet = () if report.sheet is None else (Part("The scorecard", tuple(_sheet(report.sheet))),)
    parts = (
        *sheet,
        Part("The network", (_network_figure(report),)),
        Part("Neurons as rules", tuple(rules)),
        Part("Features", (_feature_table(report),)),
    )
    return Section("learned", "What was learned", lead, parts)


def _sheet(sheet: Sheet) -> Iterator[Block]:
    yield Paragraph(sheet.verdict)
    for one in sheet.tables:
        yield table(one.caption, one.columns, one.lines, one.words)
    yield Paragraph(sheet.note)


def _network_figure(report: Report) -> Figure:
    tables = tuple(
        _weight_table(layer) for layer in report.layers if len(layer.neurons) * len(layer.inputs) <= _MOST_CELLS
    )
    description = (
        f"Features are on the left, the output is on the right: {shape_of(report)}. Lines are weights: solid blue for "
        "positive ones, dashed orange for negative ones, and the thicker, the larger within their layer."
    )
    return Figure("network", "The network and its weights", description, tables, is_redundant=True)


def _weight_table(layer: NeuronLayer) -> TableBlock:
    lines = [
        [neuron.name, *map(number, neuron.weights), " / ".join(map(number, neuron.thresholds))]
        for neuron in layer.neurons
    ]
    return table(f"{layer.title}: weights and thresholds", ["neuron", *layer.inputs, "threshold"], lines)


def _about_rules(report: Report) -> str:
    divided = [neuron.is_divided for layer in report.layers for neuron in layer.neurons]
    text = "Rules show the weights as they are."
    if all(divided):
        text = "Each rule is divided by its largest weight, which does not change it."
    elif any(divided):
        text = (
            "Some rules are divided by their largest weight, which does not change them; the others show the weights "
            "as they are."
        )
    text += " Numbers are rounded to four digits; the model file has the exact ones."
    first = report.layers[0].neurons[0]
    if first.rows is not None:
        text += " Rows on: training rows for which the neuron is on."
    if first.decided is not None:
        text += " Rows decided: training rows whose answer would change if this neuron alone were flipped."
    return text


def _rules(layer: NeuronLayer) -> Iterator[Block]:
    shown = sorted(layer.neurons, key=lambda neuron: -neuron.importance)[:_MOST_RULES]
    neurons = [neuron for neuron in layer.neurons if neuron in shown]
    columns, lines = ["neuron", "rule"], [[neuron.name, neuron.rule] for neuron in neurons]
    if neurons[0].rows is not None:
        is_bit = len(neurons[0].rows) == 2
        columns.append("rows on" if is_bit else "rows at each level")
        for line, neuron in zip(lines, neurons, strict=True):
            line.append(" / ".join(map(str, (neuron.rows or ())[is_bit:])))
    if neurons[0].decided is not None:
        columns.append("rows decided")
        for line, neuron in zip(lines, neurons, strict=True):
            line.append(str(neuron.decided))
    yield table(f"{layer.title}: {counted(len(layer.neurons), 'neuron')} ({layer.activation})", columns, lines, (0, 1))
    if len(neurons) < len(layer.neurons):
        yield Paragraph(
            f"The {len(neurons)} most important neurons are listed, {len(layer.neurons) - len(neurons)} are left out; "
            "the model file has them all."
        )


def _feature_table(report: Report) -> TableBlock:
    has_meaning = any(feature.meaning for feature in report.features)
    has_range = any(feature.smallest is not None for feature in report.features)
    columns = ["feature", *(["meaning"] * has_meaning), "positive weights", "negative weights"]
    columns += ["smallest", "largest"] * has_range
    lines = [
        [
            feature.name,
            *([feature.meaning] * has_meaning),
            str(feature.raises),
            str(feature.lowers),
            *("" if end is None else number(end) for end in (feature.smallest, feature.largest) if has_range),
        ]
        for feature in report.features
    ]
    caption = counted(len(lines), "feature")
    unused = sum(not feature.is_used for feature in report.features)
    if unused and len(lines) > 1:
        caption += f", {unused} of them unused"
    if has_range:
        caption += "; smallest and largest value in the training rows"
    return table(caption, columns, lines, (0, 1) if has_meaning else (0,))
