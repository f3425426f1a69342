"""Tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def html_table(caption: str, rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """An HTML table of text, all of it escaped; the first cell of a row is its head."""
    head = "".join(f"<th scope='col' style='text-align: left'>{html.escape(one)}</th>" for one in heads)
    lines = []
    for first, *cells in rows:
        rest = "".join(f"<td style='text-align: left'>{html.escape(cell)}</td>" for cell in cells)
        lines.append(f"<tr><th scope='row' style='text-align: left'>{html.escape(first)}</th>{rest}</tr>")
    top = f"<thead><tr>{head}</tr></thead>" if heads else ""
    title = f"<caption style='text-align: left'>{html.escape(caption)}</caption>"
    return f"<table>{title}{top}<tbody>{''.join(lines)}</tbody></table>"
