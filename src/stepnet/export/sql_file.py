"""A fitted estimator as one SELECT that scores a table.

The first layer is computed in 64-bit floats. ``in_doubt`` says for every row whether one of its sums is so close to a
threshold that rounding may have put it on the other side:

    |w·x - t| <= (n + 16) 2^-53 (Σ |w_i x_i| + |t|) + 10^-300,

or where numbers are so large that sums might overflow. All other rows have the answer of ``predict``. With
``inputs="integers"`` the weights are scaled to integers and split in two parts whose sums are free of rounding: no row
of integers up to a stated size is in doubt. Layers above the first are sums over bits in integers, exact: numbers with
more than 40 bits are split into digits, and a sum of digits S_0 + 2^40 S_1 + ... is at least 0 exactly where
S_1 + floor(S_0 / 2^40) is, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.export.described import Described, describe, require_full
from stepnet.export.integers import Sums, digits, n_digits, over_bits, over_integers
from stepnet.export.sql_columns import after_operations, columns_of, feature
from stepnet.export.sql_text import Dialect, dialect_named, joined
from stepnet.model.network import Layer
from stepnet.tables.pipelines import unpacked

INPUTS = ("floats", "integers")
_DIGIT_BITS = 40  # sums of up to 8,000 such digits are exact
_SHARE = 2  # of sums of integers: high and low parts of weights
_TINY, _HUGE = 1e-300, 2.0**1000  # more than what underflow takes from a sum; less than what overflows


def to_sql(
    estimator: Any,
    *,
    dialect: str = "ansi",
    table: str = "data",
    keep: Sequence[str] = (),
    inputs: str = "floats",
    columns: str = "used",
) -> str:
    """The model as one SELECT: the columns to keep, ``prediction``, and ``in_doubt``.

    Parameters
    ----------
    estimator : fitted estimator
    dialect : "ansi", "sqlite", "duckdb", "postgres" or "bigquery"
    table : str
        The table, or a query in brackets, that has the columns of the model.
    keep : sequence of str
        Columns of the table that come first in the result, such as a key.
    inputs : "floats" or "integers"
        With integers, answers for rows of integers up to a stated size are exact; otherwise ``in_doubt`` marks rows
        that rounding may have put on the wrong side of a threshold.
    columns : "used" or "all"
        The features that the statement reads.

    Returns
    -------
    str
        Where a cell is missing, is no finite number or has text that did not occur in training, and the model has no
        rule for it, ``prediction`` and ``in_doubt`` are NULL.
    """
    if inputs not in INPUTS:
        raise InvalidInputError(f"inputs={inputs!r} is not known for SQL; choose floats or integers.")
    described, words = require_full(describe(estimator, columns), "SQL"), dialect_named(dialect)
    writer = _Writer(described, words, inputs, list(keep))
    return writer.statement(unpacked(estimator), table)


class _Writer:
    """The steps of a statement; each is a query over the one before."""

    def __init__(self, described: Described, dialect: Dialect, inputs: str, keep: list[str]) -> None:
        self.described, self.dialect, self.inputs, self.keep = described, dialect, inputs, keep
        self._require_names()
        self.kept = [f"k{i + 1}" for i in range(len(keep))]
        self.names = [f"f{i + 1}" for i in range(described.network.n_features)]
        self.largest = math.inf  # of integers, for which sums are exact

    def _require_names(self) -> None:
        """Columns of the result have different names, in upper or lower case."""
        names = [name.lower() for name in (*self.keep, "prediction", "in_doubt")]
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None:
            raise InvalidInputError(
                f"the result would have two columns {twice}; rename the one to keep in a query: "
                f"table='(SELECT {twice} AS given, ... FROM ...)'."
            )

    def _require_columns(self, n_columns: int) -> None:
        if n_columns > self.dialect.most_columns:
            raise InvalidInputError(
                f"the statement has a step with {n_columns:,} columns, and {self.dialect.name} takes "
                f"{self.dialect.most_columns:,}; train a smaller network, or export to C or ONNX."
            )

    def statement(self, estimator: Any, table: str) -> str:
        d, layers = self.dialect, self.described.network.layers
        prefix = "step_"
        while prefix in table.lower():  # a query that reads a table of its own name is refused
            prefix += "_"
        source = [f"{d.identifier(name)} AS {kept}" for name, kept in zip(self.keep, self.kept, strict=True)]
        pairs = zip(columns_of(estimator, self.described), self.names, strict=True)
        source += [f"{feature(d, column, place)} AS {name}" for (column, place), name in pairs]
        alias = " AS source" if table.lstrip().startswith("(") else ""
        steps = [(f"{prefix}features", source, table + alias)]
        if any(self.described.arithmetic):
            scaled = [after_operations(d, self.described, i, name) for i, name in enumerate(self.names)]
            steps.append((f"{prefix}scaled", [*self.kept, *_named(scaled, self.names)], steps[-1][0]))
        known, bits = joined([f"{name} IS NOT NULL" for name in self.names], "AND"), self.names
        for k, layer in enumerate(layers):
            found, doubt = self._layer(k, layer, bits)
            bits = [f"h{k + 1}_{j + 1}" for j in range(len(found))]
            own = [*_named(found, bits), *([f"{doubt} AS doubt"] if k == 0 else ["doubt"])]
            own += [f"({known}) AS known" if k == 0 else "known"]
            steps.append((f"{prefix}layer{k + 1}", [*self.kept, *own], steps[-1][0]))
        self._require_columns(max(len(items) for _, items, _ in steps))
        queries = [
            f"{name} {d.step} (\n  SELECT\n    {_listed(items, 4)}\n  FROM {origin}\n)" for name, items, origin in steps
        ]
        final = [f"{kept} AS {d.identifier(name)}" for name, kept in zip(self.keep, self.kept, strict=True)]
        final += [*self._answers(bits), "CASE WHEN known THEN doubt END AS in_doubt"]
        last = steps[-1][0]
        return f"{self._comment()}WITH {', '.join(queries)}\nSELECT\n  {_listed(final, 2)}\nFROM {last}\n"

    def _layer(self, k: int, layer: Layer, inputs: list[str]) -> tuple[list[str], str]:
        """Conditions as bits, or numbers; and whether rounding leaves one of them in doubt."""
        if layer.activation.gives_numbers:
            values = self.described.network.layers[k - 1].activation.values if k else None
            return [self._number(layer, j, inputs, values) for j in range(layer.width)], "FALSE"
        if k == 0:
            return self._first(layer)
        below = self.described.network.layers[k - 1]
        pairs = _conditions(layer, over_bits(layer, below.activation.values))
        return [self.dialect.bit(self._at_least(weights, end, inputs)) for weights, end in pairs], "FALSE"

    def _first(self, layer: Layer) -> tuple[list[str], str]:
        if self.inputs == "integers":
            sums = over_integers(layer)
            parts = [_Parts.of(weights, end) for weights, end in _conditions(layer, sums)]
            d, self.largest = self.dialect, float(min(part.largest for part in parts))
            found = [d.bit(part.condition(d, self.names)) for part in parts]
            limit = d.number(self.largest)
            return found, f"({joined([f'ABS({n}) > {limit} OR {d.has_fraction(n)}' for n in self.names], 'OR')})"
        number, pairs, share = self.dialect.number, _pairs(layer), (layer.n_inputs + 16) * 2.0**-53
        sizes, found, doubts = [f"ABS({name})" for name in self.names], [], []
        for weights, end in pairs:
            total = self._sum(weights, self.names)
            found.append(self.dialect.bit(f"{total} >= {number(end)}"))
            if weights.any():
                rest = number(share * abs(end) * (1 + 2.0**-50) + _TINY)
                size = self._sum(np.abs(weights), sizes)
                doubts.append(f"ABS({total} - {number(end)}) <= {number(share)} * {size} + {rest}")
        if not doubts:
            return found, "FALSE"
        heaviest = max(1.0, *(float(np.abs(weights).max()) for weights, _ in pairs))
        doubts.append(f"{joined(sizes, '+')} > {number(_HUGE / heaviest)}")
        return found, f"({joined(doubts, 'OR')})"

    def _sum(self, weights: Any, names: Sequence[str]) -> str:
        terms = [f"{self.dialect.number(float(w))} * {name}" for w, name in zip(weights, names, strict=True) if w]
        return f"({joined(terms, '+')})" if terms else self.dialect.number(0.0)

    def _at_least(self, weights: Sequence[int], end: int, inputs: Sequence[str]) -> str:
        """Σ weights · bits >= end, exact."""
        d = self.dialect
        count = n_digits(max(abs(number) for number in (*weights, end)), _DIGIT_BITS)
        columns = [digits(weight, _DIGIT_BITS, count) for weight in weights]
        ends = digits(end, _DIGIT_BITS, count)
        carry = ""
        for place in range(count):
            terms = [f"{d.whole(own[place])} * {n}" for own, n in zip(columns, inputs, strict=True) if own[place]]
            terms += [d.whole(-ends[place])] if ends[place] else []
            terms += [d.shifted(carry, _DIGIT_BITS)] if carry not in ("", d.whole(0)) else []
            carry = joined(terms, "+") or d.whole(0)
        return f"{carry} >= {d.whole(0)}"

    def _number(self, layer: Layer, j: int, inputs: Sequence[str], values: Sequence[float] | None) -> str:
        """A last layer of numbers, rounded."""
        weights, constant = layer.weights[j], -float(layer.thresholds[j])
        if values is not None:
            rises = np.diff(np.array(values))
            constant += float(values[0] * weights.sum())
            weights = np.repeat(weights, len(rises)) * np.tile(rises, layer.n_inputs)
        return f"{self._sum(weights, inputs)} + {self.dialect.number(constant)}"

    def _answers(self, bits: list[str]) -> list[str]:
        last, classes = self.described.network.layers[-1], self.described.classes
        if classes is None:
            labels = ["prediction"] if len(bits) == 1 else [f"prediction{j + 1}" for j in range(len(bits))]
            return [f"CASE WHEN known THEN {bit} END AS {label}" for bit, label in zip(bits, labels, strict=True)]
        names = [self._class(one) for one in classes.tolist()]
        if last.activation.is_compared:
            wins = _winners(last.width, bits)
            cases = [f"WHEN {won} THEN {name}" for won, name in zip(wins[:-1], names, strict=False)]
            return [f"CASE WHEN NOT known THEN NULL {' '.join(cases)} ELSE {names[-1]} END AS prediction"]
        cases = [f"WHEN {bit} = 1 THEN {name}" for bit, name in zip(reversed(bits), reversed(names[1:]), strict=True)]
        return [f"CASE WHEN NOT known THEN NULL {' '.join(cases)} ELSE {names[0]} END AS prediction"]

    def _class(self, value: Any) -> str:
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return self.dialect.literal(value)
        return str(value) if isinstance(value, int) else self.dialect.number(float(value))

    def _comment(self) -> str:
        lines = [f"{self.described.title}, as SQL ({self.dialect.name})."]
        lines += [self.described.selection] if self.described.selection else []
        if self.inputs == "integers":
            lines.append(f"Exact for rows of integers up to {int(self.largest):,} in size; others are in doubt.")
        elif self.described.network.layers[0].activation.gives_numbers:
            lines.append("Sums are rounded: they may differ from those of predict in the last digits.")
        else:
            n_terms = self.described.network.layers[0].n_inputs + 16
            lines.append(
                f"Rows that are not in_doubt have the answers of predict; in doubt are sums w·x that are closer to a "
                f"threshold t than {n_terms * 2.0**-53:.2g} * (sum of |w x| + |t|)."
            )
        lines += self.described.certified()
        return "".join(f"-- {' '.join(line.split())}\n" for line in lines)


class _Parts:
    """Σ W_i x_i >= T for integers, with W split so that both sums of parts are exact in 64-bit floats."""

    def __init__(self, high: list[int], low: list[int], ends: tuple[int, int], power: int) -> None:
        self.high, self.low, self.ends, self.power = high, low, ends, power

    @classmethod
    def of(cls, weights: Sequence[int], end: int) -> _Parts:
        power = max(1, -(-max((abs(weight).bit_length() for weight in (*weights, end)), default=1) // _SHARE))
        pairs = [_two(weight, power) for weight in weights]
        low_end, high_end = _two(end, power)
        return cls([high for _, high in pairs], [low for low, _ in pairs], (high_end, low_end), power)

    @property
    def largest(self) -> int:
        """The largest integers for which both sums stay below 2^53."""
        sizes = [(sum(map(abs, part)), abs(end)) for part, end in ((self.high, self.ends[0]), (self.low, self.ends[1]))]
        found = min((2**52 - end) // max(size, 1) for size, end in sizes)
        if found < 1:
            raise InvalidInputError(
                "the weights of this network have too many digits for exact sums in SQL; use inputs='floats', or train "
                "with weights=Integers(...)."
            )
        return min(found, 2**31)

    def condition(self, dialect: Dialect, names: Sequence[str]) -> str:
        """2^p A + B >= 0 as A >= -B / 2^p: two exact numbers, compared."""
        sums = []
        for part, end in ((self.high, self.ends[0]), (self.low, self.ends[1])):
            terms = [f"{dialect.number(w)} * {name}" for w, name in zip(part, names, strict=True) if w]
            sums.append(joined([*terms, dialect.number(-end)], "+"))
        return f"({sums[0]}) >= -({sums[1]}) / {dialect.number(2**self.power)}"


def _two(value: int, power: int) -> list[int]:
    """Low and high part."""
    high = (value + (1 << (power - 1))) >> power
    return [value - (high << power), high]


def _pairs(layer: Layer) -> list[tuple[Any, float]]:
    """Weights and threshold of every condition of a layer of floats."""
    ends = layer.thresholds.reshape(layer.width, -1)
    if not layer.activation.is_compared:
        return [(weights, float(end)) for weights, own in zip(layer.weights, ends, strict=True) for end in own]
    found = []
    for a in range(layer.width):
        for b in range(a + 1, layer.width):
            weights = layer.weights[a] - layer.weights[b]
            exact = all(
                Fraction(x) - Fraction(y) == Fraction(d)
                for x, y, d in zip(layer.weights[a].tolist(), layer.weights[b].tolist(), weights.tolist(), strict=True)
            )
            if not exact or Fraction(float(ends[a, 0])) - Fraction(float(ends[b, 0])) != Fraction(
                float(ends[a, 0] - ends[b, 0])
            ):
                raise InvalidInputError(
                    "without a hidden layer, several classes are compared by differences of weights, which are rounded "
                    "here; use inputs='integers', or a network with a hidden layer."
                )
            found.append((weights, float(ends[a, 0] - ends[b, 0])))
    return found


def _conditions(layer: Layer, sums: Sums) -> list[tuple[list[int], int]]:
    """Integer weights and the number that their sum must reach; for an argmax, of a over b for all a < b."""
    if not layer.activation.is_compared:
        return [(weights, end) for weights, ends in zip(sums.weights, sums.thresholds, strict=True) for end in ends]
    rows, ends, factor = sums.weights, [own[0] for own in sums.thresholds], sums.factor
    return [
        ([factor * (x - y) for x, y in zip(rows[a], rows[b], strict=True)], ends[a] - ends[b])
        for a in range(len(rows))
        for b in range(a + 1, len(rows))
    ]


def _winners(width: int, bits: Sequence[str]) -> list[str]:
    """For every class the condition that it wins, from the bits of all pairs a < b, on where a is at least b."""
    of = dict(zip(((a, b) for a in range(width) for b in range(a + 1, width)), bits, strict=True))
    return [
        " AND ".join([*(f"{of[c, b]} = 1" for b in range(c + 1, width)), *(f"{of[a, c]} = 0" for a in range(c))])
        for c in range(width)
    ]


def _named(expressions: Sequence[str], names: Sequence[str]) -> list[str]:
    return [f"{expression} AS {name}" for expression, name in zip(expressions, names, strict=True)]


def _listed(items: Sequence[str], indent: int) -> str:
    return (",\n" + " " * indent).join(items)
