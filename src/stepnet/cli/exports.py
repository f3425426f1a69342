"""The command ``export`` for models: files for other programs, and for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepnet.cli.inputs import check_order, check_writable, model_in, read
from stepnet.errors import InvalidInputError, StepnetError
from stepnet.tables.training import features_of

ENDINGS = {
    "c": ".c",
    "onnx": ".onnx",
    "json": "_network.json",
    "rules": ".txt",
    "sql": ".sql",
    "html": ".html",
    "tex": ".tex",
    "markdown": ".md",
}


class DifferingAnswersError(StepnetError, RuntimeError):
    """An exported file does not predict the same as the model."""


@dataclass(frozen=True)
class Statement:
    """What ``--to sql`` is told."""

    dialect: str = "ansi"
    table: str = "data"
    keep: tuple[str, ...] = ()

    def require(self, to: str) -> None:
        from stepnet.export.sql_text import DIALECTS

        if self.dialect not in DIALECTS:
            raise InvalidInputError(f"--dialect {self.dialect} is not known; choose one of {', '.join(DIALECTS)}.")
        for option, given in (("dialect", self.dialect), ("table", self.table), ("keep", self.keep)):
            if to != "sql" and given != getattr(Statement(), option):
                raise InvalidInputError(f"--{option} is for --to sql; leave it out with --to {to}.")


def export_model(
    model: Path,
    to: str,
    out: Path | None,
    inputs: str,
    check: Path | None,
    dtype: str,
    columns: str = "used",
    statement: Statement | None = None,
) -> None:
    """Write a model for another program or for people; with ``check``, only if it predicts the same on that table."""
    from stepnet.export import size_of
    from stepnet.export.described import COLUMNS
    from stepnet.runtime.files import write_atomically

    statement = statement or Statement()
    _require(to, inputs, check, dtype)
    statement.require(to)
    if columns not in COLUMNS:
        raise InvalidInputError(f"--columns {columns} is not known; choose used or all.")
    check_order(model, check, f"export MODEL --to {to} --check DATA")
    estimator = model_in(model)
    path = out or Path(model.stem + ENDINGS[to])
    check_writable(path)
    if path.exists() and path.samefile(model):
        raise InvalidInputError(f"--out {path} is the model file itself; give another name.")
    content = _content(estimator, to, inputs, dtype, columns, path, statement)
    checked = "" if check is None else _checked(estimator, content, to, check)
    write_atomically(path, content)
    size = len(content if isinstance(content, bytes) else content.encode())
    kind = type(estimator).__name__ if hasattr(estimator, "certificate_") else "network"
    print(f"{path}: {kind} as {to}, {size:,} bytes")
    if to == "c":
        print(size_of(estimator, inputs, columns))
    if checked:
        print(checked)


def _require(to: str, inputs: str, check: Path | None, dtype: str) -> None:
    if to not in ENDINGS:
        raise InvalidInputError(f"--to {to} is not known for a model; choose one of {', '.join(ENDINGS)}.")
    if inputs != "floats" and to not in ("c", "sql"):
        raise InvalidInputError(f"--inputs {inputs} is for --to c and sql; leave it out with --to {to}.")
    if dtype != "float64" and to != "onnx":
        raise InvalidInputError(f"--dtype {dtype} is for --to onnx; leave it out with --to {to}.")
    if check is not None and to not in ("c", "onnx"):
        raise InvalidInputError(f"--check runs the file, but --to {to} does not run; use --to c or --to onnx.")


def _content(
    estimator: Any, to: str, inputs: str, dtype: str, columns: str, path: Path, statement: Statement
) -> str | bytes:
    from stepnet import export

    if to == "onnx":
        return export.to_onnx(estimator, dtype=dtype, columns=columns)
    if to == "c":
        return export.to_c(estimator, inputs=inputs, name=_identifier(path.stem), columns=columns)
    if to == "sql":
        return export.to_sql(estimator, inputs=inputs, columns=columns, **vars(statement))
    if to in ("json", "html"):
        return (export.to_json if to == "json" else export.to_html)(estimator, columns=columns)
    writers = {"rules": export.to_rules, "tex": export.to_tex, "markdown": export.to_markdown}
    return writers[to](estimator)


def _identifier(stem: str) -> str:
    """The name of a file as an identifier in C."""
    safe = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem).lstrip("_")
    return safe if safe[:1].isalpha() else f"model_{safe}".rstrip("_")


def _checked(estimator: Any, content: str | bytes, to: str, check: Path) -> str:
    """Run the file on all rows of a table."""
    from stepnet.export import check_export

    rows = features_of(estimator, read(check)).before
    n_differing = check_export(estimator, content, to, rows)
    if n_differing:
        raise DifferingAnswersError(
            f"{n_differing} of {len(rows)} rows of {check} get other predictions from the exported file; nothing was "
            f"written."
        )
    return f"{len(rows)} rows, 0 differ"
