"""A report as one self-contained HTML file: it loads nothing and runs no script."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from stepnet.errors import MissingExtraError
from stepnet.report.blocks import BLOCKS, Figure
from stepnet.report.charts import margin_chart, robustness_chart, trace_chart
from stepnet.report.content import Report
from stepnet.report.document import document_of
from stepnet.report.picture import picture_of


def to_html(report: Report) -> str:
    """For a browser, an e-mail or a printer; all names are escaped."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtraError(
            "an HTML report needs Jinja2. Install it with: pip install 'stepnet[report]'"
        ) from error
    document = document_of(report)
    blocks = [block for section in document.sections for part in section.parts for block in part.blocks]
    drawings = {}
    for figure in blocks:
        if isinstance(figure, Figure):
            svg, note = _drawn(figure, report)
            drawings[figure.key] = Markup(ET.tostring(svg, encoding="unicode")), note
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("stepnet.report", ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    # By name, so that a template that asks for an unknown kind of block does not compile.
    environment.tests.update({kind.__name__: lambda block, kind=kind: isinstance(block, kind) for kind in BLOCKS})
    return environment.get_template("report.html.j2").render(document=document, drawings=drawings)


def _drawn(figure: Figure, report: Report) -> tuple[ET.Element, str]:
    """The drawing of a figure, and a note on what it leaves out."""
    if figure.key == "trace":
        return trace_chart(figure, report.trace, report.certificate.runtime), ""
    if figure.key == "margins" and report.margins is not None:
        return margin_chart(figure, report.margins), ""
    if figure.key == "robustness" and report.robustness is not None:
        return robustness_chart(figure, report.robustness), ""
    return picture_of(figure, report)
