"""A report as Markdown."""

from __future__ import annotations

import re

from stepnet.report.blocks import Block, Code, Figure, Notice, TableBlock
from stepnet.report.content import Report
from stepnet.report.document import document_of


def to_markdown(report: Report) -> str:
    """For a repository, a wiki or an issue; tables instead of drawings."""
    document = document_of(report)
    parts = [
        f"# {_escaped(document.title)}",
        _escaped(document.subtitle),
        *map(_block, document.notices),
        _table(document.summary),
    ]
    for section in document.sections:
        parts += [f"## {section.title}", _escaped(section.lead)]
        for part in section.parts:
            blocks = list(filter(None, map(_block, part.blocks)))
            parts += [f"### {part.title}", *blocks] if blocks else []
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, TableBlock):
        return _table(block)
    if isinstance(block, Notice):
        return f"> **{_escaped(block.head)}** {_escaped(block.text)}"
    if isinstance(block, Figure):
        return "" if block.is_redundant else "\n\n".join(map(_table, block.tables))
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
        return f"{fence}{block.language}\n{block.text}\n{fence}"
    return _escaped(block.text)


def _table(block: TableBlock) -> str:
    marks = [":--" if number in block.words else "--:" for number in range(len(block.columns))]
    head, *lines = (list(map(_escaped, cells)) for cells in (block.columns, *block.lines))
    return f"**{_escaped(block.caption)}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in (head, marks, *lines))


def _escaped(text: str) -> str:
    """Text with all Markdown and HTML markup escaped."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", text)
