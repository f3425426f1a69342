"""Options written as in Python, such as (5, 5) or Integers(5): they are read, no code is run."""

from __future__ import annotations

import ast
from typing import Any

from stepnet.errors import InvalidInputError


def written(text: str) -> Any:
    """The value of numbers, text, tuples and objects of stepnet as they are written in Python; other text as it is."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
        return text if isinstance(node, ast.Name) else _value(node, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidInputError):
            raise
        return text


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(item, text) for item in node.elts)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _object(node.func.id, node, text)
    return ast.literal_eval(node)


def _object(name: str, node: ast.Call, text: str) -> Any:
    from stepnet.estimators.parameters import kinds

    known = kinds()
    if name not in known:
        raise InvalidInputError(f"{text}: {name} is not known; choose one of {', '.join(sorted(known))}.")
    given = [_value(item, text) for item in node.args]
    named = {str(item.arg): _value(item.value, text) for item in node.keywords}
    try:
        return known[name](*given, **named)
    except TypeError as error:
        raise InvalidInputError(f"{text}: {error}. Write it as in Python.") from error
