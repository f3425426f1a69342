"""How good it is: correct answers, margins, and robustness to perturbations."""

from __future__ import annotations

from collections.abc import Iterator

from stepnet.certificate.risk import Risk
from stepnet.report.blocks import Block, Figure, Paragraph, Part, Section, TableBlock, table
from stepnet.report.content import Report
from stepnet.report.format import counted, number, percent
from stepnet.report.learned import Margins
from stepnet.report.quality import Answers, NumberQuality, Numbers, Quality
from stepnet.report.robustness import Robustness
from stepnet.report.svg import ticks

_MOST_CLASSES, _MOST_ERRORS = 25, 20


def how_good(report: Report) -> Section:
    parts = [
        Part(f"{name} rows", tuple(_quality(quality, name, report.classes)))
        for quality, name in ((report.train, "Training"), (report.test, "Test"))
        if quality is not None
    ]
    if report.is_weighted and parts:
        parts[0] = _with(parts[0], "Every row counts once here; the loss of the certificate counts rows by weight.")
    if report.n_seen and report.test is not None:
        parts[-1] = _with(parts[-1], _seen(report.n_seen, report.test, report.unseen))
    if report.certificate.limits:
        parts.append(Part("Limits on errors", (_limits(report),)))
    if report.risk is not None:
        parts.append(Part("New rows", tuple(_risk(report.risk))))
    parts.append(Part("Margins", tuple(_margins(report))))
    if report.robustness is not None:
        parts.append(Part("Robustness to perturbations", tuple(_robustness(report.robustness))))
    given = [name for name, quality in (("training", report.train), ("test", report.test)) if quality is not None]
    lead = f"Measured on {' and '.join(given)} rows." if given else "No rows were given, so nothing is measured here."
    if given == ["training"]:
        lead += " Only rows that it was not trained on show how good it is on new ones."
    return Section("good", "How good it is", lead, tuple(parts))


def _limits(report: Report) -> TableBlock:
    """What was demanded of the training rows, and what holds exactly."""
    lines = [[one.name, one.demanded, one.value_in_words] for one in report.certificate.limits]
    return table("Demanded of the training rows", ["limit", "demanded", "exact value"], lines, (0, 1, 2))


def _risk(risk: Risk) -> Iterator[Block]:
    yield Paragraph(
        f"If the test rows are a random sample of those that the model will see, it makes {risk.sentence}. Each bound "
        f"is exact (Clopper-Pearson) and holds with this confidence by itself. Rows that equal training rows are left "
        f"out."
    )
    lines = [[one.name, f"{one.count} of {one.total}", one.limit] for one in risk.shares if one.total]
    yield table("Bounds for new rows", ["share", "test rows", "all rows"], lines)


def _with(part: Part, sentence: str) -> Part:
    return Part(part.title, (*part.blocks, Paragraph(sentence)))


def _seen(n_seen: int, test: Quality, unseen: Quality | None) -> str:
    """What can be said about new rows if test rows equal training rows."""
    if unseen is None:
        return "All of these rows equal training rows, so they say nothing about new ones."
    if isinstance(unseen, Answers):
        others = f"the accuracy is {percent(unseen.accuracy)} ({unseen.wrong} wrong)"
    else:
        others = f"R² is {number(unseen.overall.r2)}"
    return (
        f"{n_seen:,} of these {test.rows:,} rows equal training rows, so they say little about new ones. On the other "
        f"{unseen.rows:,}, {others}."
    )


def _quality(quality: Quality, name: str, classes: tuple[str, ...]) -> Iterator[Block]:
    if isinstance(quality, Numbers):
        yield from _number_tables(quality, name)
        return
    lines = [["accuracy", percent(quality.accuracy)], ["balanced accuracy", percent(quality.balanced_accuracy)]]
    if len(classes) == 2:
        lines.append(["Matthews correlation", number(quality.mcc)])
    yield table(f"{name} rows: {quality.wrong} of {quality.rows:,} wrong", ["measure", "value"], lines)
    yield _confusion(quality, name, classes) if len(classes) <= _MOST_CLASSES else _errors(quality, name, classes)
    by_class = [
        [one.name, f"{one.rows:,}", *map(percent, (one.precision, one.recall, one.f1))] for one in quality.classes
    ]
    yield table(f"{name} rows by class", ["class", "rows", "precision", "recall", "F1"], by_class)


def _confusion(quality: Answers, name: str, classes: tuple[str, ...]) -> TableBlock:
    lines = [[f"true {one}", *map(str, line)] for one, line in zip(classes, quality.confusion, strict=True)]
    shades = tuple(tuple(count / max(1, sum(line)) for count in line) for line in quality.confusion)
    columns = ("", *(f"predicted {one}" for one in classes))
    return TableBlock(f"{name} rows: true and predicted classes", columns, tuple(map(tuple, lines)), (0,), shades)


def _errors(quality: Answers, name: str, classes: tuple[str, ...]) -> TableBlock:
    """The most frequent errors, for too many classes to show a square table."""
    pairs = [
        (count, a, b) for a, line in enumerate(quality.confusion) for b, count in enumerate(line) if a != b and count
    ]
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    lines = [[classes[a], classes[b], str(count)] for count, a, b in pairs[:_MOST_ERRORS]]
    return table(f"{name} rows: the most frequent errors", ["true class", "predicted class", "rows"], lines, (0, 1))


def _number_tables(quality: Numbers, name: str) -> Iterator[Block]:
    measures = ["R²", "mean absolute error", "root mean squared error"]
    lines = [[measure, value] for measure, value in zip(measures, _numbers(quality.overall), strict=True)]
    if quality.codes is not None:
        lines[0][0] = "R² (share of the variance explained)"
        lines.append(["distinct codes in use", f"{quality.codes:,}"])
    yield table(f"{name} rows: {quality.rows:,}", ["measure", "value"], lines)
    if quality.parts:
        by_output = [[part.name, *_numbers(part)] for part in quality.parts]
        yield table(f"{name} rows by output", ["output", *measures], by_output)


def _numbers(quality: NumberQuality) -> list[str]:
    return [number(quality.r2), number(quality.mae), number(quality.rmse)]


def _margins(report: Report) -> Iterator[Block]:
    margin = "unknown" if report.certificate.margin is None else number(report.certificate.margin)
    if margin == "unknown":
        yield Paragraph("The margin of the training rows is unknown: there was no time left to compute it.")
    elif margin == "infinite":
        yield Paragraph("No answer for a training row depends on a single neuron, so there is no margin to state.")
    else:
        yield Paragraph(
            f"The margin is {margin}: every training row is at least this far (Euclidean, in the units of the "
            "features) from each hyperplane that its answer depends on."
        )
    if report.margins is not None and report.margins.n_free:
        yield Paragraph(f"For {counted(report.margins.n_free, 'training row')} no single neuron decides the answer.")
    if report.margins is not None and any(report.margins.counts):
        yield _margin_figure(report.margins)


def _margin_figure(margins: Margins) -> Figure:
    ends = zip(margins.edges, margins.edges[1:], margins.counts, strict=False)
    lines = [[number(low), number(high), str(count)] for low, high, count in ends]
    return Figure(
        "margins",
        "Training rows by their distance to a change of answer",
        "Rows on the left are answered by a narrow margin, rows on the right by a wide one.",
        (table("Training rows by margin", ["from", "to", "rows"], lines),),
    )


def _robustness(found: Robustness) -> Iterator[Block]:
    rows = counted(found.n_attacked, f"{found.part} row")
    yield Paragraph(
        f"{percent(found.certified)} of {rows} are certified at radius {number(found.radius)} in {found.norm}: they "
        f"are classified correctly, and no perturbation up to this size changes that. {percent(found.right)} are "
        "classified correctly as they are. Perturbations are measured in the units of the features, and what is "
        "certified is proven."
    )
    if found.n_attacked < found.n_rows:
        yield Paragraph(
            f"These are {found.n_attacked} of {counted(found.n_rows, f'{found.part} row')}, evenly spread, because "
            "more would take long; stepnet attack attacks all of them."
        )
    if found.n_unfinished:
        yield Paragraph(
            f"For {counted(found.n_unfinished, 'row')} the search stopped at its limit: their radius may be larger "
            f"than counted here, never smaller. {percent(found.broken)} are known to be broken at radius "
            f"{number(found.radius)}, so the certified share lies between {percent(found.certified)} and "
            f"{percent(1 - found.broken)}."
        )
    radii = sorted({0.0, found.radius, *ticks(0.0, found.curve[-1][0] or 1.0)})
    lines = [[number(radius), percent(found.share(radius))] for radius in radii]
    yield Figure(
        "robustness",
        f"Certified {found.part} rows over the radius",
        f"The share of rows that no perturbation up to the radius gets wrong; dashed: radius {number(found.radius)}.",
        (table(f"Certified {found.part} rows", [f"radius in {found.norm}", "certified"], lines),),
    )
