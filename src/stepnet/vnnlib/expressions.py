"""The text of a VNN-LIB file as nested lists of words."""

from __future__ import annotations

import re
from typing import Any

from stepnet.errors import InvalidInputError

_TOKENS = re.compile(r";[^\n]*|[()]|[^\s();]+")
_DEEPEST = 200


def expressions(text: str) -> list[Any]:
    """The expressions of a file, each a word or a list of expressions; comments begin with a semicolon."""
    stack: list[list[Any]] = [[]]
    for found in _TOKENS.finditer(text):
        token = found.group()
        if token.startswith(";"):
            continue
        if token == "(":
            stack.append([])
            if len(stack) > _DEEPEST:
                raise InvalidInputError(f"line {_line(text, found.start())}: more than {_DEEPEST} open parentheses")
        elif token == ")":
            if len(stack) == 1:
                raise InvalidInputError(f"line {_line(text, found.start())}: a parenthesis is closed, none is open")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) > 1:
        raise InvalidInputError(f"{len(stack) - 1} parentheses are still open at its end")
    return stack[0]


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def written(expression: Any, most: int = 60) -> str:
    """As in the file, shortened."""
    text = expression if isinstance(expression, str) else f"({' '.join(written(one) for one in expression)})"
    return text if len(text) <= most else text[: most - 3] + "..."
