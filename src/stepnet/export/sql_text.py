"""Dialects of SQL: names, numbers, text, and the few functions that differ."""

from __future__ import annotations

from dataclasses import dataclass

from stepnet.errors import InvalidInputError


@dataclass(frozen=True)
class Dialect:
    """How one database writes what all of them can do."""

    name: str
    double: str  # the type of 64-bit floats
    text: str  # the type of text
    quote: str = '"'
    backslashes: bool = False  # whether they are special in text

    def identifier(self, name: str) -> str:
        if "\0" in name or not name:
            raise InvalidInputError(f"the column {name!r} cannot be named in SQL; rename it.")
        if self.backslashes:
            return self.quote + name.replace("\\", "\\\\").replace(self.quote, "\\" + self.quote) + self.quote
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def literal(self, text: str) -> str:
        if "\0" in text:
            raise InvalidInputError(f"the text {text!r} cannot be written in SQL; replace it.")
        if self.backslashes:
            escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
            return f"'{escaped}'"
        return "'" + text.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """A 64-bit float: with an exponent, since without one some databases read a decimal."""
        return f"{value:.17e}" if value != int(value) or abs(value) >= 2**53 else f"{int(value)}e0"

    def whole(self, value: int) -> str:
        """An integer of up to 53 bits, as what sums of floats are compared with."""
        return f"{value}e0"

    def as_double(self, expression: str) -> str:
        return f"CAST({expression} AS {self.double})"

    def as_text(self, expression: str) -> str:
        return f"TRIM(CAST({expression} AS {self.text}))"

    def floor(self, expression: str, power: int) -> str:
        """The floor of an integer divided by a power of two; integers are floats in all databases but SQLite."""
        if self.name == "sqlite":  # it may have no FLOOR, but shifts with their sign
            return f"(CAST({expression} AS INTEGER) >> {power})"
        return f"FLOOR(({expression}) / {2**power}e0)"


DIALECTS = {
    one.name: one
    for one in (
        Dialect("ansi", "DOUBLE PRECISION", "VARCHAR(1000)"),
        Dialect("sqlite", "REAL", "TEXT"),
        Dialect("duckdb", "DOUBLE", "VARCHAR"),
        Dialect("postgres", "DOUBLE PRECISION", "TEXT"),
        Dialect("bigquery", "FLOAT64", "STRING", "`", backslashes=True),
    )
}


def dialect_named(name: str) -> Dialect:
    if name not in DIALECTS:
        raise InvalidInputError(f"dialect={name!r} is not known; choose one of {', '.join(DIALECTS)}.")
    return DIALECTS[name]
