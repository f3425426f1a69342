"""What a report is made of for a reader: sections of paragraphs, tables, figures, code and alarms."""

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
    """A verdict that must not be overlooked: its first words say which."""

    kind: Kind
    head: str
    text: str


@dataclass(frozen=True)
class TableBlock:
    """Cells as text; the first column heads its line. ``words`` are the columns that are no numbers.

    ``shades`` are numbers from 0 to 1 for the cells after the first, where they are to be shaded.
    """

    caption: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)
    shades: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Figure:
    """A drawing by its key, what it shows in a sentence, and the same as tables.

    ``is_told`` says that the text around it has the numbers already, so that faces without drawings leave it out.
    """

    key: str
    title: str
    description: str
    tables: tuple[TableBlock, ...]
    is_told: bool = False


@dataclass(frozen=True)
class Code:
    """Lines to type."""

    title: str
    language: Literal["console", "python"]
    text: str


Block = Paragraph | Notice | TableBlock | Figure | Code
BLOCKS = get_args(Block)


@dataclass(frozen=True)
class Part:
    """Some blocks under a heading of their own."""

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
        """The cards, for faces without drawings."""
        return table("Summary", ["what", "value", "note"], [(c.label, c.value, c.note) for c in self.cards], (0, 1, 2))


def table(
    caption: str, columns: Sequence[str], lines: Sequence[Sequence[str]], words: Sequence[int] = (0,)
) -> TableBlock:
    """Of a very long table the beginning, and the caption says so."""
    if len(lines) > _MOST_LINES:
        caption, lines = f"{caption} (the first {_MOST_LINES} of {len(lines):,})", lines[:_MOST_LINES]
    return TableBlock(caption, tuple(columns), tuple(map(tuple, lines)), tuple(words))
