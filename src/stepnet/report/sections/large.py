"""How large it is: weights, bits, and how much it could memorise."""

from __future__ import annotations

from stepnet.report.blocks import Paragraph, Part, Section, table
from stepnet.report.content import Report
from stepnet.report.format import counted, storage

_MANY = 10  # from so many rows per unit of VC dimension, training errors say something about new rows


def how_large(report: Report) -> Section:
    size = report.size
    lines = [
        [
            layer.title,
            str(layer.neurons),
            f"{layer.weights:,}",
            f"{layer.nonzero:,}",
            layer.domain if layer.is_learned else f"{layer.domain}, fixed",
            str(layer.bits_each),
            f"{layer.thresholds:,}",
            f"{layer.bits:,}",
        ]
        for layer in size.layers
    ]
    weights, thresholds = sum(layer.weights for layer in size.layers), sum(layer.thresholds for layer in size.layers)
    lines.append(
        ["All", str(size.neurons), f"{weights:,}", f"{size.nonzero:,}", "", "", f"{thresholds:,}", f"{size.bits:,}"]
    )
    columns = ["layer", "neurons", "weights", "non-zero", "values", "bits per weight", "thresholds", "bits"]
    counts = table(
        "Weights, thresholds and bits; zeros are stored too, thresholds take 64 bits", columns, lines, (0, 4)
    )
    outputs = counted(size.layers[-1].neurons, "output")
    neurons = f"{counted(size.hidden, 'neuron')} and {outputs}" if size.hidden else outputs
    lead = (
        f"{neurons} with {counted(size.nonzero, 'non-zero weight')}: {size.bits:,} bits ({storage(size.bits)}) when "
        "stored in full."
    )
    parts = Part("Weights and bits", (counts,)), Part("How much it could memorise", (Paragraph(_capacity(report)),))
    return Section("large", "How large it is", lead, parts)


def _capacity(report: Report) -> str:
    size = report.size
    rows = counted(size.n_rows, "distinct training row" if size.are_distinct else "training row")
    estimate = (
        f"Networks with ρ = {size.parameters:,} learned weights and thresholds have a VC dimension of the order "
        f"ρ·log₂ρ = {size.vc:,.0f}: roughly the number of rows that such networks can label in every possible way."
    )
    if len(report.classes) != 2:
        estimate += " (The estimate is for two classes; here it is a rule of thumb.)"
    ratio = size.n_rows / size.vc
    if ratio < 1:
        return (
            f"{estimate} With only {rows}, such networks may fit even random labels, so few errors on the training "
            "rows alone promise little for new ones. Look at test rows."
        )
    if ratio < _MANY:
        return (
            f"{estimate} With {rows}, {ratio:,.1f} times as many, few errors on the training rows are a hint, not a "
            "promise, for new ones. Look at test rows."
        )
    return (
        f"{estimate} With {rows}, {ratio:,.0f} times as many, such networks cannot fit arbitrary labels, so few "
        "errors on the training rows say something about new ones. Test rows say it directly."
    )
