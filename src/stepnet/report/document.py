"""A report as a document of words and tables, which every format shows."""

from __future__ import annotations

from collections.abc import Iterator

from stepnet.report.blocks import Card, Document
from stepnet.report.content import Report
from stepnet.report.format import counted, listed, number, percent, storage
from stepnet.report.quality import Answers, Quality
from stepnet.report.sections.good import how_good
from stepnet.report.sections.large import how_large
from stepnet.report.sections.learned import shape_of, what_was_learned
from stepnet.report.sections.sure import how_sure, notices_of, status_cards
from stepnet.report.sections.use import how_to_use


def document_of(report: Report) -> Document:
    return Document(
        report.title,
        _subtitle(report),
        tuple(_cards(report)),
        notices_of(report),
        (what_was_learned(report), how_large(report), how_good(report), how_sure(report), how_to_use(report)),
    )


def _subtitle(report: Report) -> str:
    data = f", trained on {report.data_name}" if report.data_name else ""
    classes = f"; classes {listed(report.classes, 6)}" if report.classes else ""
    return f"{report.estimator} with {shape_of(report)}{data}{classes}."


def _cards(report: Report) -> Iterator[Card]:
    yield from status_cards(report)
    quality, part = (report.test, "test") if report.test is not None else (report.train, "training")
    if quality is not None:
        yield _quality_card(quality, part)
    size = report.size
    neurons = counted(size.hidden or size.neurons, "neuron")
    yield Card("Size", neurons, f"{counted(size.nonzero, 'non-zero weight')}, {storage(size.bits)}")


def _quality_card(quality: Quality, part: str) -> Card:
    rows = counted(quality.rows, f"{part} row")
    if isinstance(quality, Answers):
        return Card(f"{part.capitalize()} accuracy", percent(quality.accuracy), f"{quality.wrong} of {rows} wrong")
    label = "Variance explained" if quality.codes is not None else f"{part.capitalize()} R²"
    return Card(label, number(quality.overall.r2), f"on {rows}")
