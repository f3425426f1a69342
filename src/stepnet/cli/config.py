"""Options from a TOML file, under the names that they have on the command line."""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import Any

import typer

from stepnet.errors import InvalidInputError


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """The file's values become the defaults of the command: those at the top, then those of its own table.

    A table of another command is left alone, so that one file serves several commands.
    """
    if path is None or context.resilient_parsing:
        return path
    content = _read(path)
    command = str(context.info_name)
    commands = set(context.parent.command.list_commands(context.parent))  # type: ignore[union-attr]
    own = content.get(command, {})
    if not isinstance(own, dict):
        raise InvalidInputError(f"{path}: {command} must be a table, [{command}].")
    shared = {name: value for name, value in content.items() if name not in commands}
    taken = {parameter.name: parameter for parameter in context.command.params if parameter.name}
    defaults = {}
    for name, value in (shared | own).items():
        key = name.replace("-", "_")
        if key not in taken or key == "config":
            close = difflib.get_close_matches(key, taken, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else f" It has {', '.join(sorted(set(taken) - {'config'}))}."
            raise InvalidInputError(f"{path}: the command {command} has no option {name!r}.{hint}")
        defaults[key] = _value(path, name, value, is_list=taken[key].multiple)
    context.default_map = defaults
    return path


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"cannot read --config {str(path)!r}: {error.strerror}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInputError(f"--config {str(path)!r} is not TOML ({error}).") from error


def _value(path: Path, name: str, value: Any, *, is_list: bool) -> Any:
    """As typed on the command line: a list of numbers such as hidden = [5, 5] is 5,5."""
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict | list) or (isinstance(item, float) and math.isnan(item)) for item in items):
        raise InvalidInputError(f"{path}: {name} must be text, a number, true or false, or a list of them.")
    if is_list:
        return [str(item) for item in items]
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, bool) else str(value)
