"""Sheet: a scorecard as a document: the points of its rules, and what each total means. All formats show the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats
from stepnet.model.binomial import clopper_pearson
from stepnet.scores.card import Card, number

_NOTHING = "–"
_LEAST = 0.0005  # probabilities closer to 0 and 1 are not written as such


@dataclass(frozen=True)
class SheetTable:
    """Cells as text; the columns in ``words`` hold text, the others numbers; ``marked`` lines stand out."""

    caption: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)
    marked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """The title, a table of rules and a table of totals, and a sentence on each."""

    title: str
    verdict: str
    tables: tuple[SheetTable, ...]
    note: str


@dataclass(frozen=True)
class Counts:
    """The training rows of each total: all of them, and those of the second class."""

    rows: dict[int, tuple[int, int]]

    @classmethod
    def of(cls, totals: NDArray[np.int64], on: NDArray[np.bool_]) -> Counts:
        found = {}
        for total in np.unique(totals).tolist():
            own = totals == total
            found[int(total)] = int(own.sum()), int((own & on).sum())
        return cls(found)

    def to_list(self) -> list[list[int]]:
        return [[total, rows, on] for total, (rows, on) in sorted(self.rows.items())]

    @classmethod
    def from_list(cls, data: Sequence[Sequence[int]]) -> Counts:
        return cls({int(total): (int(rows), int(on)) for total, rows, on in data})


def sheet_of(
    card: Card,
    names: Sequence[str],
    classes: tuple[str, str],
    counts: Counts,
    probabilities: Callable[[NDArray[np.int64]], Floats] | None,
    confidence: float = 0.95,
) -> Sheet:
    """The sheet of a card.

    ``probabilities`` are those of the second class by total; the intervals are those of the observed shares.
    """
    off, on = classes
    totals = np.array(attainable(card), dtype=np.int64)
    chances = None if probabilities is None else probabilities(totals)
    lines = []
    for place, total in enumerate(totals.tolist()):
        n_rows, n_on = counts.rows.get(total, (0, 0))
        share = f"{100 * n_on / n_rows:.1f} %" if n_rows else _NOTHING
        low, high = clopper_pearson(n_on, n_rows, confidence) if n_rows else (0.0, 1.0)
        chance = _NOTHING if chances is None else _chance(float(chances[place]))
        answer = on if total >= card.threshold else off
        interval = f"{100 * low:.1f} to {100 * high:.1f} %"
        lines.append((str(total), answer, chance, str(n_rows), share, interval))
    marked = tuple(place for place, total in enumerate(totals.tolist()) if total >= card.threshold)
    rules = SheetTable(
        "Points",
        ("rule", "points"),
        (*((rule.words(names), f"+{rule.points}") for rule in card.rules), ("largest total", str(card.most))),
    )
    meaning = SheetTable(
        "What a total means",
        ("total", "answer", f"probability of {on}", "rows", f"share of {on}", f"{100 * confidence:g} % interval"),
        tuple(lines),
        words=(1,),
        marked=marked,
    )
    return Sheet(f"Score for {on}", _verdict(card, off, on), (rules, meaning), _note(on))


def _chance(share: float) -> str:
    """No probability is 0 or 1."""
    if share < _LEAST:
        return "< 0.1 %"
    return "> 99.9 %" if share > 1 - _LEAST else f"{100 * share:.1f} %"


def attainable(card: Card) -> list[int]:
    """All totals that some rules give together."""
    totals = {0}
    for rule in card.rules:
        totals |= {total + rule.points for total in totals}
    return sorted(totals)


def _verdict(card: Card, off: str, on: str) -> str:
    if card.threshold <= 0 or card.threshold > card.most:
        return f"The answer is always {on if card.threshold <= 0 else off}."
    points = "1 point" if card.threshold == 1 else f"{number(card.threshold)} points"
    return f"Add up the points of the rules that hold. From {points} on the answer is {on}, below it is {off}."


def _note(on: str) -> str:
    return (
        f"Rows, shares and intervals are those of the training rows; an interval is exact (Clopper-Pearson) for rows "
        f"that had no part in choosing the rules. The probability of {on} is the calibrated one."
    )
