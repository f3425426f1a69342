"""ResultTable: lines of text under a head, as Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Characters of our tables that LaTeX needs escaped.
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "₀": "$_0$",
    "₁": "$_1$",
    "–": "--",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\ge$",
    "ℓ": r"$\ell$",
    "∞": r"$\infty$",
}


@dataclass(frozen=True)
class ResultTable:
    """``is_grouped``: lines with the same second cell form a group, with a rule above the next."""

    key: str
    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    is_grouped: bool = False

    @classmethod
    def of(
        cls,
        key: str,
        title: str,
        lines: Sequence[Sequence[tuple[str, str]]],
        notes: Iterable[str] = (),
        *,
        is_grouped: bool = False,
    ) -> ResultTable:
        """From lines of (head, cell) pairs."""
        head = tuple(name for name, _ in lines[0]) if lines else ()
        cells = tuple(tuple(cell for _, cell in line) for line in lines)
        return cls(key, title, head, cells, tuple(notes), is_grouped)

    @property
    def rules(self) -> list[int]:
        """The numbers of the lines with a rule above them."""
        numbers = range(1, len(self.lines)) if self.is_grouped else ()
        return [number for number in numbers if self.lines[number][1] != self.lines[number - 1][1]]

    def markdown(self) -> str:
        dashes = [":--", *["--:"] * (len(self.head) - 1)]
        body = "\n".join(_bar(line) for line in (self.head, tuple(dashes), *self.lines))
        return "\n\n".join([f"### {self.title}", body, *(f"- {note}" for note in self.notes)]).replace("\n\n- ", "\n- ")

    def csv(self) -> str:
        return csv_text([self.head, *self.lines])

    def latex(self) -> str:
        """A table for the package booktabs."""
        body = []
        for number, line in enumerate(self.lines):
            if number in self.rules:
                body.append(r"\midrule")
            body.append(_row(line))
        notes = " ".join(f"{_escaped(note)}." for note in self.notes)
        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{_escaped(self.title)}. {notes}}}".replace(". }", ".}"),
                rf"\label{{tbl:{self.key}}}",
                r"\centering",
                rf"\begin{{tabular}}{{l{'r' * (len(self.head) - 1)}}}",
                r"\toprule",
                _row(self.head),
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )


def csv_text(lines: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _bar(line: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in line)} |"


def _row(line: tuple[str, ...]) -> str:
    return " & ".join(map(_escaped, line)) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
