"""How numbers and names are written, the same in every face of a report."""

from __future__ import annotations

import math

UNDEFINED = "–"
_LONGEST = 200  # name


def number(value: float | None) -> str:
    """Four digits; nothing where there is no number."""
    if value is None or math.isnan(value):
        return UNDEFINED
    return "infinite" if math.isinf(value) else f"{value:.4g}"


def percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{100 * share:.1f} %"


def counted(count: int, noun: str) -> str:
    """With its noun: 1 row, 2 rows."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def storage(bits: int) -> str:
    """Bits in bytes, rounded up, or in kilobytes."""
    return counted(-(-bits // 8), "byte") if bits < 8000 else f"{bits / 8000:,.1f} kB"


def clean(name: object) -> str:
    """A name on one line, not endless, without characters that steer a terminal or turn the direction of the text."""
    return shortened("".join(letter if letter.isprintable() else "\ufffd" for letter in str(name)), _LONGEST)


def shortened(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
