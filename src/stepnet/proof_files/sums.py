"""Sums: constraints Σ coefficient · bit >= degree, and steps to a contradiction, in the format of VeriPB.

A step adds constraints, multiplies them by positive integers, divides and rounds up, or cuts coefficients to the degree
(saturation). Each of these keeps every solution in bits. All of it is in Python's integers.

    pseudo-Boolean proof version 1.1
    rup >= 0 ;             number 1: what needs no proof
    l 1                    number 2: the first given constraint; and so on
    pol 2 3 + x4 2 * + 3 d s
    c 17                   constraint number 17 has no solution

After ``pol`` comes a calculation in reverse Polish notation: a number stands for an earlier constraint, x4 for x4 >= 0
and ~x4 for 1 - x4 >= 0, ``*`` multiplies by the number before it, ``d`` divides by it, and ``s`` saturates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stepnet.proof_files.question import CheckError, Question

HEADER, NOTHING = "pseudo-Boolean proof version 1.1", "rup >= 0 ;"
_EARLIER = re.compile(r"(?<![\w~])(\d+)(?!\d)(?!\s+[*d](?:\s|$))")  # numbers of constraints in a calculation
_OFTEN = 100  # steps between two checks of the clock


class Sum(NamedTuple):
    """Σ coefficient · x_v >= bound over some variables v, with coefficients of both signs."""

    coefficients: dict[int, int]
    bound: int

    @classmethod
    def of_literals(cls, terms: Sequence[tuple[int, int]], degree: int) -> Sum:
        """Of terms coefficient · literal; the literal -v is 1 - x_v."""
        return cls(
            {abs(literal): value if literal > 0 else -value for value, literal in terms if value},
            degree - sum(value for value, literal in terms if literal < 0),
        )

    @property
    def degree(self) -> int:
        """What literals with positive coefficients must add up to."""
        return self.bound - sum(value for value in self.coefficients.values() if value < 0)

    @property
    def is_contradiction(self) -> bool:
        return self.degree > sum(map(abs, self.coefficients.values()))

    def saturated(self) -> Sum:
        """With coefficients of at most the degree."""
        degree = max(0, self.degree)
        cut = {v: max(-degree, min(degree, value)) for v, value in self.coefficients.items()} if degree else {}
        return Sum.of_degree(cut, degree)

    def divided(self, divisor: int) -> Sum:
        """Divided, and rounded up in absolute values."""
        up = {v: -(-value // divisor) if value > 0 else value // divisor for v, value in self.coefficients.items()}
        return Sum.of_degree(up, -(-self.degree // divisor))

    @classmethod
    def of_degree(cls, coefficients: dict[int, int], degree: int) -> Sum:
        return cls(coefficients, degree + sum(value for value in coefficients.values() if value < 0))

    def __str__(self) -> str:
        """In the format OPB."""
        terms = (f"+{abs(value)} {'~' * (value < 0)}x{v} " for v, value in self.coefficients.items())
        return f"{''.join(terms)}>= {self.degree} ;"


def given_sums(question: Question, subsystems: Sequence[Sequence[int]]) -> list[Sum]:
    """What a neuron that answers a question meets; x_1, x_2, ... say that rows 0, 1, ... are misclassified.

    The misclassified rows weigh at most the limit, they meet the limits on errors, and some row of every subsystem is
    one of them.
    """
    limits = [(question.weights, question.limit), *((one.coefficients, one.most) for one in question.limits)]
    sums = [
        Sum.of_literals([(value, -1 - row) for row, value in enumerate(costs)], sum(costs) - most)
        for costs, most in limits
    ]
    return sums + [Sum.of_literals([(1, 1 + row) for row in rows], 1) for rows in subsystems]


def opb_text(sums: Sequence[Sum], n_variables: int) -> str:
    lines = [f"* #variable= {n_variables} #constraint= {len(sums)}", *map(str, sums)]
    return "\n".join(lines) + "\n"


def earlier(line: str) -> list[int]:
    """The constraints that a calculation uses."""
    return list(map(int, _EARLIER.findall(line)))


def renumbered(line: str, numbers: dict[int, int]) -> str:
    return _EARLIER.sub(lambda found: str(numbers[int(found[1])]), line)


def check_steps(
    given: Sequence[Sum],
    lines: Sequence[str],
    should_stop: Callable[[], bool] = lambda: False,
    tell: Callable[[float], None] = lambda share: None,
) -> int:
    """Check that steps lead from given constraints to one without a solution; how many calculations there are.

    Raises CheckError if they do not, and TimeoutError if the time is up.
    """
    n_given, n_steps = len(given), len(lines) - len(given) - 3
    loads = [f"l {number}" for number in range(1, n_given + 1)]
    if n_steps < 0 or lines[: n_given + 2] != [HEADER, NOTHING, *loads] or not lines[-1].startswith("c "):
        raise CheckError("the steps do not begin with all given constraints, or do not end with a contradiction")
    steps, known = lines[n_given + 2 : -1], {1: Sum({}, 0), **dict(enumerate(given, 2))}
    uses = [earlier(line) for line in steps]
    last_use = {number: place for place, used in enumerate(uses) for number in used}
    last = int(lines[-1].removeprefix("c "))
    for place, (line, used) in enumerate(zip(steps, uses, strict=True)):
        if place % _OFTEN == 0:
            tell(place / n_steps)
            if should_stop():
                raise TimeoutError
        number = n_given + 2 + place
        result = _result(line, known)
        if number in last_use or number == last:
            known[number] = result
        for one in used:
            if last_use[one] == place and one != last:
                known.pop(one, None)
    if last not in known or not known[last].is_contradiction:
        raise CheckError(f"constraint {last} is no contradiction")
    return n_steps


def _result(line: str, known: dict[int, Sum]) -> Sum:
    """The result of a calculation; raises CheckError if it is none."""
    command, *tokens = line.split()
    stack: list[Sum | int] = []  # integers are numbers, or constraints that were not looked up yet

    def top() -> Sum:
        one = stack.pop()
        return known[one] if isinstance(one, int) else one

    def number() -> int:
        value = stack.pop()
        if not isinstance(value, int) or value <= 0:
            raise CheckError(f"{line[:60]!r}: a factor or divisor is not a positive number")
        return value

    try:
        for token in tokens:
            if token == "+":
                stack.append(_added(top(), top()))
            elif token == "*":
                factor, one = number(), top()
                stack.append(Sum({v: value * factor for v, value in one.coefficients.items()}, one.bound * factor))
            elif token == "d":
                divisor = number()
                stack.append(top().divided(divisor))
            elif token == "s":
                stack.append(top().saturated())
            elif token[0] in "x~":
                v = int(token.removeprefix("~").removeprefix("x"))
                stack.append(Sum({v: 1}, 0) if token[0] == "x" else Sum({v: -1}, -1))
            else:
                stack.append(int(token))
        result = top()
    except (KeyError, IndexError, ValueError) as error:
        raise CheckError(f"{line[:60]!r} is no calculation with earlier constraints: {error}") from error
    if command != "pol" or stack:
        raise CheckError(f"{line[:60]!r} is no calculation")
    return result


def _added(one: Sum, other: Sum) -> Sum:
    """The sum; terms that cancel out vanish."""
    if len(one.coefficients) > len(other.coefficients):
        one, other = other, one
    total = other.coefficients.copy()
    for v, value in one.coefficients.items():
        new = total.get(v, 0) + value
        if new:
            total[v] = new
        else:
            del total[v]
    return Sum(total, one.bound + other.bound)
