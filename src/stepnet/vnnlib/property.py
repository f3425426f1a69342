"""Property: sets of inputs and what is asked of their outputs, read from VNN-LIB.

A property is a disjunction of cases. A case is a box of inputs and a conjunction of linear inequalities of the outputs,

    low <= X <= high,   sum of c_i Y_i <= b   for each of its rows (c, b).

All numbers are rational, as they are written in the file.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from stepnet.errors import InvalidInputError
from stepnet.vnnlib.expressions import expressions, written

Terms = dict[str, Fraction]  # factors by name; "" is the constant
Row = tuple[dict[int, Fraction], Fraction]  # factors of the outputs, and the bound of their sum

_NAME = re.compile(r"([XY])_(\d+)")
_MOST_CASES = 10_000
_OPERATORS = ("<=", ">=")


@dataclass(frozen=True)
class Case:
    """A box of inputs, and rows of inequalities that the outputs must all satisfy."""

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Property:
    """What is asked: an input in the box of some case whose outputs satisfy the rows of that case."""

    n_inputs: int
    n_outputs: int
    cases: tuple[Case, ...]

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Property:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidInputError(f"cannot read the property {str(path)!r}: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"the property {str(path)!r} is not a text file.") from error
        try:
            return cls.from_text(text)
        except InvalidInputError as error:
            raise InvalidInputError(f"the property {str(path)!r} cannot be read: {error}.") from error

    @classmethod
    def from_text(cls, text: str) -> Property:
        names: set[str] = set()
        found: list[list[Terms]] = [[]]  # cases, each a list of sums that must not be positive
        for one in expressions(text):
            command = one[0] if isinstance(one, list) and one else None
            if command == "declare-const" and len(one) == 3 and isinstance(one[1], str) and _NAME.fullmatch(one[1]):
                names.add(one[1])
            elif command == "assert" and len(one) == 2:
                found = _both([found, _cases(one[1], names)])
            elif command not in ("set-logic", "set-info", "check-sat", "exit"):
                raise InvalidInputError(f"{written(one)} is neither a declaration of X_i or Y_i nor an assertion")
        n_inputs, n_outputs = (_count(names, kind) for kind in "XY")
        return cls(n_inputs, n_outputs, tuple(_case(terms, n_inputs) for terms in found))


def _count(names: set[str], kind: str) -> int:
    numbers = sorted(int(name[2:]) for name in names if name[0] == kind)
    if not numbers or numbers != list(range(len(numbers))):
        raise InvalidInputError(f"it must declare {kind}_0, {kind}_1, ... without gaps; it has {len(numbers)} of them")
    return len(numbers)


def _cases(formula: Any, names: set[str]) -> list[list[Terms]]:
    """The disjunctive normal form of a formula."""
    operator = formula[0] if isinstance(formula, list) and formula else None
    if operator == "and":
        return _both([_cases(one, names) for one in formula[1:]])
    if operator == "or":
        return [case for one in formula[1:] for case in _cases(one, names)]
    if operator in _OPERATORS and len(formula) == 3:
        left, right = (_terms(one, names) for one in formula[1:])
        larger, smaller = (right, left) if operator == "<=" else (left, right)
        return [[_sum(smaller, larger, -1)]]
    raise InvalidInputError(f"{written(formula)} is not and, or, <= or >=")


def _both(parts: list[list[list[Terms]]]) -> list[list[Terms]]:
    """All cases of a conjunction."""
    count = 1
    for part in parts:
        count *= len(part)
    if count > _MOST_CASES:
        raise InvalidInputError(f"it has {count} cases, and at most {_MOST_CASES} are read")
    return [[term for case in chosen for term in case] for chosen in product(*parts)]


def _terms(expression: Any, names: set[str]) -> Terms:
    if isinstance(expression, str):
        if _NAME.fullmatch(expression):
            if expression not in names:
                raise InvalidInputError(f"{expression} is not declared")
            return {expression: Fraction(1)}
        try:
            return {"": Fraction(expression)}
        except (ValueError, ZeroDivisionError) as error:
            raise InvalidInputError(f"{written(expression)} is neither a number nor X_i or Y_i") from error
    if not expression or expression[0] not in ("+", "-", "*"):
        raise InvalidInputError(f"{written(expression)} is not a sum of X_i, Y_i and numbers")
    operator, *given = expression
    parts = [_terms(one, names) for one in given]
    if operator == "*":
        return _product(parts, expression)
    if operator == "-" and len(parts) == 1:
        return _sum({}, parts[0], -1)
    total = parts[0] if parts else {}
    for part in parts[1:]:
        total = _sum(total, part, 1 if operator == "+" else -1)
    return total


def _product(parts: list[Terms], expression: Any) -> Terms:
    factor, others = Fraction(1), []
    for part in parts:
        if set(part) <= {""}:
            factor *= part.get("", Fraction(0))
        else:
            others.append(part)
    if len(others) > 1:
        raise InvalidInputError(f"{written(expression)} is not linear")
    return {name: factor * value for name, value in (others[0] if others else {"": Fraction(1)}).items()}


def _sum(left: Terms, right: Terms, sign: int) -> Terms:
    total = dict(left)
    for name, value in right.items():
        total[name] = total.get(name, Fraction(0)) + sign * value
    return {name: value for name, value in total.items() if value}


def _case(terms: list[Terms], n_inputs: int) -> Case:
    low: list[Fraction | None] = [None] * n_inputs
    high: list[Fraction | None] = [None] * n_inputs
    rows: list[Row] = []
    for one in terms:
        constant, factors = one.get("", Fraction(0)), {name: value for name, value in one.items() if name}
        if all(name[0] == "Y" for name in factors):
            rows.append(({int(name[2:]): value for name, value in factors.items()}, -constant))
            continue
        if len(factors) > 1:
            raise InvalidInputError(f"an assertion joins {', '.join(factors)}; inputs must be bounded one by one")
        ((name, factor),) = factors.items()
        number, end = int(name[2:]), -constant / factor
        if factor > 0:
            high[number] = end if high[number] is None else min(end, high[number])  # type: ignore[type-var]
        else:
            low[number] = end if low[number] is None else max(end, low[number])  # type: ignore[type-var]
    for number in range(n_inputs):
        if low[number] is None or high[number] is None:
            raise InvalidInputError(f"X_{number} has no {'lower' if low[number] is None else 'upper'} bound")
    return Case(tuple(low), tuple(high), tuple(rows))  # type: ignore[arg-type]
