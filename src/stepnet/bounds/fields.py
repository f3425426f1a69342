"""Values for the fields of a dataclass from a file, checked."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from stepnet.errors import ModelFileError

_TYPES: dict[str, Any] = {"int": int, "float": int | float, "float | None": int | float | None, "bool": bool}
_TYPES["tuple[Statement, ...]"] = list


def checked_fields(kind: type, data: Any, what: str) -> dict[str, Any]:
    """The values of all fields; fields that are objects themselves are left to their class.

    Raises
    ------
    ModelFileError
        If fields are missing, unknown or of another type.
    """
    names = {field.name: str(field.type) for field in fields(kind)}
    if not isinstance(data, dict) or set(data) != set(names):
        raise ModelFileError(f"{what} is damaged: it lacks fields or has unknown ones: {str(data)[:80]}")
    for name, type_name in names.items():
        wanted, value = _TYPES.get(type_name, str), data[name]
        is_right = isinstance(value, wanted) and (type_name == "bool" or not isinstance(value, bool))
        if not is_right and type_name not in ("Scope", "Evidence"):
            raise ModelFileError(f"{what} is damaged: {name} is {value!r}")
    return dict(data)
