"""Options from a TOML file, under their names on the command line."""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import Any

import typer

from stepnet.errors import InvalidInputError


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """The file's values become the defaults of the command: those at the top, then those of its own table.

    One file serves several commands: their tables, and their options at the top, are ignored here.
    """
    if path is None or context.resilient_parsing:
        return path
    content, command = _read(path), str(context.info_name)
    group: Any = context.parent.command if context.parent is not None else context.command
    options = {name: _options(one) for name, one in getattr(group, "commands", {command: context.command}).items()}
    own = content.pop(command, {})
    if not isinstance(own, dict):
        raise InvalidInputError(f"{path}: {command} must be a table, [{command}].")
    for name in own:
        _require(path, name, f"the command {command}", options[command])
    shared = {name: value for name, value in content.items() if name not in options}
    for name in shared:
        _require(path, name, "stepnet", {key: one for taken in options.values() for key, one in taken.items()})
    context.default_map = {
        str(parameter.name): _value(path, name, value, is_list=parameter.multiple)
        for name, value in (shared | own).items()
        if (parameter := options[command].get(_key(name))) is not None
    }
    return path


def _options(command: Any) -> dict[str, Any]:
    """By their names on the command line."""
    return {_key(name): one for one in command.params for name in one.opts if one.name not in ("config", "help")}


def _key(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def _require(path: Path, name: str, what: str, options: dict[str, Any]) -> None:
    if _key(name) not in options:
        close = difflib.get_close_matches(_key(name), options, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(sorted(options))}."
        raise InvalidInputError(f"{path}: {what} has no option {name!r}. {hint}")


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"cannot read --config {str(path)!r}: {error.strerror}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInputError(f"--config {str(path)!r} is not TOML ({error}).") from error


def _value(path: Path, name: str, value: Any, *, is_list: bool) -> Any:
    """As it is typed on the command line: hidden = [5, 5] is 5,5."""
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict | list) or (isinstance(item, float) and math.isnan(item)) for item in items):
        raise InvalidInputError(f"{path}: {name} must be text, a number, true or false, or a list of them.")
    if is_list:
        return [str(item) for item in items]
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, bool) else str(value)
