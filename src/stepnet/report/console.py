"""A report as plain text."""

from __future__ import annotations

import io
import textwrap

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from stepnet.report.blocks import Block, Code, Figure, Notice, TableBlock
from stepnet.report.content import Report
from stepnet.report.document import document_of


def to_text(report: Report, width: int = 100) -> str:
    """For a terminal or a log: no colours, and tables instead of drawings."""
    document = document_of(report)
    parts = [document.title, "=" * len(document.title), _wrapped(document.subtitle, width)]
    parts += ["", *(_block(notice, width) for notice in document.notices)]
    parts.append(_block(document.summary, width))
    for section in document.sections:
        parts += [f"\n{section.title.upper()}", "-" * len(section.title), _wrapped(section.lead, width)]
        for part in section.parts:
            blocks = [_block(block, width) for block in part.blocks]
            parts += [f"\n{part.title}", "", "\n\n".join(filter(None, blocks))] if any(blocks) else []
    return "\n".join(line.rstrip() for line in "\n".join(parts).splitlines()) + "\n"


def _block(block: Block, width: int) -> str:
    if isinstance(block, TableBlock):
        return f"{_wrapped(block.caption, width)}\n{_grid(block, width)}"
    if isinstance(block, Notice):
        mark = {"good": "[ok]", "bad": "[!!]", "open": "[??]"}[block.kind]
        return _wrapped(f"{mark} {block.head} {block.text}", width)
    if isinstance(block, Figure):
        return "" if block.is_redundant else "\n\n".join(_block(one, width) for one in block.tables)
    if isinstance(block, Code):
        return textwrap.indent(block.text, "    ")
    return _wrapped(block.text, width)


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def _grid(block: TableBlock, width: int) -> str:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(block.columns):
        grid.add_column(Text(name), justify="left" if number in block.words else "right", overflow="fold")
    for line in block.lines:
        grid.add_row(*map(Text, line))
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(grid)
    return captured.get().strip("\n")
