"""What commands print: text for people or one JSON object for programs; and the exit codes."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from stepnet.runtime.files import write_atomically

EXIT_FALSE = 1  # a claim is false, or a requested proof stays open
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


def say(text: str, content: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the text, or the content as JSON."""
    print(json.dumps(plain(content), allow_nan=False) if as_json else text, flush=True)


def complain(message: str) -> int:
    """Print one line on standard error; returns the exit code for bad input."""
    print(f"stepnet: {message}", file=sys.stderr)
    return EXIT_BAD_INPUT


def exit_if(is_interrupted: bool) -> None:
    if is_interrupted:
        sys.exit(EXIT_INTERRUPTED)


def write_rows(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file, whole or not at all."""
    write_atomically(path, csv_text(names, rows))


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Numbers are written so that they are read back unchanged."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def csv_of(answers: Any, name: str) -> str:
    """Predictions as CSV; several numbers per row become several columns."""
    rows = answers.reshape(len(answers), -1)
    return csv_text(columns_of(rows, name), rows.tolist())


def columns_of(answers: Any, name: str) -> list[str]:
    """The names of the columns of predictions (rows × numbers)."""
    n_columns = answers.shape[1]
    return [f"{name}{i}" for i in range(n_columns)] if n_columns > 1 else [name]


def plain(value: Any) -> Any:
    """Plain data for JSON; numbers that are not finite become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path | Fraction) else value
