"""How numbers and names are written, the same in every format of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence

UNDEFINED = "–"
_LONGEST = 200  # characters of a name


def number(value: float | None) -> str:
    """Four digits; a dash where there is no number."""
    if value is None or math.isnan(value):
        return UNDEFINED
    return "infinite" if math.isinf(value) else f"{value:.4g}"


def percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{100 * share:.1f} %"


def counted(count: int, noun: str) -> str:
    """A number with its noun: 1 row, 2 rows."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def storage(bits: int) -> str:
    """A number of bits in bytes, rounded up, or in kilobytes."""
    return counted(-(-bits // 8), "byte") if bits < 8000 else f"{bits / 8000:,.1f} kB"


def clean(name: object) -> str:
    """A name on one line, shortened, without characters that control a terminal or reverse the text."""
    return shortened("".join(letter if letter.isprintable() else "\ufffd" for letter in str(name)), _LONGEST)


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def shortened(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
