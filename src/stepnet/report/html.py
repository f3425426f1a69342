"""A report as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from importlib.resources import files

from stepnet.errors import MissingExtraError
from stepnet.report.blocks import BLOCKS, Document, Figure
from stepnet.report.charts import margin_chart, robustness_chart, trace_chart
from stepnet.report.content import Report
from stepnet.report.document import document_of
from stepnet.report.picture import picture_of
from stepnet.report.svg import written

_TEMPLATE = "report.html.j2"


def to_html(report: Report) -> str:
    """For a browser, a mail or a printer; names are escaped, whatever they are."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtraError(
            "an HTML report needs Jinja2. Install it with: pip install 'stepnet[report]'"
        ) from error
    document = document_of(report)
    drawings = {key: (Markup(svg), note) for key, (svg, note) in _drawings(document, report).items()}
    template = files("stepnet.report").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    # By name, so that a template that asks for an unknown kind of block does not compile.
    environment.tests.update({kind.__name__: lambda block, kind=kind: isinstance(block, kind) for kind in BLOCKS})
    return environment.from_string(template).render(document=document, drawings=drawings)


def _drawings(document: Document, report: Report) -> dict[str, tuple[str, str]]:
    """The SVG of every figure, and a note on what it leaves out."""
    found = {}
    for section in document.sections:
        for part in section.parts:
            for figure in part.blocks:
                if isinstance(figure, Figure):
                    found[figure.key] = _drawn(figure, report)
    return found


def _drawn(figure: Figure, report: Report) -> tuple[str, str]:
    if figure.key == "trace":
        return written(trace_chart(figure, report.trace, report.certificate.runtime)), ""
    if figure.key == "margins" and report.margins is not None:
        return written(margin_chart(figure, report.margins)), ""
    if figure.key == "robustness" and report.robustness is not None:
        return written(robustness_chart(figure, report.robustness)), ""
    picture = picture_of(figure, report)
    return written(picture.svg), picture.left_out
