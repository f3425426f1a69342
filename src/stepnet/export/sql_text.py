"""Dialects of SQL: names, numbers, text, and the few functions that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stepnet.errors import InvalidInputError

_MOST_TERMS = 64  # side by side; parsers nest them, and some allow a depth of 1,000 only


@dataclass(frozen=True)
class Dialect:
    """How one database writes what all of them can do."""

    name: str
    double: str  # the type of 64-bit floats
    text: str  # the type of text
    integer: str = ""  # the type of 64-bit integers with shifts that keep the sign; "" if floats take their place
    quote: str = '"'
    backslashes: bool = False  # whether they are special in text
    is_typed: bool = False  # whether a literal needs its type to be a float
    step: str = "AS"  # how a step is introduced; some databases would compute what they inline many times
    most_columns: int = 10_000  # of a result

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
        written = f"{value:.17e}" if value != int(value) or abs(value) >= 2**53 else f"{int(value)}e0"
        return f"{self.double} '{written}'" if self.is_typed else written

    def whole(self, value: int) -> str:
        """An integer of up to 53 bits, as what sums over bits consist of."""
        return str(value) if self.integer else self.number(value)

    def bit(self, condition: str) -> str:
        one, zero = (f"{self.integer} '1'", f"{self.integer} '0'") if self.is_typed else ("1", "0")
        return f"CASE WHEN {condition} THEN {one} ELSE {zero} END"

    def finite(self, cell: str) -> str:
        """A cell as a float; NULL if it is infinite, or no number."""
        number = f"CAST({cell} AS {self.double})"
        condition = f"ABS({number}) < {self.number(1e308)}"
        if self.name == "sqlite":  # it casts any text to a number; a comparison tells whether it is written as one
            condition = f"{cell} = {number} AND {condition}"
        return f"CASE WHEN {condition} THEN {number} END"

    def as_text(self, expression: str) -> str:
        return f"TRIM(CAST({expression} AS {self.text}))"

    def shifted(self, expression: str, power: int) -> str:
        """The floor of a sum over bits divided by a power of two."""
        if self.integer:
            return f"(CAST({expression} AS {self.integer}) >> {power})"
        return f"FLOOR(({expression}) / {self.number(2**power)})"

    def has_fraction(self, number: str) -> str:
        """Whether a float is no integer."""
        if self.name == "sqlite":  # it may have no FLOOR
            return f"{number} <> CAST({number} AS {self.integer})"
        return f"{number} <> FLOOR({number})"


DIALECTS = {
    one.name: one
    for one in (
        Dialect("ansi", "DOUBLE PRECISION", "VARCHAR(1000)"),
        Dialect("sqlite", "REAL", "TEXT", "INTEGER", step="AS MATERIALIZED", most_columns=2000),
        Dialect("duckdb", "DOUBLE", "VARCHAR"),
        Dialect("postgres", "FLOAT8", "TEXT", "BIGINT", is_typed=True, step="AS MATERIALIZED", most_columns=1600),
        Dialect("bigquery", "FLOAT64", "STRING", quote="`", backslashes=True),
    )
}


def dialect_named(name: str) -> Dialect:
    if name not in DIALECTS:
        raise InvalidInputError(f"dialect={name!r} is not known; choose one of {', '.join(DIALECTS)}.")
    return DIALECTS[name]


def joined(terms: Sequence[str], operator: str) -> str:
    """Terms with an operator between them, many of them in brackets."""
    while len(terms) > _MOST_TERMS:
        starts = range(0, len(terms), _MOST_TERMS)
        terms = [f"({f' {operator} '.join(terms[start : start + _MOST_TERMS])})" for start in starts]
    return f" {operator} ".join(terms)
