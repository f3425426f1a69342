"""The building blocks of a report: sections of paragraphs, notices, tables, figures and code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

_MOST_LINES = 500  # of a table

Kind = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Notice:
    """A verdict that must not be overlooked; ``head`` states it in a few words."""

    kind: Kind
    head: str
    text: str


@dataclass(frozen=True)
class TableBlock:
    """Cells as text; the first cell of a line is its heading. ``words`` are the columns that hold text, not numbers.

    ``shades``, if given, are numbers from 0 to 1 for all cells but the first of each line.
    """

    caption: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)
    shades: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Figure:
    """The key of a drawing, a sentence on what it shows, and its numbers as tables.

    ``is_redundant``: the surrounding text has the same numbers, so formats without drawings omit it.
    """

    key: str
    title: str
    description: str
    tables: tuple[TableBlock, ...]
    is_redundant: bool = False


@dataclass(frozen=True)
class Code:
    """Lines to copy and run."""

    title: str
    language: Literal["console", "python"]
    text: str


Block = Paragraph | Notice | TableBlock | Figure | Code
BLOCKS = get_args(Block)


@dataclass(frozen=True)
class Part:
    """Blocks under a heading."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    lead: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Card:
    """One number of the summary."""

    label: str
    value: str
    note: str
    kind: Kind | None = None


@dataclass(frozen=True)
class Document:
    title: str
    subtitle: str
    cards: tuple[Card, ...]
    notices: tuple[Notice, ...]
    sections: tuple[Section, ...]

    @property
    def summary(self) -> TableBlock:
        """The cards, for formats without drawings."""
        return table("Summary", ["what", "value", "note"], [(c.label, c.value, c.note) for c in self.cards], (0, 1, 2))


def table(
    caption: str, columns: Sequence[str], lines: Sequence[Sequence[str]], words: Sequence[int] = (0,)
) -> TableBlock:
    """A table block; of a very long table only the beginning, and the caption says so."""
    if len(lines) > _MOST_LINES:
        caption, lines = f"{caption} (the first {_MOST_LINES} of {len(lines):,})", lines[:_MOST_LINES]
    return TableBlock(caption, tuple(columns), tuple(map(tuple, lines)), tuple(words))
