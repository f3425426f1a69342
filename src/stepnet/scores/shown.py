"""A sheet as text, HTML, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from stepnet.model.tex import tex
from stepnet.scores.sheet import Sheet, SheetTable

_STYLE = (
    ".stepnet-score{font-family:system-ui,sans-serif;max-width:46rem;line-height:1.4}"
    ".stepnet-score table{border-collapse:collapse;margin:.4rem 0 1rem}"
    ".stepnet-score caption{text-align:left;font-weight:600;padding:.2rem 0}"
    ".stepnet-score th,.stepnet-score td{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #8886}"
    ".stepnet-score th{font-weight:600}.stepnet-score .w{text-align:left}"
    ".stepnet-score tr.on td{background:#1f77b426}.stepnet-score p{margin:.4rem 0}.stepnet-score small{opacity:.8}"
)


def to_text(sheet: Sheet) -> str:
    """For a terminal or a log."""
    parts = [sheet.title, "", sheet.verdict]
    for table in sheet.tables:
        parts += ["", table.caption, *_columns(table)]
    return "\n".join([*parts, "", sheet.note])


def _columns(table: SheetTable) -> list[str]:
    cells = [table.columns, *table.lines]
    widths = [max(len(line[k]) for line in cells) for k in range(len(table.columns))]
    lines = []
    for line in cells:
        padded = (
            cell.ljust(width) if k in table.words else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        lines.append("  " + "  ".join(padded).rstrip())
    lines.insert(1, "  " + "  ".join("-" * width for width in widths))
    return lines


def to_html(sheet: Sheet) -> str:
    """A fragment for a notebook or a page: it loads nothing and runs no script."""
    body = [f"<style>{_STYLE}</style>", '<div class="stepnet-score">', f"<h3>{escape(sheet.title)}</h3>"]
    body.append(f"<p>{escape(sheet.verdict)}</p>")
    for table in sheet.tables:
        head = "".join(_cell("th", text, k in table.words, ' scope="col"') for k, text in enumerate(table.columns))
        body.append(f"<table><caption>{escape(table.caption)}</caption><thead><tr>{head}</tr></thead><tbody>")
        for number, line in enumerate(table.lines):
            row = "".join(_cell("td", text, k in table.words) for k, text in enumerate(line))
            body.append(f'<tr class="on">{row}</tr>' if number in table.marked else f"<tr>{row}</tr>")
        body.append("</tbody></table>")
    body.append(f"<p><small>{escape(sheet.note)}</small></p></div>")
    return "\n".join(body)


def _cell(tag: str, text: str, is_text: bool, more: str = "") -> str:
    mark = ' class="w"' if is_text else ""
    return f"<{tag}{more}{mark}>{escape(text)}</{tag}>"


def to_markdown(sheet: Sheet) -> str:
    """For a repository or a wiki."""
    parts = [f"### {_plain(sheet.title)}", _plain(sheet.verdict)]
    for table in sheet.tables:
        marks = [":--" if k in table.words else "--:" for k in range(len(table.columns))]
        lines = [list(map(_plain, table.columns)), marks, *(list(map(_plain, line)) for line in table.lines)]
        parts += [f"**{_plain(table.caption)}**", "\n".join(f"| {' | '.join(line)} |" for line in lines)]
    return "\n\n".join([*parts, _plain(sheet.note)]) + "\n"


def _plain(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", text)


def to_latex(sheet: Sheet) -> str:
    """Tables for a paper, in plain LaTeX without further packages."""
    parts = [f"\\paragraph{{{tex(sheet.title)}}} {tex(sheet.verdict)}"]
    for table in sheet.tables:
        shape = "".join("l" if k in table.words else "r" for k in range(len(table.columns)))
        lines = [" & ".join(map(tex, line)) + r" \\" for line in (table.columns, *table.lines)]
        lines.insert(1, r"\hline")
        begin = [r"\begin{table}[htb]", r"\centering", f"\\caption{{{tex(table.caption)}}}"]
        parts.append("\n".join([*begin, f"\\begin{{tabular}}{{{shape}}}", *lines, r"\end{tabular}", r"\end{table}"]))
    return "\n\n".join([*parts, tex(sheet.note)]) + "\n"


FORMATS: dict[str, Callable[[Sheet], str]] = {
    "text": to_text,
    "html": to_html,
    "markdown": to_markdown,
    "latex": to_latex,
}
