"""Table: lines of text under a head, as Markdown, LaTeX or for a page."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

# What our tables contain and LaTeX wants otherwise.
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
    """``rules`` are the numbers of the lines that a rule stands above."""

    key: str
    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    rules: tuple[int, ...] = ()

    def markdown(self) -> str:
        dashes = [":--", *["--:"] * (len(self.head) - 1)]
        body = "\n".join(_bar(line) for line in (self.head, tuple(dashes), *self.lines))
        return "\n\n".join([f"### {self.title}", body, *(f"- {note}" for note in self.notes)]).replace("\n\n- ", "\n- ")

    def csv(self) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.head, *self.lines])
        return text.getvalue()

    def latex(self) -> str:
        """A table of the package booktabs."""
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


def _bar(line: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in line)} |"


def _row(line: tuple[str, ...]) -> str:
    return " & ".join(map(_escaped, line)) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
